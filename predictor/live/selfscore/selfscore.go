// Package selfscore scores varqd's forecasters. For every job that begins to wait, it asks each
// forecaster for a forecast and stores it. When the job starts, it scores the forecasts of the
// job's wait. When accounting says that the job has ended, it scores the forecast of the job's end.
// Times are Unix seconds.
//
// Invariant: whether a job is scored depends on when its wait began, and not on how long it waited
// or ran. So the forecasters are asked also about a job that comes and starts between two snapshots
// of the queue, and before they observe it. The only exception is a job that accounting reports
// before the queue has shown it.
//
// Besides, it asks about some of the jobs that wait already, and scores what was said when they
// start (sights.go). Of those, the ones that wait for long are seen most. Jobs that wait for other
// jobs are asked about by themselves.
//
// Ends of three kinds are scored, as package completion learns from them and package backtest
// scores them: the job ended by itself, it reached the time limit, or scancel ended it while it
// ran. The forecasts are of all three kinds together. Scores on some kinds alone would make even a
// right forecast look wrong. A job has not ended if it was requeued, or if its nodes failed or were
// given to another job. Most such jobs wait again, and forecasts of ends know nothing of failures.
//
// These jobs are not scored:
//   - job arrays, whose tasks become jobs of their own only as they start
//   - jobs that ended before the queue first showed them
//   - jobs whose wait began while varqd did not read the queue
//   - jobs that are cancelled before they start, held, or given another begin time
//   - jobs that wait for some nodes of their partition only, or for a limit of their user or
//     account: forecasts know nothing of these
//   - jobs that begin to wait while too few nodes for them are in service
//   - jobs that begin to wait while the store is full
//
// Of the jobs whose wait is scored, the ends of those that were requeued or lost their nodes are
// not scored.
package selfscore

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/flow"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/forecast/score/group"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/live/scores"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Store is what a Scorer needs of scores.Store.
type Store interface {
	UnscoredJobs(ctx context.Context) (map[workload.Submission]scores.Open, error)
	Score(ctx context.Context, c scores.Changes, r *rand.Rand) (score.Table, error)
}

// NamedAnswer is the answer of the forecaster with the name Forecaster. Wait is the time until the
// end if scores.OfEnd(Forecaster).
type NamedAnswer struct {
	Forecaster string
	forecast.Answer
}

// Options configure a Scorer.
type Options struct {
	Store Store
	// Ask returns the answers of all forecasters that have one.
	Ask func(ctx context.Context, q *forecast.Question) []NamedAnswer
	// AskPending returns the answer of varqd about a job that waits already. It is nil if nobody
	// asks.
	AskPending func(ctx context.Context, q *forecast.Question) (forecast.Answer, bool)
	// AskDependent returns how much longer varqd expects a job to wait that waits for other jobs. It
	// is nil if nobody asks.
	AskDependent func(ctx context.Context, j *slurm.QueueEntry) (flow.Wait, bool)
	// Most is the greatest number of jobs about which the Scorer asks after one
	// snapshot. If more jobs have begun to wait, it asks about a random sample of Most.
	Most int
	// Rand draws samples and ranks ties.
	Rand *rand.Rand
	// Ranked, if not nil, is told of each wait that was scored.
	Ranked func(scores.Rank)
	// Calibration says which forecasters have drifted.
	Calibration ReadCalibration
	Log         *slog.Logger
	Metrics     *Metrics
}

// Scorer scores forecasts. Its methods may be called concurrently.
type Scorer struct {
	Options

	mu       sync.Mutex
	unscored map[workload.Submission]scores.Open // jobs with stored forecasts
	sights   map[int64][]int64                   // by job that waits: when it was seen
	// nextSights is from when on jobs are seen that wait.
	nextSights int64
	bursts     group.Bursts
	driftDay   int64 // day on which drifts were last logged
}

// New returns a Scorer that continues with the forecasts in the store.
func New(ctx context.Context, o Options) (*Scorer, error) {
	unscored, err := o.Store.UnscoredJobs(ctx)
	if err != nil {
		return nil, err
	}
	s := &Scorer{Options: o, unscored: unscored, sights: map[int64][]int64{}}
	for of := range unscored {
		s.remember(of)
	}
	return s, nil
}

// remember notes a sight of a job. What is not a sight it leaves alone.
func (s *Scorer) remember(of workload.Submission) {
	if of.ID < 0 && !slices.Contains(s.sights[-of.ID], of.Submit) {
		s.sights[-of.ID] = append(s.sights[-of.ID], of.Submit)
	}
}

// forget forgets a sight of a job. What is not a sight it leaves alone.
func (s *Scorer) forget(of workload.Submission) {
	if of.ID < 0 {
		s.sights[-of.ID] = slices.DeleteFunc(s.sights[-of.ID], func(at int64) bool { return at == of.Submit })
		if len(s.sights[-of.ID]) == 0 {
			delete(s.sights, -of.ID)
		}
	}
}

// ObserveQueue takes in a look at the queue, and the jobs that have begun to wait since the last
// one. It must be called before the forecasters observe them. An error is the store's. After an
// error, jobs that have started are scored with the next look. Jobs that have begun to wait are
// never scored.
func (s *Scorer) ObserveQueue(ctx context.Context, l *look.Look, begun []*slurm.QueueEntry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var c scores.Changes
	for _, j := range s.sample(begun) {
		c.Begun = append(c.Begun, s.ask(ctx, j.QueueEntry, j.place)...)
	}
	asked := map[workload.Submission]bool{}
	for i := range c.Begun {
		asked[c.Begun[i].Submission] = true
	}
	for i := range l.Jobs {
		j := &l.Jobs[i]
		id := j.Submission()
		if !s.unscored[id].Wait && !asked[id] {
			continue
		}
		switch {
		case j.Held, j.AtLimit:
			c.Gone = append(c.Gone, id)
		case j.Start != 0:
			c.Started = append(c.Started, scores.Outcome{Submission: id, Eligible: j.Eligible, At: j.Start})
		}
	}
	s.see(ctx, l, &c)
	return errors.Join(s.score(ctx, c), s.logDrifts(ctx, l.At))
}

