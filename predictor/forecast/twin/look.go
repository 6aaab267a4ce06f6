package twin

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/workload"
)

const (
	// foreseen is for how long after the last submission that is asked about jobs
	// still come, if it matters how long it waits.
	foreseen = day
	// batch is how many simulations there are before the precision is looked at.
	batch = 8
	// apart is by how many seconds the submissions of two candidates may differ that
	// are taken to wait behind the same jobs.
	apart = 15 * 60
)

// look is what is seen, and foreseen, at a moment.
type look struct {
	at     int64
	rand   *rand.Rand
	views  []*view
	n      int // views in use
	gaps   []gap
	filler filler
}

// view is one machine of a look.
type view struct {
	snapshot
	policy  Policy
	until   int64 // jobs come until then, and until is how far
	end     int64 // the futures go
	futures []*future
	n       int // futures in use

	drawn, ordered []task // scratch
	order, places  []int32
}

// begin begins with a new look.
func (l *look) begin(now int64, r *rand.Rand) { l.at, l.rand, l.n = now, r, 0 }

// view returns the view of the machine of a partition.
func (l *look) view(t *Twin, in *partition, procs int32, until, end int64) *view {
	m := t.machines.machine(in)
	for _, v := range l.views[:l.n] {
		if v.machine == m && v.procs >= procs {
			if until > v.until || end > v.end {
				v.n, v.until, v.end = 0, max(until, v.until), max(end, v.end)
			}
			return v
		}
	}
	if l.n == len(l.views) {
		l.views = append(l.views, new(view))
	}
	v := l.views[l.n]
	l.n++
	b := t.believed(m)
	v.take(t, in, l.at)
	v.suppose(b, procs)
	v.policy, v.until, v.end, v.n = b.Policy, until, end, 0
	return v
}

// live simulates one more future.
func (v *view) live(t *Twin, r *rand.Rand) {
	if v.n == len(v.futures) {
		v.futures = append(v.futures, new(future))
	}
	f := v.futures[v.n]
	v.n++
	for i := range v.ran {
		v.running[i].end = v.ran[i].end(v.at, r.Float64())
	}
	v.drawn = v.drawn[:0]
	for i, k := range v.waits {
		w := v.pending[i]
		w.run = k.length(r.Float64())
		v.drawn = append(v.drawn, w)
	}
	v.drawn = t.came.draw(v.at, v.until, r, func(p *partition) bool { return t.machines.machine(p) == v.machine }, v.drawn)
	for i := range v.drawn {
		v.drawn[i].procs = min(v.drawn[i].procs, v.procs)
	}
	v.arrange()
	f.clear()
	c := &t.cluster
	c.backfill, c.record = v.policy.Backfill, f
	c.load(v.at, v.free, v.running, v.ordered, v.places[len(v.waits):])
	c.advance(v.end)
	c.record = nil
	f.lived(c, v.procs, v.places)
}

// arrange puts the tasks drawn in the order of the queue, and notes where they are.
func (v *view) arrange() {
	v.order, v.places, v.ordered = v.order[:0], resize(v.places, len(v.drawn)), v.ordered[:0]
	for i := range v.drawn {
		v.order = append(v.order, int32(i))
	}
	if v.policy.Order != FCFS {
		slices.SortStableFunc(v.order, func(a, b int32) int { return v.policy.compare(v.drawn[a], v.drawn[b]) })
	}
	for place, i := range v.order {
		v.ordered = append(v.ordered, v.drawn[i])
		v.places[i] = int32(place)
	}
}

