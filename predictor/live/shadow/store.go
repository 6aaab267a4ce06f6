package shadow

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/workload"
)

// mostDays is for how many days shadows are stored.
const mostDays = 400

// Probs are the probabilities with which reservations are planned.
var Probs = [...]float64{.5, .75, .9, .95}

// row is the shadow of one job.
type row struct {
	workload.Submission
	key       float64
	partition string
	nodes     int32
	within    [len(Probs)]int64 // seconds from eligible on; 0 stands for a refusal
	// The job's times; start and end are 0 until they are known.
	eligible, start, end int64
}

func columns(r *row) sqlitefile.Columns {
	return sqlitefile.Columns{
		{Name: "job", Pointer: &r.ID},
		{Name: "submit", Pointer: &r.Submit},
		{Name: "key", Pointer: &r.key},
		{Name: "partition", Pointer: &r.partition},
		{Name: "nodes", Pointer: &r.nodes},
		{Name: "within_50", Pointer: &r.within[0]},
		{Name: "within_75", Pointer: &r.within[1]},
		{Name: "within_90", Pointer: &r.within[2]},
		{Name: "within_95", Pointer: &r.within[3]},
		{Name: "eligible", Pointer: &r.eligible},
		{Name: "start", Pointer: &r.start},
		{Name: "end", Pointer: &r.end},
	}
}

// Store has the shadows in a file. Its methods may be called concurrently.
type Store struct{ db *sqlitefile.File }

// NewStore returns the shadows in a file that statefile.Open has opened.
func NewStore(file *sqlitefile.File) *Store { return &Store{file} }

// news is what is new of shadows.
type news struct {
	begun   []row
	started map[workload.Submission]int64 // with the time of the start
	ended   map[workload.Submission]int64 // with the time of the end
	dropped []workload.Submission         // cannot be judged
	// Of the shadows from the time since on, only those with a key below share stay. share 0
	// stands for all.
	share float64
	since int64
	// old is the time before which shadows are deleted.
	old int64
}

// record writes what is new in one transaction.
func (s *Store) record(ctx context.Context, n news) error {
	if len(n.begun)+len(n.started)+len(n.ended)+len(n.dropped) == 0 && n.share == 0 {
		return nil
	}
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		do := func(statement string, args ...any) error {
			_, err := tx.ExecContext(ctx, statement, args...)
			return err
		}
		if n.share != 0 {
			if err := do(`DELETE FROM shadows WHERE eligible >= ? AND key >= ?`, n.since, n.share); err != nil {
				return err
			}
		}
		for i := range n.begun {
			c := columns(&n.begun[i])
			if err := do("INSERT OR REPLACE INTO shadows ("+c.Names()+") VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", c.Pointers()...); err != nil {
				return err
			}
		}
		for j, at := range n.started {
			if err := do(`UPDATE shadows SET start = ? WHERE job = ? AND submit = ?`, at, j.ID, j.Submit); err != nil {
				return err
			}
		}
		for j, at := range n.ended {
			if err := do(`UPDATE shadows SET end = ? WHERE job = ? AND submit = ?`, at, j.ID, j.Submit); err != nil {
				return err
			}
		}
		for _, j := range n.dropped {
			if err := do(`DELETE FROM shadows WHERE job = ? AND submit = ?`, j.ID, j.Submit); err != nil {
				return err
			}
		}
		return do(`DELETE FROM shadows WHERE eligible < ?`, n.old)
	})
	if err != nil {
		return fmt.Errorf("shadows: %w", err)
	}
	return nil
}

// rows returns the shadows of jobs that became eligible from the time since on and before the
// time until; until 0 is without end. With open only those whose jobs have not ended.
func (s *Store) rows(ctx context.Context, since, until int64, open bool) ([]row, error) {
	var w sqlitefile.Where
	w.And(since != 0, "eligible >= ?", since)
	w.And(until != 0, "eligible < ?", until)
	w.And(open, "end = 0")
	var r row
	c := columns(&r)
	var list []row
	err := s.db.Each(ctx, "SELECT "+c.Names()+" FROM shadows"+w.Clause()+" ORDER BY eligible, job, submit", w.Args, func(rows *sql.Rows) error {
		if err := rows.Scan(c.Pointers()...); err != nil {
			return err
		}
		list = append(list, r)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("shadows: %w", err)
	}
	return list, nil
}
