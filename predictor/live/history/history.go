// Package history caches past jobs from Slurm's accounting, so that varqd does not read months of
// accounting at each start. The cache is one SQLite file with one row for each run of a job. It may
// be deleted while varqd does not run, since Slurm has the same jobs. While the disk is full, or
// the file cannot be reached, the cache is in memory. Times are Unix seconds.
package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"
	"sync"
	"sync/atomic"

	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/workload"
)

var schema = []string{`
CREATE TABLE strings (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE jobs (
	start INTEGER NOT NULL, job INTEGER NOT NULL, submit INTEGER NOT NULL,
	eligible INTEGER NOT NULL, end INTEGER NOT NULL, state INTEGER NOT NULL,
	user INTEGER NOT NULL, account INTEGER NOT NULL, partition INTEGER NOT NULL, qos INTEGER NOT NULL,
	nodes INTEGER NOT NULL, cpus INTEGER NOT NULL, gpus INTEGER NOT NULL, memory INTEGER NOT NULL, time_limit INTEGER NOT NULL,
	PRIMARY KEY (start, job, submit)
) STRICT, WITHOUT ROWID;
CREATE TABLE coverage (one INTEGER PRIMARY KEY CHECK (one = 1), since INTEGER NOT NULL, until INTEGER NOT NULL, complete INTEGER NOT NULL) STRICT;
INSERT INTO coverage VALUES (1, 0, 0, 0);
`, `
ALTER TABLE jobs ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
`, `
ALTER TABLE jobs ADD COLUMN at_limit INTEGER NOT NULL DEFAULT 0;
`, `
ALTER TABLE jobs ADD COLUMN given INTEGER NOT NULL DEFAULT 0;
`, `
ALTER TABLE jobs ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
`, `
-- Of Slurm 24.11 and later, starts and ends were cut off where a reading began and ended. The past is
-- read again, now with node sets.
DELETE FROM jobs;
UPDATE coverage SET since = 0, until = 0, complete = 0;
ALTER TABLE jobs ADD COLUMN node_set INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs DROP COLUMN pinned;
`, `
ALTER TABLE jobs ADD COLUMN licences INTEGER NOT NULL DEFAULT 0;
`, `
ALTER TABLE jobs ADD COLUMN series INTEGER NOT NULL DEFAULT 0;
`}

// Coverage is the part of Slurm's accounting that has been read. It covers every job that
// ran or ended between Since and Until.
type Coverage struct {
	Since, Until int64
	// Complete is true once the first reading of accounting is finished.
	Complete bool
}

// History is an open cache. Its methods may be called concurrently.
type History struct {
	db atomic.Pointer[sqlitefile.File]

	mu       sync.Mutex       // held while writing
	ids      map[string]int64 // by text: the id of its row in the table strings
	unstored error            // why the cache is in memory, or nil
	file     *sqlitefile.File // that the cache was in before it was moved to memory, or nil
}

// row is a row of the table jobs. Its user, account, partition, qos, nodeSet, licences and series
// are ids of rows of the table strings; those of 0 stand for no text.
type row struct {
	workload.Job
	user, account, partition, qos, nodeSet, licences, series int64
}

func (r *row) columns() sqlitefile.Columns {
	return sqlitefile.Columns{
		{Name: "start", Pointer: &r.Start},
		{Name: "job", Pointer: &r.ID},
		{Name: "submit", Pointer: &r.Submit},
		{Name: "eligible", Pointer: &r.Eligible},
		{Name: "end", Pointer: &r.End},
		{Name: "state", Pointer: &r.State},
		{Name: "user", Pointer: &r.user},
		{Name: "account", Pointer: &r.account},
		{Name: "partition", Pointer: &r.partition},
		{Name: "qos", Pointer: &r.qos},
		{Name: "nodes", Pointer: &r.Nodes},
		{Name: "cpus", Pointer: &r.CPUs},
		{Name: "gpus", Pointer: &r.GPUs},
		{Name: "memory", Pointer: &r.Memory},
		{Name: "time_limit", Pointer: &r.Limit},
		{Name: "at_limit", Pointer: &r.AtLimit},
		{Name: "given", Pointer: &r.Given},
		{Name: "priority", Pointer: &r.Priority},
		{Name: "node_set", Pointer: &r.nodeSet},
		{Name: "licences", Pointer: &r.licences},
		{Name: "series", Pointer: &r.series},
	}
}