// ask counts when candidates of a request would start in the future f: in out, by
// points of delay's grid. Those which do not are not counted.
func (l *look) ask(f *future, policy Policy, asked task, candidates []workload.Candidate, out []delay.Distribution) {
	l.gaps = f.gaps(asked.procs, l.gaps)
	l.filler.reset(l.gaps)
	for end := len(candidates); end > 0; {
		begin := end - 1
		for begin > 0 && candidates[begin-1].Submit >= candidates[end-1].Submit-apart {
			begin--
		}
		first := &candidates[begin]
		asked.submit, asked.limit = first.Submit, first.Limit
		turn := f.turn(first.Submit, int32(policy.place(f.tasks, asked)), asked.procs)
		for i := end - 1; i >= begin; i-- {
			c := &candidates[i]
			start := min(max(turn, c.Submit), l.filler.start(c.Submit, c.Limit))
			if start == sched.Never {
				continue
			}
			if at := delay.Index(float64(start - c.Submit)); at < delay.Points {
				out[i][at]++
			}
		}
		end = begin
	}
}

// start returns when one task would start in a future.
func (l *look) start(f *future, policy Policy, asked task) int64 {
	l.gaps = f.gaps(asked.procs, l.gaps)
	l.filler.reset(l.gaps)
	turn := f.turn(asked.submit, int32(policy.place(f.tasks, asked)), asked.procs)
	return min(turn, l.filler.start(asked.submit, asked.limit))
}

// Wait is Waits for one submission of a request as it stands.
func (t *Twin) Wait(r *workload.Request, submit int64, out *delay.Distribution) Evidence {
	candidates := [1]workload.Candidate{{Submit: submit, Limit: r.Limit}}
	var waits [1]delay.Distribution
	e := t.Waits(r, candidates[:], waits[:])
	*out = waits[0]
	return e
}

// Waits tells how long a request would wait that is submitted in one of several ways,
// each of which has its own limit. The candidates are in the order of their
// submission, and none lies before the last Look; out has as many elements. What may
// become of the queue is simulated until the probability to start within each
// candidate's budget is known precisely enough, or that of each delay where the
// budget is 0. What lies beyond the budgets, where all have one, need not be true.
//
// The job asked about is in none of the simulations, but put into each of them
// afterwards: one set of them answers all questions asked at a moment.
func (t *Twin) Waits(r *workload.Request, candidates []workload.Candidate, out []delay.Distribution) Evidence {
	if len(candidates) == 0 {
		return Evidence{}
	}
	l := &t.look
	job := t.asked(r, l.at)
	until, end := horizon(candidates)
	v := l.view(t, t.machines.of(r.Partition), job.procs, until, end)
	clear(out)
	asked := 0
	for asked < t.options.Runs {
		if asked == v.n {
			if asked > 0 && t.options.Expired != nil && t.options.Expired() {
				break
			}
			v.live(t, l.rand)
		}
		l.ask(v.futures[asked], v.policy, job, candidates, out)
		asked++
		if asked%batch == 0 && t.enough(asked, candidates, out) {
			break
		}
	}
	for i := range out {
		sum := 0.
		for at := range out[i] {
			sum += out[i][at]
			out[i][at] = sum / float64(asked)
		}
	}
	return v.evidence(v.policy, asked)
}

// horizon returns until when jobs need come, and how far futures go, that are to
// answer for some candidates.
func horizon(candidates []workload.Candidate) (until, end int64) {
	for i := range candidates {
		c := &candidates[i]
		if c.Budget <= 0 {
			return candidates[len(candidates)-1].Submit + foreseen, sched.Never
		}
		end = max(end, c.Submit+c.Budget)
	}
	return end, end
}

// enough reports whether what was counted in n futures is precise enough.
func (t *Twin) enough(n int, candidates []workload.Candidate, counts []delay.Distribution) bool {
	for i := range candidates {
		last := delay.Points - 1
		within, worst := 0., 0.
		if b := candidates[i].Budget; b > 0 {
			last = min(last, delay.Index(float64(b)))
		}
		for at := 0; at <= last; at++ {
			within += counts[i][at]
			// As if one more had been within, and one more not (Agresti and Coull).
			if p := (within + 1) / float64(n+2); candidates[i].Budget == 0 || at == last {
				worst = max(worst, p*(1-p)/float64(n+2))
			}
		}
		if math.Sqrt(worst) > t.options.Precision {
			return false
		}
	}
	return true
}
