package together

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/promise/joint"
	"github.com/varq-project/varq/predictor/workload"
)

// excess returns by how much promises between two probabilities were kept more often than promised.
func excess(outcomes []Outcome, kind joint.Kind, from, to float64, promise func(Outcome) float64) float64 {
	n, sum := 0., 0.
	for _, o := range outcomes[len(outcomes)/10:] {
		if p := promise(o); o.Kind == kind && p >= from && p < to {
			n++
			sum -= p
			if o.Came {
				sum++
			}
		}
	}
	return sum / n
}

// TestTroubles: promises are kept as often as promised, whatever joins the sites, once they are
// recalibrated; the lower bounds are kept more often. If troubles are common, those of independence
// are not.
func TestTroubles(t *testing.T) {
	independent := func(o Outcome) float64 { return o.Independent }
	recalibrated := func(o Outcome) float64 { return o.Prob }
	lower := func(o Outcome) float64 { return o.Lower }
	for _, trouble := range []Troubles{Apart, Common} {
		e := Experiment{Sites: MadeUp(trouble, 300, 1), Every: 8, Seed: 1}
		outcomes := e.Run()
		for _, kind := range []joint.Kind{joint.Any, joint.All} {
			plain, calibrated, bound := excess(outcomes, kind, .5, .99, independent), excess(outcomes, kind, .5, .99, recalibrated), excess(outcomes, kind, .5, .99, lower)
			t.Logf("troubles %v, kind %v: independence %.3f, recalibrated %.3f, lower %.3f", trouble, kind, plain, calibrated, bound)
			if math.Abs(calibrated) > .02 {
				t.Errorf("recalibrated promises are kept by %v more often than promised", calibrated)
			}
			if bound < 0 {
				t.Errorf("lower bounds are kept by %v more often than promised", bound)
			}
			if trouble == Apart && math.Abs(plain) > .02 || trouble == Common && math.Abs(plain) < .03 {
				t.Errorf("promises of independence are kept by %v more often than promised", plain)
			}
		}
		last := outcomes[len(outcomes)-1]
		if r := last.Strongest.Correlation; trouble == Apart && math.Abs(r) > .1 || trouble == Common && r < .2 {
			t.Errorf("troubles %v: the correlation is %v", trouble, r)
		}
	}
}

// TestNoLookAhead: what happens from a time on changes no quote before it.
func TestNoLookAhead(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	sites := MadeUp(Common, 60, 2)
	e := Experiment{Sites: sites, Every: 3, Seed: 1}
	before := e.Run()
	const now = 40 * 86_400
	for i := range sites {
		sites[i] = slices.Clone(sites[i])
		for k := range sites[i] {
			j := &sites[i][k]
			if j.Submit+j.Wait < now {
				continue
			}
			j.Rank = random.Float64()
			if wait := j.Wait + random.Int64N(100_000); j.Submit < now {
				j.Wait = wait
				continue
			}
			j.Wait = random.Int64N(1000)
			for d := range j.Within {
				j.Within[d] = random.Float64()
			}
		}
	}
	e.Sites = sites
	after := e.Run()
	n := 0
	for i := range before {
		if before[i].At >= now {
			break
		}
		n++
		if diff := cmp.Diff(before[i].Quote, after[i].Quote); diff != "" {
			t.Fatalf("the quote at %d is another:\n%s", before[i].At, diff)
		}
	}
	if n < 1000 || before[n].Quote == after[n].Quote {
		t.Errorf("%d quotes are the same", n)
	}
}

func TestCounterpart(t *testing.T) {
	others := []Job{
		{Submit: 90, Procs: 4}, {Submit: 110, Procs: 1}, {Submit: 120, Procs: 9}, {Submit: 130, Procs: 8, User: "a"},
		{Submit: 140, Procs: 2, User: "b"}, {Submit: 5000, Procs: 4},
	}
	for _, c := range []struct {
		submit, shift, want int64
		one                 bool
	}{{100, 0, 130, false}, {100, 0, 140, true}, {130, 0, 130, false}, {135, 0, 140, false}, {141, 0, -1, false}, {1100, 1000, 130, false}, {3199, 0, -1, false}, {3200, 0, 5000, false}} {
		got := int64(-1)
		if o := counterpart(&Job{Submit: c.submit, Procs: 4, User: "a"}, others, c.shift, c.one); o != nil {
			got = o.Submit
		}
		if got != c.want {
			t.Errorf("of a job at %d (%+v): that of %d", c.submit, c, got)
		}
	}
}

// TestOneSite: two users of one site meet the same troubles.
func TestOneSite(t *testing.T) {
	jobs := MadeUp(Common, 100, 3)[0]
	for i := range jobs {
		jobs[i].User = string(rune('a' + i%2))
		// the first finds the second in half an hour, and in its own hour
		jobs[i].Submit -= int64(i%2) * 300
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return int(a.Submit - b.Submit) })
	e := Experiment{Sites: [2][]Job{jobs}, Every: 4, Seed: 1}
	outcomes := e.Run()
	if len(outcomes) < 2000 || outcomes[len(outcomes)-1].Strongest.Correlation < .2 {
		t.Errorf("%d outcomes, the last of which with the correlation %+v", len(outcomes), outcomes[len(outcomes)-1].Strongest)
	}
}

// TestForecast: the first tenth of the jobs is only learnt from, and jobs that never start are left
// out.
func TestForecast(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	var jobs []workload.Job
	free := int64(0)
	for id := range int64(600) {
		j := workload.Job{ID: id + 1, Submit: 1_000_000 + id*300, State: workload.Completed}
		j.Nodes, j.Limit, j.User = 4, 3600, "u"
		if id%50 == 0 {
			j.State, j.End = workload.Cancelled, j.Submit+60
			jobs = append(jobs, j)
			continue
		}
		j.Start = max(j.Submit, free)
		j.End = j.Start + 1 + random.Int64N(580)
		free = j.End
		jobs = append(jobs, j)
	}
	all := Forecast(jobs, nil)
	if len(all) < 500 || len(all) > 530 {
		t.Errorf("%d of %d jobs", len(all), len(jobs))
	}
	within, met := 0., 0.
	for _, j := range all {
		if !(j.Rank >= 0 && j.Rank <= 1) || j.Procs != 4 || !slices.IsSorted(j.Within[:]) {
			t.Fatalf("%+v", j)
		}
		within += j.Within[0]
		if j.Wait <= Deadlines[0] {
			met++
		}
	}
	if math.Abs(within-met) > .1*float64(len(all)) {
		t.Errorf("%v jobs wait for at most 15 minutes, expected %v", met, within)
	}
}

func BenchmarkRun(b *testing.B) {
	e := Experiment{Sites: MadeUp(Common, 100, 1), Every: 4, Seed: 1}
	for b.Loop() {
		e.Run()
	}
}