// Open opens the cache in the file path, and creates the file if there is none. If the file
// is damaged, or written by a later varq, Open renames it to asideTo and creates a new one.
// asideTo is empty if no file was renamed. If the file cannot be opened, the cache is in
// memory, and method Unstored says why.
func Open(path string) (h *History, asideTo string, err error) {
	h, err = open(path)
	if corrupt(err) || errors.Is(err, sqlitefile.ErrTooNew) {
		asideTo = path + ".damaged"
		if err = setAside(path, asideTo); err == nil {
			h, err = open(path)
		}
	}
	if err != nil {
		h, err = openInMemory(err)
	}
	return h, asideTo, wrap(err)
}

// setAside renames the file path, with what SQLite keeps beside it.
func setAside(path, to string) error {
	if err := os.Rename(path, to); err != nil {
		return err
	}
	return sqlitefile.MoveBeside(path, to)
}

func open(path string) (*History, error) {
	db, err := sqlitefile.Open(path, sqlitefile.SurvivesKill, schema)
	if err != nil {
		return nil, err
	}
	h := &History{ids: map[string]int64{}}
	h.db.Store(db)
	if err := h.check(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return h, nil
}

var errDamaged = errors.New("damaged")

func (h *History) check() error {
	var verdict string
	if err := h.db.Load().QueryRow("PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", errDamaged, verdict)
	}
	texts, err := h.texts(context.Background())
	for id, text := range texts {
		h.ids[text] = id
	}
	return err
}

func corrupt(err error) bool {
	return errors.Is(err, errDamaged) || errors.Is(err, sqlitefile.ErrForeign) || sqlitefile.Damaged(err)
}

func wrap(err error) error {
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	return nil
}

// Close closes the cache.
func (h *History) Close() error {
	err := h.db.Load().Close()
	if h.file != nil {
		err = errors.Join(err, h.file.Close())
	}
	return err
}

// Coverage returns the part of accounting that has been read so far.
func (h *History) Coverage(ctx context.Context) (Coverage, error) {
	var c Coverage
	err := h.db.Load().QueryRowContext(ctx, "SELECT since, until, complete FROM coverage").Scan(&c.Since, &c.Until, &c.Complete)
	return c, wrap(err)
}

// Add stores the jobs that have started. It returns the jobs whose starts were not known before, in
// the order of jobs. For a job whose start was known and that has ended, Add stores the end and the
// state. If covered is not nil, Add also stores that accounting has been read so far, in the same
// transaction.
func (h *History) Add(ctx context.Context, jobs []workload.Job, covered *Coverage) (started []workload.Job, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	interned := map[string]int64{} // by text: the ids of new rows of this transaction
	err = h.write(ctx, func(tx *sql.Tx) error {
		started = nil // of an attempt that failed
		clear(interned)
		var r row
		columns := r.columns()
		insert, err := tx.PrepareContext(ctx, columns.Insert("jobs")+" ON CONFLICT DO NOTHING")
		if err != nil {
			return err
		}
		defer insert.Close()
		finish, err := tx.PrepareContext(ctx, `UPDATE jobs SET end = ?, state = ? WHERE start = ? AND job = ? AND submit = ? AND end <> ?`)
		if err != nil {
			return err
		}
		defer finish.Close()
		values := columns.Pointers()
		for i := range jobs {
			j := &jobs[i]
			if j.Start == 0 {
				continue
			}
			r.Job = *j
			for _, name := range []struct {
				text string
				id   *int64
			}{{j.User, &r.user}, {j.Account, &r.account}, {j.Partition, &r.partition}, {j.QOS, &r.qos}, {j.NodeSet, &r.nodeSet}, {string(j.Licences), &r.licences}, {j.Series, &r.series}} {
				if *name.id, err = h.intern(ctx, tx, interned, name.text); err != nil {
					return err
				}
			}
			done, err := insert.ExecContext(ctx, values...)
			if err != nil {
				return err
			}
			if n, err := done.RowsAffected(); err != nil {
				return err
			} else if n == 1 {
				started = append(started, *j)
			} else if j.End != 0 {
				if _, err := finish.ExecContext(ctx, j.End, j.State, j.Start, j.ID, j.Submit, j.End); err != nil {
					return err
				}
			}
		}
		if covered == nil {
			return nil
		}
		_, err = tx.ExecContext(ctx, "UPDATE coverage SET since = ?, until = ?, complete = ?", covered.Since, covered.Until, covered.Complete)
		return err
	})
	if err != nil {
		return nil, wrap(err)
	}
	for text, id := range interned {
		h.ids[text] = id
	}
	return started, nil
}

