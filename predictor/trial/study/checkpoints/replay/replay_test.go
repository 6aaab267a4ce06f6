package replay

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/promise/checkpoint"
	"github.com/varq-project/varq/predictor/workload"
)

// known is a Predictor with a constant rate of each node.
type known float64

func (known) Fail(int64, int) {}
func (k known) Hazard(_ int64, nodes []int) checkpoint.Hazard {
	return checkpoint.Constant(float64(k) * float64(len(nodes)))
}

func always(*checkpoint.Request) bool { return true }

// TestByHand follows a job of 250 s on both nodes of a system, one of which fails at 1000, 130 s
// after the job's start.
func TestByHand(t *testing.T) {
	for _, test := range []struct {
		name     string
		failures []Failure
		rule     checkpoint.Rule
		want     Cost
	}{
		{"no failure, no checkpoint", nil, checkpoint.Never, Cost{Work: 500}},
		{"no failure, two checkpoints", nil, always, Cost{Work: 500, Overhead: 40}},
		{"130 s are lost", []Failure{{Node: 1, At: 1000, Until: 1000}}, checkpoint.Never, Cost{Work: 500, Lost: 260}},
		{"20 s since a checkpoint", []Failure{{Node: 1, At: 1000, Until: 1000}}, always, Cost{Work: 500, Overhead: 40, Lost: 40}},
		{"within a checkpoint", []Failure{{Node: 1, At: 975, Until: 975}}, always, Cost{Work: 500, Overhead: 40, Lost: 210}},
		{"before and after", []Failure{{Node: 1, At: 869, Until: 869}, {Node: 1, At: 1200, Until: 1200}}, checkpoint.Never, Cost{Work: 500}},
		{"twice", []Failure{{Node: 1, At: 900, Until: 900}, {Node: 0, At: 1000, Until: 1000}}, checkpoint.Never, Cost{Work: 500, Lost: 260}},
	} {
		r := Replay{
			Log: Log{Start: 0, End: 2000, Nodes: 2, Failures: test.failures}, Cost: 10, Interval: 100,
			Predictors: []Predictor{known(0)}, Contenders: []Contender{{test.rule, 0}}, Random: rand.New(rand.NewPCG(1, 1)),
		}
		got := r.Run([]Job{{Start: 870, Nodes: 2, Work: 250}})[0][0]
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// Under failures at a constant rate a replay costs what renewal theory says: with a checkpoint C
// after each τ of work, (e^(λ(τ+C)) - 1)/λτ - 1 seconds a second of work.
func TestRenewal(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const nodes, rate, work = 50, 1e-6, 100 * 3600
	log := Log{Nodes: nodes, End: 3e7}
	for at := 0.; at < float64(log.End); at += random.ExpFloat64() / rate / nodes {
		log.Failures = append(log.Failures, Failure{Node: random.IntN(nodes), At: int64(at), Until: int64(at)})
	}
	var jobs []Job
	for at := int64(0); at < 2.9e7; at += work / 5 {
		jobs = append(jobs, Job{Start: at, Nodes: 10, Work: work})
	}
	r := Replay{
		Log: log, Cost: 600, Interval: 3600, Predictors: []Predictor{known(rate)},
		Contenders: []Contender{{checkpoint.EveryDaly, 0}, {checkpoint.LookAhead, 0}, {checkpoint.Never, 0}}, Random: random,
	}
	costs := r.Run(jobs)
	sums := make([]Cost, 3)
	for c := range costs {
		for _, cost := range costs[c] {
			sums[c].Plus(cost)
		}
	}
	tau, lambda := math.Round(checkpoint.Daly(600, 1/(10*rate))/3600)*3600, 10*rate
	want := math.Expm1(lambda*(tau+600))/(lambda*tau) - 1
	if got := sums[0].Waste() / sums[0].Work; math.Abs(got/want-1) > .05 {
		t.Errorf("Daly wastes %.4f, want %.4f", got, want)
	}
	if sums[1].Waste() > 1.01*sums[0].Waste() || sums[2].Waste() < 1.5*sums[0].Waste() {
		t.Errorf("varq's, Daly's and no checkpoints waste %.0f, %.0f and %.0f", sums[1].Waste(), sums[0].Waste(), sums[2].Waste())
	}
}

// madeUp has failures of which a few nodes have most, and jobs.
func madeUp(seed uint64) (Log, []Job) {
	random := rand.New(rand.NewPCG(seed, 7))
	log := Log{Nodes: 64, End: 4e7}
	for at := int64(0); at < log.End; at += random.Int64N(80_000) {
		node := random.IntN(64)
		if random.IntN(2) == 0 {
			node %= 4
		}
		log.Failures = append(log.Failures, Failure{Node: node, At: at, Until: at + random.Int64N(9000)})
	}
	var jobs []Job
	for at := int64(1e7); at < log.End; at += random.Int64N(20_000) {
		jobs = append(jobs, Job{Start: at, Nodes: 1 + random.IntN(20), Work: 3600 + random.Int64N(60_000), Limit: 64_000})
	}
	return log, jobs
}

// TestNoLookAhead replaces the future: what happens before stays as it was.
func TestNoLookAhead(t *testing.T) {
	run := func(log Log, jobs []Job) [][]Cost {
		r := Replay{
			Log: log, Cost: 720, Interval: 3600, Predictors: []Predictor{NewEven(log), NewModel(log)},
			Contenders: []Contender{{checkpoint.EveryDaly, 0}, {checkpoint.LookAhead, 1}}, Random: rand.New(rand.NewPCG(1, 1)),
		}
		return r.Run(jobs)
	}
	log, jobs := madeUp(1)
	other, _ := madeUp(2)
	const now = 2.5e7
	changed := log
	changed.Failures = nil
	for _, f := range log.Failures {
		if f.At < now {
			changed.Failures = append(changed.Failures, f)
		}
	}
	for _, f := range other.Failures {
		if f.At >= now {
			changed.Failures = append(changed.Failures, f)
		}
	}
	var before, differ int
	a, b := run(log, jobs), run(changed, jobs)
	for c := range a {
		for i := range jobs {
			switch {
			case float64(jobs[i].Start)+(a[c][i].Work+a[c][i].Waste())/float64(jobs[i].Nodes) < now:
				before++
				if a[c][i] != b[c][i] {
					t.Fatalf("job %d, which ended before, costs %+v, or %+v after another future", i, a[c][i], b[c][i])
				}
			case a[c][i] != b[c][i]:
				differ++
			}
		}
	}
	if before < 100 || differ < 100 {
		t.Errorf("%d jobs ended before, %d differ after", before, differ)
	}
}

// Model learns which nodes fail, expects more soon after a failure, and knows no later time than
// that of the last one.
func TestModel(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	m := NewModel(Log{Nodes: 100})
	const day = 24 * 3600
	for at := int64(0); at < 900*day; at += int64(random.ExpFloat64() * day / 5) {
		m.Fail(at, random.IntN(10))
	}
	within := func(at int64, nodes ...int) float64 { return -math.Log1p(-m.Hazard(at, nodes).Within(day)) }
	if bad, good := within(m.at, 0), within(m.at, 99); math.Abs(bad/.5-1) > .35 || good > .01 {
		t.Errorf("expects %.4f failures of a node with .5 a day, and %.4f of one with none", bad, good)
	}
	all := make([]int, 100)
	for i := range all {
		all[i] = i
	}
	if rate := m.Hazard(m.at, all).Rate() * day; rate < 3 || rate > 7 {
		t.Errorf("in the long run %.4f failures a day, of 5", rate)
	}
	later := within(m.at+3600, 0)
	if within(m.at+9*day, 0); within(m.at+3600, 0) != later || later > within(m.at, 0) {
		t.Errorf("an hour later %g, after a question about a later time %g", later, within(m.at+3600, 0))
	}
}

func TestNewLog(t *testing.T) {
	got := NewLog([]string{"a", "b"}, []workload.Failure{{Node: "b", Down: 5}, {Node: "stranger", Down: 6}, {Node: "a", Down: 7, Up: 9}})
	want := Log{Start: 5, End: 7, Nodes: 2, Failures: []Failure{{1, 5, 5}, {0, 7, 9}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if empty := NewLog(nil, nil); len(empty.Failures) != 0 {
		t.Errorf("%+v", empty)
	}
}

// What is left of a job is what was left of others of which as much of the limit was used.
func TestLeft(t *testing.T) {
	var l left
	j := &Job{Limit: 1000}
	if got := l.of(j, 300); got != 700 {
		t.Errorf("at first %v are left, not the limit", got)
	}
	for range 10 {
		l.learn(&Job{Work: 400, Limit: 1000})
		l.learn(&Job{Work: 800, Limit: 1000})
		l.learn(&Job{Work: 800})
	}
	for done, want := range map[int64]float64{0: 600, 100: 500, 110: 490, 500: 300, 1000: 0, 2000: 0} {
		if got := l.of(j, done); math.Abs(got-want) > 1e-9 {
			t.Errorf("after %d, %v are left, want %v", done, got, want)
		}
	}
}
