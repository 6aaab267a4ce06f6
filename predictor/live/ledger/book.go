package ledger

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

// book has the open promises, in memory, and the settled members of groups (grouped.go). All are
// needed at each look at the queue, and whenever a job is planned. Few have changed since the last
// time, and only these are read again.
//
// Invariant: a plan is stale when a method that writes it has returned.
type book struct {
	mu      sync.Mutex
	known   bool                  // all that are not stale have been read
	list    []*openEntry          // in the order of Select
	byPlan  map[string]*openEntry // the same
	settled settledMembers
	stale   map[string]bool
}

// openEntry is an open promise. It does not change once it is in the book.
type openEntry struct {
	Entry
	claim claim
}

// order is the order of Select.
func (a *openEntry) order(b *openEntry) int { return a.Entry.order(&b.Entry) }

// If more than manyStale plans are stale, all open ones are read again.
const manyStale = 256

// changed notes that plans were written, or may have been written.
func (b *book) changed(plans ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stale == nil {
		b.stale = map[string]bool{}
	}
	for _, plan := range plans {
		b.stale[plan] = true
	}
}

// readBook returns the open promises, in the order of their deadlines. It takes time by how many
// have changed since the last call. It queries the file even if none has: if the file cannot be
// read, the book must not be relied on. The caller must change neither the promises nor the list,
// and may use the list only while it holds the lock of the book.
func (l *Ledger) readBook(ctx context.Context) ([]*openEntry, error) {
	b := &l.book
	if b.known && len(b.stale) == 0 {
		_, err := l.AnyOpen(ctx)
		return b.list, err
	}
	where := sqlitefile.Where{}
	some := b.known && len(b.stale) <= manyStale
	if some {
		where.In("id", slices.Sorted(maps.Keys(b.stale)))
	} else {
		where.And(true, "open")
	}
	fresh, err := l.entries(ctx, where, "")
	if err != nil {
		return nil, err
	}
	if err := l.readTasks(ctx, fresh); err != nil {
		return nil, err
	}
	if some {
		for plan := range b.stale {
			delete(b.byPlan, plan)
			delete(b.settled.byPlan, plan)
		}
		b.list = slices.DeleteFunc(b.list, func(o *openEntry) bool { return b.stale[o.ID] })
	} else {
		b.list, b.byPlan, b.settled = nil, make(map[string]*openEntry, len(fresh)), settledMembers{}
	}
	for i := range fresh {
		if !fresh[i].Open {
			b.settled.add(&fresh[i])
			continue
		}
		o := &openEntry{Entry: fresh[i], claim: claimOf(&fresh[i])}
		b.byPlan[o.ID] = o
		if some {
			at, _ := slices.BinarySearchFunc(b.list, o, (*openEntry).order)
			b.list = slices.Insert(b.list, at, o)
		} else {
			b.list = append(b.list, o)
		}
	}
	if !some {
		slices.SortFunc(b.list, (*openEntry).order)
	}
	b.known, b.stale = true, nil
	return b.list, nil
}

// Open returns the open promises for which selects returns true, or all if selects is nil, in the
// order of Select. It takes time by how many promises have changed since the last call, and copies
// the result.
func (l *Ledger) Open(ctx context.Context, selects func(*Entry) bool) ([]Entry, error) {
	l.book.mu.Lock()
	defer l.book.mu.Unlock()
	list, err := l.readBook(ctx)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, o := range list {
		if selects == nil || selects(&o.Entry) {
			entries = append(entries, o.Entry)
		}
	}
	return entries, nil
}

// OpenPlan returns the promise of a plan. It reports false if the promise is settled, or if there
// is no such plan.
func (l *Ledger) OpenPlan(ctx context.Context, plan string) (Entry, bool, error) {
	l.book.mu.Lock()
	defer l.book.mu.Unlock()
	if _, err := l.readBook(ctx); err != nil {
		return Entry{}, false, err
	}
	o, ok := l.book.byPlan[plan]
	if !ok {
		return Entry{}, false, nil
	}
	return o.Entry, true, nil
}
