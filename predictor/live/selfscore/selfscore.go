// Package selfscore has varqd's forecasters held against what happens: it asks each
// of them about every job that begins to wait, keeps the answers in the ledger, and
// has them scored when the job starts. Times are Unix seconds.
//
// So that nothing but the forecasts decides which jobs are scored, the moment at
// which a job's wait began is what counts, and not whether it was seen waiting: a
// job that comes and starts between two looks at the queue is asked about like any
// other, before anybody is told of it, unless accounting is read just then. These
// are left out: job arrays, whose tasks are told apart only as they start; jobs that
// ended before they were first seen; jobs whose wait began while varqd was not
// looking; those that are cancelled in the queue, held, or given another begin time;
// and those that come while the ledger has no room for more that wait.
package selfscore

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Ledger is what the scorer needs of the ledger.
type Ledger interface {
	Forecasts(ctx context.Context) (map[ledger.Run]int64, error)
	Score(ctx context.Context, w ledger.Waits, r *rand.Rand) (score.Table, error)
}

// Said is what one forecaster answers.
type Said struct {
	Forecaster string
	forecast.Answer
}

// Options configure a Scorer.
type Options struct {
	Ledger Ledger
	// Ask has all forecasters answer a question. Those that know nothing are left
	// out.
	Ask func(ctx context.Context, q *forecast.Question) []Said
	// Most is how many jobs are asked about after one look. Of more, a random
	// sample is.
	Most int
	// Rand chooses samples, and ranks ties.
	Rand *rand.Rand
	// Calibration tells how far forecasts are to be believed.
	Calibration func(ctx context.Context, q api.CalibrationQuery) (api.Calibration, error)
	Log         *slog.Logger
	Metrics     *Metrics
}

// Scorer has forecasts scored. Its methods may be called at the same time.
type Scorer struct {
	Options

	mu       sync.Mutex
	awaited  map[ledger.Run]int64 // jobs with forecasts in the ledger, and when their waits began
	seen     map[ledger.Run]int64 // the same of the jobs of the last look
	lastLook int64                // 0 before the first
	told     int64                // the day on which drifts were told
}

// New returns a Scorer that goes on where the last one of the ledger stopped.
func New(ctx context.Context, o Options) (*Scorer, error) {
	awaited, err := o.Ledger.Forecasts(ctx)
	if err != nil {
		return nil, err
	}
	return &Scorer{Options: o, awaited: awaited}, nil
}

// Looked takes in the queue as it was looked at now. It must be called before
// forecasters are told of what the look has shown. An error is the ledger's; what
// started is then tried again, what began to wait is left out.
func (s *Scorer) Looked(ctx context.Context, queue []slurm.QueueEntry, now int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var w ledger.Waits
	for _, j := range s.begun(queue, now) {
		w.Begun = append(w.Begun, s.ask(ctx, j)...)
	}
	asked := map[ledger.Run]bool{}
	for i := range w.Begun {
		asked[w.Begun[i].Run] = true
	}
	for i := range queue {
		j := &queue[i]
		run := runOf(&j.Job)
		if _, ok := s.awaited[run]; !ok && !asked[run] {
			continue
		}
		switch {
		case j.Start != 0:
			w.Started = append(w.Started, startOf(&j.Job))
		case j.Held:
			w.Gone = append(w.Gone, run)
		}
	}
	return errors.Join(s.score(ctx, w), s.tellDrifts(ctx, now))
}

// tellDrifts tells the log, once a day, which forecasters have drifted.
func (s *Scorer) tellDrifts(ctx context.Context, now int64) error {
	today := score.Day(now)
	if s.told == today {
		return nil
	}
	c, err := s.Calibration(ctx, api.CalibrationQuery{})
	if err != nil {
		return err
	}
	s.told = today
	for _, r := range c.Rows {
		if r.Drift != "" {
			s.Log.Warn("forecaster has drifted", "forecaster", r.Forecaster, "how", r.Drift)
		}
	}
	return nil
}

// Told takes in jobs from accounting: those that have started, or will not any more,
// without having been seen.
func (s *Scorer) Told(ctx context.Context, jobs []workload.Job) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var w ledger.Waits
	for i := range jobs {
		j := &jobs[i]
		run := runOf(j)
		if _, ok := s.awaited[run]; !ok {
			continue
		}
		switch {
		case j.Start != 0:
			w.Started = append(w.Started, startOf(j))
		case j.State.Finished():
			w.Gone = append(w.Gone, run)
		}
	}
	return s.score(ctx, w)
}

// begun returns the jobs whose waits began since the last look, or a sample.
func (s *Scorer) begun(queue []slurm.QueueEntry, now int64) []*slurm.QueueEntry {
	var jobs []*slurm.QueueEntry
	seen := make(map[ledger.Run]int64, len(queue))
	for i := range queue {
		j := &queue[i]
		if j.Eligible == 0 || j.Eligible > now || j.Held || j.ArrayJob != 0 || j.HetJob != 0 && j.HetJob != j.ID {
			continue
		}
		run := runOf(&j.Job)
		seen[run] = j.Eligible
		if s.lastLook != 0 && j.Eligible >= s.lastLook && s.seen[run] != j.Eligible {
			jobs = append(jobs, j)
		}
	}
	s.seen, s.lastLook = seen, now
	if len(jobs) > s.Most {
		s.Rand.Shuffle(len(jobs), func(i, k int) { jobs[i], jobs[k] = jobs[k], jobs[i] })
		jobs = jobs[:s.Most]
	}
	return jobs
}

// maxClass bounds the name of a class, in bytes.
const maxClass = 200

// ask asks about a job whose wait has begun.
func (s *Scorer) ask(ctx context.Context, j *slurm.QueueEntry) []ledger.Forecast {
	q := forecast.Question{Request: j.Request, Now: j.Eligible, Submit: j.Eligible}
	var list []ledger.Forecast
	for _, said := range s.Ask(ctx, &q) {
		class := score.PublicClass(said.Class)
		if len(class) > maxClass {
			class = strings.ToValidUTF8(class[:maxClass], "")
		}
		list = append(list, ledger.Forecast{
			Run: runOf(&j.Job), Eligible: j.Eligible,
			Forecaster: said.Forecaster, Partition: j.Partition, Class: class, Wait: said.Wait,
		})
	}
	return list
}

// score writes down what has become of waits, and remembers what is awaited from
// then on.
func (s *Scorer) score(ctx context.Context, w ledger.Waits) error {
	scored, err := s.Ledger.Score(ctx, w, s.Rand)
	if err != nil {
		return err
	}
	s.Metrics.count(scored)
	for i := range w.Begun {
		s.awaited[w.Begun[i].Run] = w.Begun[i].Eligible
	}
	for _, start := range w.Started {
		delete(s.awaited, start.Run)
	}
	for _, run := range w.Gone {
		delete(s.awaited, run)
	}
	return nil
}

func runOf(j *workload.Job) ledger.Run { return ledger.Run{Job: j.ID, Submit: j.Submit} }

func startOf(j *workload.Job) ledger.Start {
	return ledger.Start{Run: runOf(j), Eligible: j.Eligible, Start: j.Start}
}