// intern returns the id of text in the table strings. If text is new, intern inserts a row
// and adds its id to interned. Add copies interned to h.ids after the transaction.
func (h *History) intern(ctx context.Context, tx *sql.Tx, interned map[string]int64, text string) (int64, error) {
	if id, ok := h.ids[text]; ok {
		return id, nil
	}
	if id, ok := interned[text]; ok {
		return id, nil
	}
	done, err := tx.ExecContext(ctx, "INSERT INTO strings (text) VALUES (?)", text)
	if err != nil {
		return 0, err
	}
	id, err := done.LastInsertId()
	interned[text] = id
	return id, err
}

// Jobs yields the jobs that started last, at most as many as most, in the order of their
// starts. It ends with the first error.
func (h *History) Jobs(ctx context.Context, most int) iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		err := h.each(ctx, most, func(j workload.Job) error {
			if !yield(j, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(workload.Job{}, wrap(err))
		}
	}
}

// errStop ends Jobs early.
var errStop = errors.New("stop")

func (h *History) each(ctx context.Context, most int, do func(workload.Job) error) error {
	texts, err := h.texts(ctx)
	if err != nil {
		return err
	}
	var r row
	columns := r.columns()
	into := columns.Pointers()
	return h.db.Load().Each(ctx, "SELECT "+columns.Names()+`
		FROM (SELECT * FROM jobs ORDER BY start DESC, job DESC, submit DESC LIMIT ?) ORDER BY start, job, submit`, []any{most}, func(rows *sql.Rows) error {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		r.User, r.Account, r.Partition, r.QOS, r.NodeSet = texts[r.user], texts[r.account], texts[r.partition], texts[r.qos], texts[r.nodeSet]
		r.Licences, r.Series = workload.Licences(texts[r.licences]), texts[r.series]
		return do(r.Job)
	})
}

// texts returns the whole table strings.
func (h *History) texts(ctx context.Context) (map[int64]string, error) {
	texts := map[int64]string{}
	err := h.db.Load().Each(ctx, "SELECT id, text FROM strings", nil, func(rows *sql.Rows) error {
		var id int64
		var text string
		if err := rows.Scan(&id, &text); err != nil {
			return err
		}
		texts[id] = text
		return nil
	})
	return texts, err
}

// Newest tells of the jobs that started last.
type Newest struct {
	Jobs   int
	First  int64 // when the first of them started, or 0
	Others bool  // some are not of the user
}

// Newest tells of the jobs that started last, at most as many as most, and as a user sees them.
func (h *History) Newest(ctx context.Context, most int, user string) (n Newest, err error) {
	err = h.db.Load().QueryRowContext(ctx, `
		SELECT count(*), coalesce(min(start), 0), coalesce(max(user IS NOT (SELECT id FROM strings WHERE text = ?)), 0)
		FROM (SELECT start, user FROM jobs ORDER BY start DESC, job DESC, submit DESC LIMIT ?)`, user, most).Scan(&n.Jobs, &n.First, &n.Others)
	return n, wrap(err)
}

// Prune deletes the jobs that started before the time before.
func (h *History) Prune(ctx context.Context, before int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return wrap(h.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM jobs WHERE start < ?", before)
		return err
	}))
}
