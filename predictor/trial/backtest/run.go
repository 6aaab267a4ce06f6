// Package backtest scores methods of forecasting on logs. A log is replayed in the
// order of time. When a job begins to wait, each method forecasts its wait from what
// had happened by then; the wait in the log says how good the forecast was.
package backtest

import (
	"cmp"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/workload"
)

// Options say what is scored.
type Options struct {
	Quantiles []float64 // in (0,1)
	Budgets   []int64   // seconds
	// By are ways to split up the log. Their parts are scored besides the whole.
	By []Split
	// Watch, if any, is called now and then with how many jobs of the log have been
	// forecast. Its error ends the run.
	Watch func(asked int) error
}

// Report is how several methods did on a log.
type Report struct {
	// Warmup is how many jobs, the first tenth, were learnt from but not scored.
	Warmup int `json:"warmup"`
	Part
	// Parts are those of all splits, split by split.
	Parts []*Part `json:"parts,omitempty"`
}

// Part is how several methods did on the same jobs.
type Part struct {
	By       string  `json:"by,omitempty"`    // the Split's name; empty for a whole log
	Value    string  `json:"value,omitempty"` // the part's name
	Jobs     int     `json:"jobs"`
	MeanWait float64 `json:"mean_wait"` // seconds
	Scores   []Score `json:"scores"`    // in the order of the methods
}

// Split divides jobs into parts.
type Split struct {
	Name string
	// Value names the part that a job belongs to. Parts come in the order of place,
	// and those of one place in the order of value.
	Value func(*workload.Job) (value string, place int64)
}

// Splits are all there are.
var Splits = []Split{
	{"queue", func(j *workload.Job) (string, int64) { return eachQueue.class(&j.Request).String(), 0 }},
	{"month", func(j *workload.Job) (string, int64) { return month(j), 0 }},
	{"size", func(j *workload.Job) (string, int64) {
		cell := qbets.Cell(&j.Request)
		size := qbets.Class{Unit: cell.Unit, Size: cell.Size}
		return size.String(), int64(size.Unit)<<32 + size.Size.Above
	}},
}

// month is that of the submission, in UTC.
func month(j *workload.Job) string { return time.Unix(j.Submit, 0).UTC().Format("2006-01") }

// ErrNoJobs is the error of a run on a log without a job that started.
var ErrNoJobs = errors.New("no job that started")

// glance is after how many jobs Options.Watch is called.
const glance = 256

// Run replays the jobs of a log, which come in any order, and scores the methods. Each
// method forecasts the wait of every job that starts, but for the first tenth, and may
// look at q. The error is ErrNoJobs or that of Options.Watch.
func Run(jobs []workload.Job, q *queue.Queue, methods []Method, o Options) (*Report, error) {
	r := &run{options: &o, methods: methods, replies: make([]reply, len(methods)), fallback: newBaseline("", wholeLog, newRolling)}
	for i := range jobs {
		if jobs[i].Start > 0 && jobs[i].End > 0 {
			r.warmup++
		}
	}
	if r.warmup == 0 {
		return nil, ErrNoJobs
	}
	r.warmup /= 10
	r.whole = r.newSums("", "")
	for range o.By {
		r.splits = append(r.splits, make(map[string]*sums))
	}
	observers := []forecast.Observer{r.fallback}
	for _, m := range methods {
		observers = append(observers, m)
	}
	if err := forecast.Replay(jobs, q, observers, r.ask); err != nil {
		return nil, err
	}
	return r.report(), nil
}

// run is a run on a log.
type run struct {
	options  *Options
	methods  []Method
	replies  []reply // of each method, to the present question
	warmup   int
	asked    int
	fallback *baseline[*rolling] // see Score
	whole    *sums
	splits   []map[string]*sums // of each Split, by value
}

// sums adds up how the methods do on some jobs.
type sums struct {
	part    Part // but for the scores
	place   int64
	waits   float64
	tallies []*tally // of each method
}

func (r *run) newSums(by, value string) *sums {
	s := &sums{part: Part{By: by, Value: value}}
	for range r.methods {
		s.tallies = append(s.tallies, newTally(r.options))
	}
	return s
}

// ask has all methods forecast the wait of a job, and scores them.
func (r *run) ask(j *workload.Job) error {
	r.asked++
	if watch := r.options.Watch; watch != nil && r.asked%glance == 0 {
		if err := watch(r.asked); err != nil {
			return err
		}
	}
	wait, ok := j.Wait()
	if r.asked <= r.warmup || !ok {
		return nil
	}
	question := forecast.Question{Request: j.Request, Now: j.Start - wait, Submit: j.Start - wait}
	o := outcome{wait: float64(wait), week: score.Week(score.Day(question.Submit)), month: month(j), v: uniform(j)}
	if o.fallback, _ = r.fallback.Predict(&question); o.fallback == nil {
		o.fallback = newRolling()
	}
	for i, m := range r.methods {
		predicted, lower := m.Predict(&question)
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
	return nil
}

func (r *run) add(s *sums, o *outcome) {
	s.part.Jobs++
	s.waits += o.wait
	for i, t := range s.tallies {
		t.add(o, &r.replies[i])
	}
}

// uniform returns a number from [0,1) that ranks ties. It is the same for a job
// whatever is scored.
func uniform(j *workload.Job) float64 {
	return rand.New(rand.NewPCG(uint64(j.ID), uint64(j.Submit))).Float64()
}

func (r *run) report() *Report {
	report := &Report{Warmup: r.warmup, Part: *r.part(r.whole)}
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

func (r *run) part(s *sums) *Part {
	part := s.part
	if part.Jobs > 0 {
		part.MeanWait = s.waits / float64(part.Jobs)
	}
	for i, t := range s.tallies {
		part.Scores = append(part.Scores, t.score(r.methods[i].Name(), part.MeanWait))
	}
	return &part
}
