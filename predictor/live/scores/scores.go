// Package scores stores forecasts of waits and their scores. It has the forecasts for jobs
// that still wait, the sums of the scores of forecasts for jobs that have started, and the
// odds of promises. All are in the same file as the ledger. Times are Unix seconds.
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

// The bounds of what is stored.
const (
	mostForecasts = 50_000 // forecasts for jobs that wait
	mostWait      = 90     // days for which the forecasts for a job are stored
	mostDays      = 400    // days for which sums are stored
	mostClasses   = 128    // pairs of partition and class, for one forecaster and day
)

// Others is the partition, and the class, of the sums of all pairs of partition and class
// after the first mostClasses of a forecaster and day.
const Others = "(others)"

// Store is the scores in a file. Its methods may be called concurrently.
type Store struct {
	db *sqlitefile.File
}

// New returns the scores in a file that statefile.Open has opened.
func New(file *sqlitefile.File) *Store { return &Store{file} }

// Job identifies one submission of a job. Slurm may use an ID again.
type Job struct{ ID, Submit int64 }

// Forecast is one forecaster's forecast of the wait of a job, as of the time at which the
// job began to wait.
type Forecast struct {
	Job
	Eligible   int64 // when the job began to wait
	Forecaster string
	Partition  string
	Class      string // the class of jobs, as score.PublicClass names it
	Wait       delay.Distribution
}

// Start says when a job began to wait, and when it started.
type Start struct {
	Job
	Eligible, Start int64
}

// Waits are the changes of waits since Score was last called.
type Waits struct {
	Begun   []Forecast // forecasts for jobs that have begun to wait; they replace older ones
	Started []Start    // jobs that have started
	Gone    []Job      // jobs that have left the queue without having started, or are held
}

// Score stores the forecasts of waits that have begun. It scores the forecasts of waits that
// have ended: it adds their scores to the sums, and deletes the forecasts. It does not score
// a job whose wait began at another time than was forecast. r ranks ties. Score returns the
// sums of what it scored.
//
// Invariant: a forecast is either stored or part of the sums, and counts once. This holds
// whenever the process dies, and however often a start is reported, because a call is one
// transaction.
//
// While mostForecasts are stored, Score leaves out new forecasts. If it deleted old forecasts
// instead, only short waits would be scored.
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
		return nil, fmt.Errorf("scores: score forecasts: %w", err)
	}
	return scored, nil
}

// scoreStarted deletes the forecasts of jobs that have started, and returns the sums of
// their scores.
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

// prune deletes sums and forecasts that are too old, if a wait has begun.
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
