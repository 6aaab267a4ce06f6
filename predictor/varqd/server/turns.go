package server

import (
	"context"
	"slices"
	"sync"
)

// class are the turns for requests of one kind. Those of another site's varqd, for itself and for
// users, take one of the site's too, of which each site has half at most: a site with many users
// does not keep the others from their turn.
type class struct{ users, sites *turns }

func newClass(all, each int) class { return class{newTurns(all, each), newTurns(all, max(1, all/2))} }

// turns bounds how many requests are worked on at once, of one user and in all; the others wait.
// Nobody can keep the others from their turn: whoever has the fewest is next, and of those who has
// waited for longest since she came or was last given one. So a request waits for one of each user
// at most, however many each of them has made.
type turns struct {
	all, each int

	mu      sync.Mutex
	taken   int
	given   int64 // how many turns there have been
	waiting []*waiter
	users   map[string]*userTurns
}

// userTurns are those of a user who has or awaits one.
type userTurns struct {
	taken, waiting int
	last           int64 // given, when she came or was last given one
}

type waiter struct {
	user string
	turn chan struct{} // closed when it is given
}

func newTurns(all, each int) *turns {
	return &turns{all: all, each: each, users: map[string]*userTurns{}}
}

// take waits for a turn of user's, which ends when done is called.
func (t *turns) take(ctx context.Context, user string) (done func(), err error) {
	w := t.enter(user)
	select {
	case <-w.turn:
		return func() { t.leave(user) }, nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.waiting, w)
	if i < 0 { // it was given in this moment
		return func() { t.leave(user) }, nil
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	t.users[user].waiting--
	t.forget(user)
	return nil, ctx.Err()
}

func (t *turns) enter(user string) *waiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := t.users[user]
	if mine == nil {
		mine = &userTurns{last: t.given}
		t.users[user] = mine
	}
	mine.waiting++
	w := &waiter{user, make(chan struct{})}
	t.waiting = append(t.waiting, w)
	t.give()
	return w
}

func (t *turns) leave(user string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken--
	t.users[user].taken--
	t.forget(user)
	t.give()
}

// forget forgets a user who neither has nor awaits a turn. The caller has the lock, as that of
// give.
func (t *turns) forget(user string) {
	if u := t.users[user]; u.taken+u.waiting == 0 {
		delete(t.users, user)
	}
}

// give gives the turns that are free to those who are next.
func (t *turns) give() {
	for t.taken < t.all {
		next := -1
		var least *userTurns
		for i, w := range t.waiting {
			u := t.users[w.user]
			if u.taken < t.each && (least == nil || u.taken < least.taken || u.taken == least.taken && u.last < least.last) {
				next, least = i, u
			}
		}
		if next < 0 {
			return
		}
		t.given++
		t.taken++
		least.taken++
		least.waiting--
		least.last = t.given
		close(t.waiting[next].turn)
		t.waiting = slices.Delete(t.waiting, next, next+1)
	}
}
