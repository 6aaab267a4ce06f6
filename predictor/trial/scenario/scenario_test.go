package scenario

import (
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/forecast/downey"
)

func each(jobs []sched.Job) iter.Seq2[sched.Job, error] {
	return func(yield func(sched.Job, error) bool) {
		for _, j := range jobs {
			if !yield(j, nil) {
				return
			}
		}
	}
}

// busy returns n jobs of Downey's model, which keep 64 processors busy.
func busy(n int) []sched.Job {
	model := downey.Model{Procs: 64, Load: .85}
	return slices.Collect(model.Jobs(rand.New(rand.NewPCG(1, 1)), n))
}

func simulate(t *testing.T, s Scenario, jobs []sched.Job) *Result {
	t.Helper()
	r, err := s.Run(each(jobs), Callbacks{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Two jobs that cannot run at the same time, and a third later.
func TestByHand(t *testing.T) {
	got := simulate(t, Scenario{Procs: 4}, []sched.Job{
		{ID: 1, Submit: 1000, Procs: 3, Run: 100, Limit: 200},
		{ID: 2, Submit: 1000, Procs: 2, Run: 50, Limit: 60},
		{ID: 3, Submit: 1200, Procs: 4, Run: 5, Limit: 60},
	})
	// Job 2 waits 100 s. Its slowdown is 3, the others' is 1.
	want := Waits{Jobs: 3, Mean: 100. / 3, P95: 100, Max: 100, Slowdown: 5. / 3}
	for i := range 101 {
		want.Percentiles = append(want.Percentiles, 0)
		if i > 66 {
			want.Percentiles[i] = 100
		}
	}
	if diff := cmp.Diff(want, got.All); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, got.Others); diff != "" {
		t.Error(diff)
	}
	if got.Jobs != 3 || got.First != 1000 || got.Last != 1200 || got.End != 1205 {
		t.Errorf("%+v", got)
	}
	if want := (3*100 + 2*50) / 4. / 200; math.Abs(got.Utilisation-want) > 1e-12 {
		t.Errorf("utilisation %v, want %v", got.Utilisation, want)
	}
	if want := (3*100 + 2*50 + 4*5) / 4. / 205; math.Abs(got.UtilisationToEnd-want) > 1e-12 {
		t.Errorf("utilisation to the end %v, want %v", got.UtilisationToEnd, want)
	}
	series := Series{Start: 1000, Step: 60,
		Queued: []float64{1, 40. / 60, 0, 0}, Busy: []float64{.75, (40*.75 + 20*.5) / 60, 30 * .5 / 60, 5. / 25}}
	round := cmp.Transformer("round", func(x float64) float64 { return math.Round(x*1e9) / 1e9 })
	if diff := cmp.Diff(series, got.Series, round); diff != "" {
		t.Error(diff)
	}
}

func TestSeriesStaysShort(t *testing.T) {
	s := newSeries(100)
	for now := int64(100); now < 1e7; now += 777 {
		s.add(now, 3, 2)
	}
	got := s.result(4)
	if len(got.Queued) > maxSteps || len(got.Queued) < maxSteps/2 || got.Step < 10_000_000/maxSteps {
		t.Errorf("%d steps of %d s", len(got.Queued), got.Step)
	}
	for i := range got.Queued {
		if math.Abs(got.Queued[i]-3) > 1e-9 || math.Abs(got.Busy[i]-.5) > 1e-9 {
			t.Fatalf("step %d: %v queued, %v busy", i, got.Queued[i], got.Busy[i])
		}
	}
}

func TestVARQ(t *testing.T) {
	jobs := busy(8000)
	plain := simulate(t, Scenario{Procs: 64, Backfill: sched.EASY, Seed: 3, Aside: .1}, jobs)
	r := simulate(t, Scenario{Procs: 64, Backfill: sched.EASY, Seed: 3,
		Reservations: Reservations{VARQ: &VARQ{Share: .1, Prob: .75, Every: 6 * 3600, Replan: 1800}}}, jobs)
	v := r.VARQ
	if v.Asked < 700 || v.Asked > 900 || v.Promised > v.Asked || v.Kept > v.Promised || v.Promised < 100 {
		t.Errorf("%+v", v)
	}
	if r.All.Jobs != r.Jobs-v.Promised || r.Others.Jobs != r.Jobs-v.Asked || plain.Others.Jobs != r.Others.Jobs {
		t.Errorf("%d jobs in all, %d others, with %+v", r.All.Jobs, r.Others.Jobs, v)
	}
	share := float64(v.Kept) / float64(v.Promised)
	if v.Prob < .75 || !(v.KeptLow < share && share < v.KeptHigh) || v.KeptHigh < .7 {
		t.Errorf("%+v", v)
	}
	if v.Overhead <= 0 || r.Held <= 0 {
		t.Errorf("%v of the work held, %v of the cluster", v.Overhead, r.Held)
	}
	effortless := simulate(t, Scenario{Procs: 64, Backfill: sched.EASY, Seed: 3,
		Reservations: Reservations{VARQ: &VARQ{Share: .1, Prob: .75, Every: 6 * 3600, BestEffort: true}}}, jobs)
	if effortless.VARQ.Overhead != 0 || effortless.Held != 0 {
		t.Errorf("best effort holds: %+v", effortless.VARQ)
	}
}

// If no job has to wait, every promise is kept, and each job starts just before its
// deadline.
func TestVARQByHand(t *testing.T) {
	var jobs []sched.Job
	for i := range int64(400) {
		jobs = append(jobs, sched.Job{ID: i, Submit: 100 * i, Procs: 1, Run: 40, Limit: 60})
	}
	r := simulate(t, Scenario{Procs: 400, Seed: 1, Reservations: Reservations{VARQ: &VARQ{Share: 1, Prob: .9, Every: 3600}}}, jobs)
	v := r.VARQ
	if v.Asked != 400 || v.Promised == 0 || v.Kept != v.Promised {
		t.Errorf("%+v", v)
	}
	// The planner's last step, 30 s before the deadline, is early enough for each job.
	if v.Overhead > 30./40 {
		t.Errorf("%v of the work held", v.Overhead)
	}
}

func TestSameSeedSameResult(t *testing.T) {
	jobs := busy(2000)
	for _, text := range []string{"none", "hard=20%,protected=0", "varq=20%,prob=.5,forecaster=qbets"} {
		reservations, err := ParseReservations(text)
		if err != nil {
			t.Fatal(err)
		}
		s := Scenario{Procs: 64, Backfill: sched.Conservative, Seed: 5, Reservations: reservations}
		if diff := cmp.Diff(simulate(t, s, jobs), simulate(t, s, jobs)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestEnded(t *testing.T) {
	ended := 0
	s := Scenario{Procs: 64}
	if _, err := s.Run(each(busy(100)), Callbacks{Ended: func(*sched.Job) { ended++ }}); err != nil || ended != 100 {
		t.Errorf("%d ended, %v", ended, err)
	}
}

func TestBadJobs(t *testing.T) {
	bad := errors.New("bad")
	s := Scenario{Procs: 64}
	if _, err := s.Run(func(yield func(sched.Job, error) bool) { yield(sched.Job{}, bad) }, Callbacks{}); !errors.Is(err, bad) {
		t.Error(err)
	}
	if r, err := s.Run(each(nil), Callbacks{}); err != nil || r.Jobs != 0 {
		t.Errorf("no jobs: %+v, %v", r, err)
	}
}

func BenchmarkRun(b *testing.B) {
	jobs := busy(100_000)
	for _, text := range []string{"none", "hard=10%", "varq=10%,forecaster=qbets"} {
		reservations, err := ParseReservations(text)
		if err != nil {
			b.Fatal(err)
		}
		name, _, _ := strings.Cut(text, ",")
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s := Scenario{Procs: 64, Backfill: sched.EASY, Reservations: reservations}
				if _, err := s.Run(each(jobs), Callbacks{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(jobs)*b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}
