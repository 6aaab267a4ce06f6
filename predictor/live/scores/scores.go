// Package scores keeps how forecasts of waits have fared: what each forecaster said of
// the jobs that still wait, the sums of what came of the others, and the odds that
// forecasts hold which were chosen to promise something. All of it is in the file that
// also holds the ledger. Times are Unix seconds.
package scores

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

// What is kept at most: forecasts of jobs that wait, days for which a job waits,
// days of sums, and pairs of a partition and a class of a forecaster in a day.
const (
	mostForecasts = 50_000
	mostWait      = 90
	mostDays      = 400
	mostClasses   = 128
)

// Others stands for the partition and for the class of what comes after the first
// mostClasses of a day.
const Others = "(others)"

// Store is the scores in a file. Its methods may be called at the same time.
type Store struct {
	db *sqlitefile.File
}

// New returns the scores in a file that statefile.Open has opened.
func New(file *sqlitefile.File) *Store { return &Store{file} }

// Job is one submission of a job: an ID alone may be used again by Slurm.
type Job struct{ ID, Submit int64 }

// Forecast is what one forecaster said of the wait of a job when it began to wait.
type Forecast struct {
	Job
	Eligible   int64 // when that was
	Forecaster string
	Partition  string
	Class      string // of jobs served alike; public, see score.PublicClass
	Wait       delay.Distribution
}

// Start is when a job started.
type Start struct {
	Job
	Eligible, Start int64
}

// Waits is what has become of the waits of jobs since Score was last called.
type Waits struct {
	Begun   []Forecast // of jobs that began to wait; they replace older ones
	Started []Start
	Gone    []Job // left the queue without having started, or stay there held
}

// Score writes down the forecasts of the waits that have begun, and scores those of
// the waits that have ended: the sums grow by what came of them, and they are deleted.
// A job whose wait began at another time than was forecast is not scored. r ranks
// ties. Score returns the sums of what it scored.
//
// Invariant: a forecast is either stored or part of the sums, never both, and never
// counted twice, whenever the process dies and however often a start is reported. All
// of a call is therefore one transaction.
//
// While mostForecasts are stored, new ones are left out. Dropping old ones instead
// would score short waits only.
func (s *Store) Score(ctx context.Context, w Waits, r *rand.Rand) (score.Table, error) {
	if len(w.Begun)+len(w.Started)+len(w.Gone) == 0 {
		return nil, nil
	}
	var scored score.Table
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		if err := insertForecasts(ctx, tx, w.Begun, mostForecasts); err != nil {
			return err
		}
		var err error
		if scored, err = scoreStarted(ctx, tx, w.Started, r); err != nil {
			return err
		}
		for _, job := range w.Gone {
			if err := deleteForecasts(ctx, tx, job); err != nil {
				return err
			}
		}
		if err := addSums(ctx, tx, scored); err != nil {
			return err
		}
		return prune(ctx, tx, w.Begun)
	})
	if err != nil {
		return nil, fmt.Errorf("score forecasts: %w", err)
	}
	return scored, nil
}

// scoreStarted deletes the forecasts of jobs that have started, and sums up what came
// of them.
func scoreStarted(ctx context.Context, tx *sql.Tx, started []Start, r *rand.Rand) (score.Table, error) {
	sums := score.Table{}
	for _, s := range started {
		forecasts, err := forecastsOf(ctx, tx, s.Job)
		if err != nil {
			return nil, err
		}
		for i := range forecasts {
			f := &forecasts[i]
			if f.Eligible == s.Eligible && s.Start >= s.Eligible {
				key := score.Key{Day: score.Day(f.Eligible), Forecaster: f.Forecaster, Partition: f.Partition, Class: f.Class}
				sums.At(key).Add(&f.Wait, float64(s.Start-s.Eligible), r.Float64())
			}
		}
		if err := deleteForecasts(ctx, tx, s.Job); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

// prune drops what is too old, when something was added.
func prune(ctx context.Context, tx *sql.Tx, begun []Forecast) error {
	if len(begun) == 0 {
		return nil
	}
	today := score.Day(begun[len(begun)-1].Eligible)
	for _, old := range []struct {
		statement string
		before    int64
	}{
		{`DELETE FROM coverage WHERE day < ?`, today - mostDays},
		{`DELETE FROM reliability WHERE day < ?`, today - mostDays},
		{`DELETE FROM forecasts WHERE eligible < ?`, (today - mostWait) * 86400},
	} {
		if _, err := tx.ExecContext(ctx, old.statement, old.before); err != nil {
			return err
		}
	}
	return nil
}
