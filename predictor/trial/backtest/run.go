// Package backtest scores methods of forecasting on logs. It replays a log in the order of
// time. When a job begins to wait, each method forecasts the wait from the events before
// that moment. The score compares the forecasts with the waits in the log.
package backtest

import (
	"cmp"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/forecast/score/group"
	"github.com/varq-project/varq/predictor/workload"
)

// Outcome is what is forecast of a job, in seconds. It reports false if that is not known.
type Outcome func(*workload.Job) (seconds int64, ok bool)

// Wait is the Outcome how long a job waits.
func Wait(j *workload.Job) (seconds int64, ok bool) { return j.Wait() }

// Completion is the Outcome how long a job waits and runs, together.
func Completion(j *workload.Job) (seconds int64, ok bool) {
	_, ok = j.Wait()
	return j.End - j.Since(), ok && j.End >= j.Start
}

// Options says what to score.
type Options struct {
	// Completion says that the methods forecast the Completion of jobs, and not their Wait.
	Completion bool
	// Pending, if not nil, is a time of day in seconds after midnight (UTC). The methods then
	// forecast the rest of the waits of the jobs that wait at that time of each day.
	Pending *int64
	// Flows says that the methods forecast when all jobs of a user's flows have ended, as of the
	// submission of the first. They are those of Flows.
	Flows     bool
	Quantiles []float64 // in (0,1)
	Budgets   []int64   // seconds
	// By has the ways to split the log into parts. Run scores each part besides the
	// whole log.
	By []Split
	// Progress, if not nil, is called after every 256 jobs with the number of jobs
	// replayed so far. If it returns an error, Run ends and returns that error.
	Progress func(asked int) error
}

// outcomeOf returns Completion or Wait.
func outcomeOf(completion bool) Outcome {
	if completion {
		return Completion
	}
	return Wait
}

// Report has the scores of several methods on a log.
type Report struct {
	// Warmup is the number of jobs that the methods learnt from but were not scored
	// on: the first tenth.
	Warmup int `json:"warmup"`
	// Completion is that of the Options. Where it is true, what is called a wait here and in the
	// scores is a time until the end.
	Completion bool `json:"completion,omitempty"`
	// Pending says that of the Options there is a time of day. What is called a wait here and in
	// the scores is then the rest of one.
	Pending bool `json:"pending,omitempty"`
	// Flows is that of the Options. What is called a wait here and in the scores is then how long a
	// flow takes, and its jobs are its flows.
	Flows bool `json:"flows,omitempty"`
	Part
	// Parts has the parts of the first split, then those of the second, and so on.
	Parts []*Part `json:"parts,omitempty"`
}

// Part has the scores of several methods on the same jobs.
type Part struct {
	By       string  `json:"by,omitempty"`    // the Split's name; empty for a whole log
	Value    string  `json:"value,omitempty"` // the part's name
	Jobs     int     `json:"jobs"`
	MeanWait float64 `json:"mean_wait"` // seconds
	Scores   []Score `json:"scores"`    // in the order of the methods
	// Trivial is how near forecasts come that know nothing of the job: the median of the last 300
	// waits of all jobs, and that each starts at once.
	Trivial []score.Near `json:"trivial"`
}

// Split divides jobs into parts.
type Split struct {
	Name string
	// Value returns the name of a job's part, and its place. Parts are sorted by place,
	// and parts of equal place by value.
	Value func(*workload.Job) (value string, place int64)
}

// Splits has all splits.
var Splits = []Split{
	{"queue", func(j *workload.Job) (string, int64) { return group.Queue(&j.Request).String(), 0 }},
	{"month", func(j *workload.Job) (string, int64) { return group.Month(j.Submit), 0 }},
	{"size", func(j *workload.Job) (string, int64) {
		size := group.Size(&j.Request)
		return size.String(), int64(size.Unit)<<32 + size.Size.Above
	}},
}

// ErrNoJobs is the error of Run if no job of the log has started.
var ErrNoJobs = errors.New("no job that started")

// progressEvery is the number of jobs between two calls of Options.Progress.
const progressEvery = 256

// Run replays the jobs of a log, given in any order, and scores the methods. Each method
// forecasts the wait of every job that starts, except the first tenth of them. Run keeps q
// up to date, which the methods may read. The error is ErrNoJobs or an error of
// Options.Progress.
func Run(jobs []workload.Job, q *queue.Queue, methods []Method, o Options) (*Report, error) {
	r := &runner{options: &o, methods: methods, queue: q, replies: make([]reply, len(methods)), fallback: newBaseline("", wholeLog, newRolling)}
	r.fallback.completion = o.Completion
	for i := range jobs {
		if jobs[i].Start > 0 && jobs[i].End > 0 {
			r.warmup++
		}
	}
	if r.warmup == 0 {
		return nil, ErrNoJobs
	}
	r.warmup /= 10
	if o.Flows {
		r.flows = flowsOf(jobs)
	}
	r.whole = r.newSums("", "")
	for _, t := range r.whole.tallies {
		t.groups = group.Tallies{}
	}
	for range o.By {
		r.splits = append(r.splits, make(map[string]*sums))
	}
	observers := []forecast.Observer{r.fallback}
	for _, m := range methods {
		observers = append(observers, m)
	}
	if err := r.replay(jobs, observers); err != nil {
		return nil, err
	}
	return r.report(), nil
}

