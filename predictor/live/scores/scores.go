// Package scores stores forecasts of waits and of ends, and their scores. It stores the forecasts
// of waits of jobs that still wait, the forecasts of ends of jobs that have not ended, the sums of
// the scores of past forecasts, and the odds of promises. All are in the same file as the ledger.
// Times are Unix seconds.
package scores

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/flow"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/forecast/score/group"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/workload"
)

// The bounds of what is stored.
const (
	mostForecasts = 50_000 // forecasts of waits, and as many of ends
	mostAge       = 90     // days for which the forecasts for a job are stored
	mostDays      = 400    // days for which sums are stored
	mostClasses   = 128    // pairs of partition and class, for one forecaster and day
)

// Others is the partition, and the class, of the sums of all pairs of partition and class
// after the first mostClasses of a forecaster and day.
const Others = "(others)"

// Store is the scores in a file. Its methods may be called concurrently.
type Store struct {
	db      *sqlitefile.File
	courses atomic.Pointer[flow.Learnt] // nil before it was read
}

// New returns the scores in a file that statefile.Open has opened.
func New(file *sqlitefile.File) *Store { return &Store{db: file} }

// Forecast is one forecaster's forecast for a job, as of the time at which the job began to wait.
type Forecast struct {
	workload.Submission
	Eligible   int64 // when the job began to wait
	Forecaster string
	Partition  string
	Class      string // the class of jobs, as score.PublicClass names it
	// Groups are those of the job, in which it is counted how often quantiles hold.
	Groups []group.Group
	// Delay is the time from Eligible until the job's start or, if OfEnd(Forecaster), its end.
	Delay delay.Distribution
}

// OfEnd reports whether a forecaster forecasts the ends of jobs. All others forecast their waits.
func OfEnd(forecaster string) bool { return forecaster == completion.Name }

// Outcome says when a job began to wait, and when what was forecast came: its start, or its end.
type Outcome struct {
	workload.Submission
	Eligible, At int64
}

// Changes are what has become of jobs since Score was last called.
type Changes struct {
	// forecasts for jobs that have begun to wait; they replace older ones
	Begun   []Forecast
	Started []Outcome             // jobs that have started
	Ended   []Outcome             // jobs that have ended after they had started
	Gone    []workload.Submission // jobs of which the forecasts that are left cannot be scored
	// Ranked, if not nil, is told of each wait that was scored, once the scores are stored.
	Ranked func(Rank)
}

// Rank is where a wait lies under its forecast.
type Rank struct {
	Forecaster, Class string
	Eligible          int64 // when the wait began
	Start             int64 // when it was over
	Rank              float64
}

// Score stores the forecasts for jobs that have begun to wait. It scores the forecasts of waits for
// jobs that have started, and those of ends for jobs that have ended: it adds their scores to the
// sums, and deletes the forecasts. It does not score a job whose wait began at another time than
// was forecast. Jobs that are gone come last, so that a job may be gone after it has started. r
// ranks ties. Score returns the sums of what it scored.
//
// Invariant: a forecast is either stored or part of the sums, and counts once. This holds
// whenever the process dies, and however often a start or an end is reported, because a call is one
// transaction.
//
// While mostForecasts of waits are stored, Score leaves out new forecasts, and while as many of
// ends are, those of ends. If it deleted old forecasts instead, only short waits and runs would be
// scored.
func (s *Store) Score(ctx context.Context, c Changes, r *rand.Rand) (score.Table, error) {
	if len(c.Begun)+len(c.Started)+len(c.Ended)+len(c.Gone) == 0 {
		return nil, nil
	}
	var scored score.Table
	var ranks []Rank
	var learnt *flow.Learnt
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		scored, ranks = score.Table{}, nil
		held := held{}
		err := insertForecasts(ctx, tx, c.Begun, mostForecasts)
		if err != nil {
			return err
		}
		recent, err := loadRecent(ctx, tx)
		if err != nil {
			return err
		}
		for _, o := range c.Started {
			if ranks, err = scoreJob(ctx, tx, scored, held, recent, o, false, r, ranks); err != nil {
				return err
			}
		}
		if learnt, err = learn(ctx, tx, ranks); err != nil {
			return err
		}
		for _, o := range c.Ended {
			if _, err = scoreJob(ctx, tx, scored, held, recent, o, true, r, nil); err != nil {
				return err
			}
		}
		for _, job := range c.Gone {
			if err := deleteForecasts(ctx, tx, job); err != nil {
				return err
			}
		}
		if err := addSums(ctx, tx, scored); err != nil {
			return err
		}
		if err := held.store(ctx, tx); err != nil {
			return err
		}
		if len(scored) > 0 {
			if err := recent.store(ctx, tx); err != nil {
				return err
			}
		}
		return prune(ctx, tx, c.Begun)
	})
	if err != nil {
		return nil, fmt.Errorf("scores: score forecasts: %w", err)
	}
	if learnt != nil {
		s.courses.Store(learnt)
	}
	for _, rank := range ranks {
		if c.Ranked != nil {
			c.Ranked(rank)
		}
	}
	return scored, nil
}

// scoreJob adds the scores of the forecasts of a job's end or, if not ofEnd, of its wait to sums
// and held, and deletes these forecasts. It appends the ranks to ranks, and the time that came to
// recent.
func scoreJob(ctx context.Context, tx *sql.Tx, sums score.Table, held held, recent recent, o Outcome, ofEnd bool, r *rand.Rand, ranks []Rank) ([]Rank, error) {
	forecasts, err := forecastsOf(ctx, tx, o.Submission, ofEnd)
	if err != nil {
		return ranks, err
	}
	kind := kindOf(o, ofEnd)
	past, known := recent.median(kind)
	came := false
	for i := range forecasts {
		f := &forecasts[i]
		if f.Eligible == o.Eligible && o.At >= o.Eligible {
			key := score.Key{Day: score.Day(f.Eligible), Forecaster: f.Forecaster, Partition: f.Partition, Class: f.Class}
			seconds, v := float64(o.At-o.Eligible), r.Float64()
			sums.At(key).Add(&f.Delay, seconds, v)
			if known {
				sums.At(key).AddPast(past, seconds)
			}
			came = true
			held.add(f, seconds, v)
			ranks = append(ranks, Rank{f.Forecaster, f.Class, f.Eligible, o.At, f.Delay.PIT(seconds, v)})
		}
	}
	if came {
		recent.add(kind, o.At-o.Eligible)
	}
	_, err = tx.ExecContext(ctx, `DELETE`+theseForecasts, o.ID, o.Submit, completion.Name, ofEnd)
	return ranks, err
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
		{`DELETE FROM near WHERE day < ?`, today - mostDays},
		{`DELETE FROM held WHERE day < ?`, today - GroupDays},
		{`DELETE FROM forecasts WHERE eligible < ?`, (today - mostAge) * 86400},
	} {
		if _, err := tx.ExecContext(ctx, old.statement, old.before); err != nil {
			return err
		}
	}
	return nil
}