// logDrifts logs once a day which forecasters have drifted.
func (s *Scorer) logDrifts(ctx context.Context, now int64) error {
	today := score.Day(now)
	if s.driftDay == today {
		return nil
	}
	c, err := s.Calibration(ctx, api.CalibrationQuery{})
	if err != nil {
		return err
	}
	s.driftDay = today
	for _, r := range c.Rows {
		if r.Drift != "" {
			s.Log.Warn("forecaster has drifted", "forecaster", r.Forecaster, "how", r.Drift)
		}
	}
	return nil
}

// ObserveAccounting takes in jobs from accounting. It scores the stored forecasts of the waits of
// jobs that have started, and of the ends of jobs that have ended, and deletes those left of jobs
// that have finished otherwise.
func (s *Scorer) ObserveAccounting(ctx context.Context, jobs []workload.Job) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var c scores.Changes
	for i := range jobs {
		j := &jobs[i]
		id := j.Submission()
		for _, at := range s.sights[j.ID] {
			switch of := sightOf(j.ID, at); {
			case j.Submit > at: // it is another job of this number
				c.Gone = append(c.Gone, of)
			case j.Start >= at:
				c.Started = append(c.Started, scores.Outcome{Submission: of, Eligible: at, At: j.Start})
			case j.State.Finished():
				c.Gone = append(c.Gone, of)
			}
		}
		open, ok := s.unscored[id]
		if !ok {
			continue
		}
		if open.Wait && j.Start != 0 {
			c.Started = append(c.Started, scores.Outcome{Submission: id, Eligible: j.Eligible, At: j.Start})
		}
		switch {
		case !j.State.Finished():
		case hasEnded(j):
			c.Ended = append(c.Ended, scores.Outcome{Submission: id, Eligible: j.Eligible, At: j.End})
		default:
			c.Gone = append(c.Gone, id)
		}
	}
	return s.score(ctx, c)
}

// hasEnded reports whether a job that has finished has run to an end that was forecast.
func hasEnded(j *workload.Job) bool {
	return j.Start != 0 && j.End >= j.Start && j.State != workload.Requeued && !j.Evicted
}

// begun is a job whose wait has begun, and its place in its burst.
type begun struct {
	*slurm.QueueEntry
	place int
}

// sample returns the jobs whose waits have begun, or a sample of Most of these jobs.
func (s *Scorer) sample(all []*slurm.QueueEntry) []begun {
	var jobs []begun
	for _, j := range all {
		jobs = append(jobs, begun{QueueEntry: j})
	}
	slices.SortFunc(jobs, func(a, b begun) int { return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID)) })
	for i := range jobs {
		jobs[i].place = s.bursts.Place(&jobs[i].Job)
	}
	if len(jobs) > s.Most {
		s.Rand.Shuffle(len(jobs), func(i, k int) { jobs[i], jobs[k] = jobs[k], jobs[i] })
		jobs = jobs[:s.Most]
	}
	return jobs
}

// maxClass is the greatest length of a class's name, in bytes.
const maxClass = 200

// ask asks all forecasters about j, whose wait has begun, at a place in its burst, and returns
// their forecasts.
func (s *Scorer) ask(ctx context.Context, j *slurm.QueueEntry, place int) []scores.Forecast {
	q, groups := forecast.AtSubmission(&j.Job), group.Of(&j.Job, place)
	var list []scores.Forecast
	for _, a := range s.Ask(ctx, &q) {
		list = append(list, scores.Forecast{
			Submission: j.Submission(), Eligible: j.Eligible,
			Forecaster: a.Forecaster, Partition: j.Partition, Class: className(score.PublicClass(a.Class)), Groups: groups, Delay: a.Wait,
		})
	}
	return list
}

// className returns the name of a class, as much of it as is stored.
func className(name string) string {
	if len(name) > maxClass {
		name = strings.ToValidUTF8(name[:maxClass], "")
	}
	return name
}

// score passes c to the store, and then brings unscored up to date.
func (s *Scorer) score(ctx context.Context, c scores.Changes) error {
	c.Ranked = s.Ranked
	scored, err := s.Store.Score(ctx, c, s.Rand)
	if err != nil {
		return err
	}
	s.Metrics.count(scored)
	for i := range c.Begun {
		f := &c.Begun[i]
		open := s.unscored[f.Submission]
		if scores.OfEnd(f.Forecaster) {
			open.End = true
		} else {
			open.Wait = true
		}
		s.unscored[f.Submission] = open
		s.remember(f.Submission)
	}
	for _, o := range c.Started {
		s.forget(o.Submission)
		if open := s.unscored[o.Submission]; open.End {
			s.unscored[o.Submission] = scores.Open{End: true}
		} else {
			delete(s.unscored, o.Submission)
		}
	}
	for _, o := range c.Ended {
		delete(s.unscored, o.Submission)
	}
	for _, job := range c.Gone {
		delete(s.unscored, job)
		s.forget(job)
	}
	return nil
}
