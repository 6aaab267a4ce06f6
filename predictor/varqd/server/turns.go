package server

import (
	"context"
	"sync"
)

// turns bounds how many requests are worked on at once, of one user and in all;
// the others wait. Nobody can keep the others from their turn.
type turns struct {
	all  chan struct{}
	each int

	mu    sync.Mutex
	users map[string]*userTurns
}

type userTurns struct {
	taken chan struct{}
	using int // requests that have or await a turn
}

func newTurns(all, each int) *turns {
	return &turns{all: make(chan struct{}, all), each: each, users: map[string]*userTurns{}}
}

// take waits for a turn of user's, which ends when done is called.
func (t *turns) take(ctx context.Context, user string) (done func(), err error) {
	mine := t.enter(user)
	if err := acquire(ctx, mine.taken); err != nil {
		t.leave(user, mine)
		return nil, err
	}
	if err := acquire(ctx, t.all); err != nil {
		<-mine.taken
		t.leave(user, mine)
		return nil, err
	}
	return func() {
		<-t.all
		<-mine.taken
		t.leave(user, mine)
	}, nil
}

func (t *turns) enter(user string) *userTurns {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := t.users[user]
	if mine == nil {
		mine = &userTurns{taken: make(chan struct{}, t.each)}
		t.users[user] = mine
	}
	mine.using++
	return mine
}

func (t *turns) leave(user string, mine *userTurns) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine.using--; mine.using == 0 {
		delete(t.users, user)
	}
}

func acquire(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
