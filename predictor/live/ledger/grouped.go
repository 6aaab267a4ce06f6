package ledger

import (
	"context"
	"maps"
	"slices"

	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

// settledMembers are promises that are settled, of jobs that are members of groups: those whose
// deadline is at the time since or later.
type settledMembers struct {
	since  int64
	byPlan map[string]*Entry // nil: they have not been read
}

// add adds a promise that is settled, if it is one of these.
func (s *settledMembers) add(e *Entry) {
	if s.byPlan != nil && e.Group != "" && e.Job != 0 && e.Deadline() >= s.since {
		s.byPlan[e.ID] = e
	}
}

// Grouped returns the promises of jobs that are members of groups, settled or not, whose deadline
// is at the time since or later, in the order of Select. If since is no earlier than in the last
// call, it costs what has changed since then, and a copy.
func (l *Ledger) Grouped(ctx context.Context, since int64) ([]Entry, error) {
	b := &l.book
	b.mu.Lock()
	defer b.mu.Unlock()
	open, err := l.readBook(ctx)
	if err != nil {
		return nil, err
	}
	settled := &b.settled
	if settled.byPlan == nil || since < settled.since {
		if err := l.readSettled(ctx, since); err != nil {
			return nil, err
		}
	}
	settled.since = since
	maps.DeleteFunc(settled.byPlan, func(_ string, e *Entry) bool { return e.Deadline() < since })
	var entries []Entry
	for _, o := range open {
		if o.Group != "" && o.Job != 0 && o.Deadline() >= since {
			entries = append(entries, o.Entry)
		}
	}
	for _, e := range settled.byPlan {
		entries = append(entries, *e)
	}
	slices.SortFunc(entries, func(a, b Entry) int { return a.order(&b) })
	return entries, nil
}

// readSettled reads the settled members whose deadline is at the time since or later.
func (l *Ledger) readSettled(ctx context.Context, since int64) error {
	where := sqlitefile.Where{}
	where.And(true, "NOT open AND group_id <> '' AND "+deadline+" >= ?", since)
	entries, err := l.entries(ctx, where, "")
	if err != nil {
		return err
	}
	l.book.settled = settledMembers{since: since, byPlan: map[string]*Entry{}}
	for i := range entries {
		l.book.settled.add(&entries[i])
	}
	return nil
}
