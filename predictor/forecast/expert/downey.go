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

// Downey forecasts when the running jobs will have released enough processors. Of each
// running job it knows only how many processors it has, for how long, and its limit. It
// uses the predictors A and B of Downey, "Using Queue Time Predictions for Processor
// Allocation" (1997), equations 9 and 10; downey.Forecast's Wait chooses between them. They
// predict one number. The distribution is that of past waits around a line: the line
// corrects predictions (section 5.4), and the spread is how far past waits lay from it.
//
// Where the paper leaves something open, or assumes what a real queue does not show, Downey
// assumes:
//   - Lifetimes are log-uniform (equation 4). Their bounds are fitted to the newest jobs
//     that have ended in the same partition and QOS. No job runs beyond its limit.
//   - The paper's jobs are at the head of a queue that is first come, first served. Here
//     a waiting job is ahead of another if it asks for no more processors and no more
//     time. The jobs ahead delay a job by their expected work divided by the size of the
//     machine. All other jobs let it pass: real machines backfill, and on their logs the
//     rule first come, first served predicts nothing.
//   - The machine has as many processors as were ever in use at once, and all jobs
//     share them.
//   - No job that is submitted later is ahead.
type Downey struct {
	mu         sync.Mutex
	queue      *queue.Queue
	most       int32 // processors in use at once
	lines      map[line]*lifetimes
	all        lifetimes
	correction downey.Correction
	predicted  pending.Sample[float64] // by job that waits, the uncorrected prediction
	last       *prediction             // the newest prediction, or nil if an event has come since

	machine downey.Forecast
	running []downey.Running
}

// prediction is an uncorrected prediction of a wait.
type prediction struct {
	question forecast.Question
	seconds  float64
}

// line is the jobs of a partition and QOS, which share a distribution of lifetimes.
type line struct{ partition, qos string }

// mostLines is the most lines remembered.
const mostLines = 10_000

// NewDowney returns a Downey that reads q. The caller must tell q of each event before
// Downey.
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
	p := f.predict(q)
	if p == nil || !f.correction.Distribution(p.seconds, &a.Wait) {
		return false
	}
	a.Sample = float64(f.correction.Len())
	return true
}

// Predict returns the predicted wait in seconds, before and after correction. It reports false if
// there is no prediction.
func (f *Downey) Predict(q *forecast.Question) (predicted, corrected float64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.predict(q)
	if p == nil {
		return 0, 0, false
	}
	return p.seconds, f.correction.Apply(p.seconds), true
}

// predict predicts the wait that q asks about. It returns nil if it cannot.
func (f *Downey) predict(q *forecast.Question) *prediction {
	if f.last != nil && f.last.question == *q {
		return f.last
	}
	if !f.all.known {
		return nil
	}
	used, n := f.readRunning(q.Now), q.Procs()
	free := max(f.most, n, used) - used
	work := 0.
	for j := range f.queue.Pending() {
		if p := j.Procs(); j.ID != q.Job && p <= n && j.Limit <= q.Limit {
			work += float64(j.Count()) * float64(p) * f.lifetime(&j.Request, 0).Mean()
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

// readRunning sets f.running to the running jobs, and returns the processors in use.
func (f *Downey) readRunning(now int64) (used int32) {
	f.running = f.running[:0]
	for j := range f.queue.Running() {
		n, age := j.Procs(), float64(max(0, now-j.Start))
		f.running = append(f.running, downey.Running{Procs: n, Age: age, Lifetimes: f.lifetime(&j.Request, age)})
		used += n
	}
	return used
}

// lifetime returns the distribution of the lifetime of a job with an age in seconds. A job
// that is older than its line's longest lifetime may run until its limit.
func (f *Downey) lifetime(r *workload.Request, age float64) stats.LogUniform {
	l := f.all.fitted
	if own := f.lines[line{r.Queue(), r.QOS}]; own != nil && own.known {
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
		if p := f.predict(&q); p != nil {
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
	at := line{j.Queue(), j.QOS}
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

const (
	refitted       = 20  // the distribution is fitted anew after this many run times
	mostRemembered = 500 // run times
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