// replay tells of the jobs, and asks about them.
func (r *runner) replay(jobs []workload.Job, observers []forecast.Observer) error {
	if r.options.Pending == nil {
		return forecast.Replay(jobs, r.queue, observers, r.ask)
	}
	r.jobs = make(map[int64]known, len(jobs))
	last := int64(0)
	for _, e := range forecast.Events(jobs) {
		if last != 0 {
			for at := range noons(*r.options.Pending, last, e.At-1) {
				r.askPending(at)
			}
		}
		last = e.At - 1
		if e.Kind == forecast.Submitted {
			r.jobs[e.Job.ID] = known{e.Job, r.bursts.Place(e.Job)}
			if e.Job.Start > 0 {
				if err := r.count(); err != nil {
					return err
				}
			}
		}
		e.Tell(r.queue, observers...)
		if e.Kind == forecast.Ended {
			delete(r.jobs, e.Job.ID)
		}
	}
	return nil
}

// runner is the state of Run.
type runner struct {
	options  *Options
	methods  []Method
	queue    *queue.Queue
	jobs     map[int64]known // of the queue, if Options.Pending
	flows    map[int64]*Flow // by their first jobs, if Options.Flows
	replies  []reply         // to the present question, by method
	warmup   int             // jobs
	asked    int             // jobs
	bursts   group.Bursts
	fallback *baseline[*rolling] // see Score
	whole    *sums
	splits   []map[string]*sums // by Split and value
}

// sums adds up the scores of the methods on some jobs.
type sums struct {
	part    Part // without MeanWait and Scores
	place   int64
	waits   float64  // seconds
	tallies []*tally // by method
	past    score.Nearness
	atOnce  score.Nearness
}

func (r *runner) newSums(by, value string) *sums {
	s := &sums{part: Part{By: by, Value: value}}
	for range r.methods {
		s.tallies = append(s.tallies, newTally(r.options))
	}
	return s
}

// count counts a job that starts, which is submitted now.
func (r *runner) count() error {
	r.asked++
	if progress := r.options.Progress; progress != nil && r.asked%progressEvery == 0 {
		return progress(r.asked)
	}
	return nil
}

// ask asks all methods for a forecast of the job's wait, and scores the forecasts.
func (r *runner) ask(j *workload.Job) error {
	if err := r.count(); err != nil {
		return err
	}
	place := r.bursts.Place(j)
	wait, ok := outcomeOf(r.options.Completion)(j)
	if r.options.Flows {
		var f *Flow
		if f, ok = r.flows[j.ID]; ok {
			wait = f.length()
			for _, m := range r.methods {
				m.(flowMethod).about(f)
			}
		}
	}
	if r.asked > r.warmup && ok {
		question := forecast.AtSubmission(j)
		r.score(j, &question, float64(wait), place)
	}
	return nil
}

// score asks all methods a question about a job, of which the outcome is known, and scores the
// forecasts.
func (r *runner) score(j *workload.Job, question *forecast.Question, seconds float64, place int) {
	o := outcome{wait: seconds, week: score.Week(score.Day(question.Submit)), month: group.Month(question.Submit), v: uniform(j), groups: group.Of(j, place)}
	if o.fallback, _ = r.fallback.Predict(question); o.fallback == nil {
		o.fallback = newRolling()
	}
	if question.Since != 0 {
		o.fallback = given(o.fallback, question.Now-question.Since)
	}
	for i, m := range r.methods {
		predicted, lower := m.Predict(question)
		r.replies[i].read(predicted, lower, &o, r.options)
	}
	r.add(r.whole, &o)
	for i, split := range r.options.By {
		value, place := split.Value(j)
		s := r.splits[i][value]
		if s == nil {
			s = r.newSums(split.Name, value)
			s.place = place
			r.splits[i][value] = s
		}
		r.add(s, &o)
	}
}

func (r *runner) add(s *sums, o *outcome) {
	s.part.Jobs++
	s.waits += o.wait
	s.past.Add(o.fallback.Quantile(.5), o.wait)
	s.atOnce.Add(0, o.wait)
	for i, t := range s.tallies {
		t.add(o, &r.replies[i])
	}
}

// uniform returns a number from [0,1) by which ties are ranked. It depends on the job
// alone.
func uniform(j *workload.Job) float64 {
	return rand.New(rand.NewPCG(uint64(j.ID), uint64(j.Submit))).Float64()
}

func (r *runner) report() *Report {
	report := &Report{Warmup: r.warmup, Completion: r.options.Completion, Pending: r.options.Pending != nil, Flows: r.options.Flows, Part: *r.part(r.whole)}
	for _, split := range r.splits {
		for _, s := range slices.SortedFunc(maps.Values(split), (*sums).compare) {
			report.Parts = append(report.Parts, r.part(s))
		}
	}
	return report
}

func (s *sums) compare(other *sums) int {
	return cmp.Or(cmp.Compare(s.place, other.place), cmp.Compare(s.part.Value, other.part.Value))
}

func (r *runner) part(s *sums) *Part {
	part := s.part
	if part.Jobs > 0 {
		part.MeanWait = s.waits / float64(part.Jobs)
	}
	for i, t := range s.tallies {
		part.Scores = append(part.Scores, t.score(r.methods[i].Name(), part.MeanWait))
	}
	part.Trivial = []score.Near{s.past.Near(score.Said[score.SaidPast]), s.atOnce.Near(score.Said[score.SaidAtOnce])}
	return &part
}
