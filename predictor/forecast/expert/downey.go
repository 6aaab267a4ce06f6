package expert

import (
	"math"
	"sync"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/downey"
	"github.com/varq-project/varq/predictor/forecast/pending"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// Downey forecasts by when the running jobs will have given back enough processors,
// of which it knows nothing but how many each has had for how long: the predictors
// A and B of Downey, "Using Queue Time Predictions for Processor Allocation" (1997),
// equations 9 and 10, whichever downey.Forecast's Wait chooses. They name one number;
// the distribution is that of the waits that came of earlier ones, by the line that
// corrects them (section 5.4) and how far the waits lie from it.
//
// What the paper leaves open, or knows, is settled so:
//   - Lifetimes are log-uniform (equation 4) between bounds fitted to the newest
//     that have ended in a job's partition and QOS, and no longer than its limit.
//   - The paper's jobs are at the head of a queue that is first come, first served.
//     Here those that wait and ask for no more processors and no more time are
//     ahead of a job, and delay it by the time that the whole machine takes for
//     their expected work. All others let it pass: real machines backfill, and on
//     their logs a queue that is strictly first come, first served tells nothing.
//   - The machine has as many processors as were ever in use at once, and all jobs
//     share them.
//   - Nothing comes before a job that is not there yet.
type Downey struct {
	mu         sync.Mutex
	queue      *queue.Queue
	most       int32 // processors in use at once
	lines      map[line]*lifetimes
	all        lifetimes
	correction downey.Correction
	predicted  pending.Sample[float64] // waits, uncorrected
	last       *prediction             // since when nothing has happened, or nil

	machine downey.Forecast
	running []downey.Running
}

// prediction is that of a wait, uncorrected.
type prediction struct {
	question forecast.Question
	seconds  float64
}

// line is the jobs whose lifetimes are alike.
type line struct{ partition, qos string }

// mostLines bounds how many of them are remembered.
const mostLines = 10_000

// NewDowney returns a Downey of a queue that others keep; what happens is to be told
// after the queue knows.
func NewDowney(q *queue.Queue) *Downey {
	return &Downey{queue: q, lines: map[line]*lifetimes{}, predicted: pending.New[float64]()}
}

// Name returns "downey".
func (*Downey) Name() string { return "downey" }

// Forecast implements forecast.Forecaster. It costs O(w + r log r) with w jobs waiting and r
// running.
func (f *Downey) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	*a = forecast.Answer{}
	p := f.predict(q, 0)
	if p == nil || !f.correction.Distribution(p.seconds, &a.Wait) {
		return false
	}
	a.Sample = float64(f.correction.Len())
	return true
}

// predict predicts a wait, or returns nil. The job asked about need not be in the
// queue yet.
func (f *Downey) predict(q *forecast.Question, id int64) *prediction {
	if f.last != nil && f.last.question == *q {
		return f.last
	}
	if !f.all.known {
		return nil
	}
	used, n := f.look(q.Now), q.Procs()
	free := max(f.most, n, used) - used
	work := 0.
	for j := range f.queue.Pending() {
		if p := j.Procs(); j.ID != id && p <= n && j.Limit <= q.Limit {
			work += float64(p) * f.of(&j.Request, 0).Mean()
		}
	}
	f.machine.Look(free, f.running)
	wait := f.machine.Wait(n) + work/float64(used+free)
	if math.IsInf(wait, 1) {
		return nil
	}
	f.last = &prediction{*q, max(0, wait-float64(q.Submit-q.Now))}
	return f.last
}

// look takes down what runs, and returns the processors in use.
func (f *Downey) look(now int64) (used int32) {
	f.running = f.running[:0]
	for j := range f.queue.Running() {
		n, age := j.Procs(), float64(max(0, now-j.Start))
		f.running = append(f.running, downey.Running{Procs: n, Age: age, Lifetimes: f.of(&j.Request, age)})
		used += n
	}
	return used
}

// of returns what the lifetime of a job is drawn from. One that has outlived those
// of its line may run until its limit.
func (f *Downey) of(r *workload.Request, age float64) stats.LogUniform {
	l := f.all.fitted
	if own := f.lines[line{r.Partition, r.QOS}]; own != nil && own.known {
		l = own.fitted
	}
	if limit := float64(r.Limit); limit > 0 && (limit < l.Max || age >= l.Max) {
		l.Max = limit
		l.Min = min(l.Min, limit/2)
	}
	return l
}

// Submitted implements forecast.Observer.
func (f *Downey) Submitted(j *workload.Job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if q := forecast.AtSubmission(j); f.predicted.Wants(j.ID) {
		if p := f.predict(&q, j.ID); p != nil {
			f.predicted.Put(j.ID, p.seconds)
		}
	}
	f.last = nil
}

// Started implements forecast.Observer.
func (f *Downey) Started(j *workload.Job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = nil
	used := int32(0)
	for r := range f.queue.Running() {
		used += r.Procs()
	}
	f.most = max(f.most, used)
	predicted, known := f.predicted.Take(j.ID)
	if wait, ok := j.Wait(); ok && known {
		f.correction.Learn(predicted, float64(wait))
	}
}

// Ended implements forecast.Observer.
func (f *Downey) Ended(j *workload.Job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = nil
	f.predicted.Take(j.ID)
	if j.Start == 0 || j.End < j.Start {
		return
	}
	at := line{j.Partition, j.QOS}
	own := f.lines[at]
	if own == nil {
		if len(f.lines) == mostLines {
			clear(f.lines)
		}
		own = new(lifetimes)
		f.lines[at] = own
	}
	ran := float64(max(1, j.End-j.Start))
	own.learn(ran)
	f.all.learn(ran)
}

// lifetimes are the newest run times of some jobs, in seconds.
type lifetimes struct {
	newest []float64 // a ring
	next   int
	fitted stats.LogUniform
	known  bool
}

// They are fitted anew after so many, and so many are remembered.
const (
	refitted       = 20
	mostRemembered = 500
)

func (l *lifetimes) learn(seconds float64) {
	if len(l.newest) < mostRemembered {
		l.newest = append(l.newest, seconds)
	} else {
		l.newest[l.next%mostRemembered] = seconds
	}
	if l.next++; l.next%refitted == 0 {
		if fitted, ok := stats.FitLogUniform(l.newest); ok {
			l.fitted, l.known = fitted, true
		}
	}
}
