package booking

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/sim"
	"github.com/varq-project/varq/predictor/forecast/speedup"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/promise/esr"
	"github.com/varq-project/varq/predictor/promise/tariff"
	"github.com/varq-project/varq/predictor/workload"
)

// small returns a cluster of 16 processors, in nodes of 2, on which requests start at once and have
// an hour more than they need.
func small(t *testing.T, m Method) *Experiment {
	t.Helper()
	flat, err := tariff.New(tariff.Config{UnitCost: 1, UnitSeconds: 3600, Scale: tariff.Flat(), Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	return &Experiment{
		Procs: 16, Unit: 2, Backfill: sched.EASY, Range: 3600, Least: 1, Most: 1, Curve: speedup.Amdahl{Serial: .01},
		Prefer: elastic.DefaultPreferences(), MinProb: esr.Threshold, Slots: 100, Gap: 100, Tariff: flat, Accuracy: .5, Method: m,
	}
}

func job(id, submit int64, procs int32, limit, run int64) sched.Job {
	return sched.Job{ID: id, Submit: submit, Procs: procs, Limit: limit, Run: run}
}

func only(i int) func(int) bool { return func(j int) bool { return j == i } }

func TestRun(t *testing.T) {
	const start = 1_000_000_000
	busy := job(1, start, 16, 1000, 800) // the whole cluster, until its limit
	asks := job(9, start+10, 8, 600, 500)
	for name, c := range map[string]struct {
		method Method
		change func(e *Experiment)
		jobs   []sched.Job
		want   Booking // but for the slot
		begin  int64   // of the slot, since asks asked; -1 without one
		waits  []int64
	}{
		"idle":        {Load(), nil, []sched.Job{asks}, Booking{Candidates: 37, Probable: 37}, 0, nil},
		"an hour off": {Load(), func(e *Experiment) { e.Ahead = 3600 }, []sched.Job{asks}, Booking{Candidates: 37, Probable: 37}, 3600, nil},
		"no choice":   {Load(), func(e *Experiment) { e.Range = 0 }, []sched.Job{asks}, Booking{Candidates: 1, Probable: 1}, 0, nil},
		// The workload ends at .5 * 990 s: candidates 500 to 900 do not fit beside the job's limit.
		"busy":          {Load(), nil, []sched.Job{busy, asks}, Booking{Candidates: 37, Probable: 32, Conflict: 5}, 1000, []int64{0}},
		"busy, exactly": {Load(), func(e *Experiment) { e.Accuracy = 1 }, []sched.Job{busy, asks}, Booking{Candidates: 37, Probable: 27}, 1000, []int64{0}},
		"nothing fits":  {Load(), func(e *Experiment) { e.Range = 700 }, []sched.Job{busy, asks}, Booking{Candidates: 8, Probable: 3, Conflict: 3}, -1, []int64{0}},
		// 12 processors wait for 2000 s: the workload ends at .5 * (990 + 12 / 16 * 2000) s.
		// Without the check, the slot is before them.
		"others wait": {History(), nil, []sched.Job{busy, job(2, start+5, 12, 2000, 1500), asks}, Booking{Candidates: 37, Probable: 37, Workload: 13}, 1300, []int64{0, 1805}},
		"unchecked":   {History(), func(e *Experiment) { e.Unchecked = true }, []sched.Job{busy, job(2, start+5, 12, 2000, 1500), asks}, Booking{Candidates: 37, Probable: 37, Conflict: 10}, 1000, []int64{0, 1505}},
		"too soon":    {Static(18000), nil, []sched.Job{asks}, Booking{Candidates: 37}, -1, nil},
		"late enough": {Static(18000), func(e *Experiment) { e.Ahead = 34_000 }, []sched.Job{asks}, Booking{Candidates: 37, Probable: 35}, 34_200, nil},
	} {
		e := small(t, c.method)
		if c.change != nil {
			c.change(e)
		}
		before := slices.Clone(c.jobs)
		r := e.Run(c.jobs, only(len(c.jobs)-1))
		got := r.Bookings[0]
		begin := int64(-1)
		if s := got.Slot; s != nil {
			begin = s.Start - asks.Submit
			if s.End != s.Start+500 || s.Nodes != 8 {
				t.Errorf("%s: the slot is %+v", name, *s)
			}
		}
		got.Slot = nil
		if diff := cmp.Diff(c.want, got); diff != "" || begin != c.begin {
			t.Errorf("%s: begins at %d, want %d\n%s", name, begin, c.begin, diff)
		}
		if diff := cmp.Diff(c.waits, r.Waits); diff != "" {
			t.Errorf("%s: waits:\n%s", name, diff)
		}
		if !slices.Equal(before, c.jobs) {
			t.Errorf("%s: the jobs are not what they were", name)
		}
	}
}

// TestHistory: while jobs take twelve processors at the same time every day, a request for eight is
// told so.
func TestHistory(t *testing.T) {
	const day = 86400
	var jobs []sched.Job
	for i := range int64(5) {
		jobs = append(jobs, job(i, 1_000_000_000+i*day, 12, 7200, 7200))
	}
	jobs = append(jobs, job(9, jobs[4].Submit+day-3600, 8, 600, 600))
	e := small(t, History())
	e.Range = 6 * 3600
	got := e.Run(jobs, only(5)).Bookings[0]
	// 8 of the 4 idle processors cannot be had in the two hours of the jobs, nor while a slot
	// reaches into them by so much that the average is too low; with 16 idle ones they can.
	if got.Slot == nil || got.Slot.Start != jobs[5].Submit || got.Candidates != 100 || got.Probable < 60 || got.Probable > 70 {
		t.Errorf("%+v", got)
	}
}

// TestForecast: where jobs never wait, varq's forecasts say soon that a slot can be had at once.
func TestForecast(t *testing.T) {
	request := func(j *sched.Job) workload.Request {
		return workload.Request{User: "u", Size: workload.Size{Nodes: j.Procs / 2, CPUs: j.Procs}, Limit: j.Limit}
	}
	var jobs []sched.Job
	for i := range int64(300) {
		jobs = append(jobs, job(i, 1_000_000_000+i*1000, 4, 900, 600))
	}
	jobs = append(jobs, job(999, 1_000_300_000, 4, 900, 600))
	e := small(t, Forecast(request, 1, nil))
	e.Unchecked = true
	got := e.Run(jobs, only(300)).Bookings[0]
	if got.Slot == nil || got.Slot.Start > jobs[300].Submit+120 || got.Slot.Prob < esr.Threshold {
		t.Errorf("%+v %+v", got, got.Slot)
	}
	first := e.Run(jobs[:20], only(0)).Bookings[0]
	if first.Probable == first.Candidates {
		t.Errorf("nothing is known, and everything probable: %+v", first)
	}
}

// waits records how long the jobs of a simulator wait.
type waits map[int64]int64

func (waits) Reserved(int64, *sched.Job, int64, int64) {}
func (waits) Stopped(int64, *sched.Job)                {}
func (w waits) Started(now int64, j *sched.Job)        { w[j.ID] = now - j.Submit }
func (waits) Ended(int64, *sched.Job)                  {}

// TestRandom: in random experiments no processor is used twice, slots are as asked for and as the
// scheduler reserves them, and without a request the jobs start as in a plain simulation.
func TestRandom(t *testing.T) {
	request := func(j *sched.Job) workload.Request {
		return workload.Request{Size: workload.Size{Nodes: j.Procs / 2, CPUs: j.Procs}, Limit: j.Limit}
	}
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		method := []Method{Static(3000), History(), Load(), Forecast(request, seed, nil)}[seed%4]
		e := small(t, method)
		e.Ahead, e.Range = random.Int64N(8000), random.Int64N(20_000)
		e.Backfill = sched.Backfill(random.IntN(3))
		e.Unchecked = seed%3 == 0
		e.MinProb = random.Float64()
		if seed%2 == 0 {
			e.Least, e.Most = .5, 2
		}
		var jobs []sched.Job
		at := int64(1_000_000_000)
		for id := range int64(80) {
			at += random.Int64N(600)
			limit := 1 + random.Int64N(3000)
			jobs = append(jobs, job(id, at, 2+2*random.Int32N(8), limit, random.Int64N(3600)))
		}
		reserves := func(i int) bool { return i%3 == 1 }
		r := e.Run(jobs, reserves)
		if again := e.Run(jobs, reserves); !cmp.Equal(r, again) {
			t.Fatalf("seed %d: another result:\n%s", seed, cmp.Diff(r, again))
		}
		used := map[int64]int32{} // what is added to the processors in use
		take := func(from, to int64, procs int32) {
			used[from] += procs
			used[to] -= procs
		}
		for i, j := range jobs {
			if !reserves(i) {
				start := j.Submit + r.Waits[0]
				r.Waits = r.Waits[1:]
				take(start, start+min(j.Run, j.Limit), j.Procs)
				continue
			}
			b := r.Bookings[0]
			r.Bookings = r.Bookings[1:]
			if b.Probable > b.Candidates || b.Workload+b.Conflict > b.Probable || e.Unchecked && b.Workload > 0 {
				t.Errorf("seed %d: %+v", seed, b)
			}
			s := b.Slot
			if s == nil {
				if b.Workload+b.Conflict != b.Probable {
					t.Errorf("seed %d: some were not tried: %+v", seed, b)
				}
				continue
			}
			run := float64(max(1, min(j.Run, j.Limit)))
			want := run * e.Curve.Of(float64(j.Procs)) / e.Curve.Of(float64(s.Nodes))
			if s.Start < j.Submit+e.Ahead || float64(s.End) > float64(j.Submit+e.Ahead+e.Range)+run ||
				float64(s.Nodes) < e.Least*float64(j.Procs) || float64(s.Nodes) > e.Most*float64(j.Procs) || s.Nodes%e.Unit != 0 ||
				math.Abs(float64(s.End-s.Start)-want) > 1 || s.Prob < e.MinProb {
				t.Errorf("seed %d: job %+v has %+v", seed, j, *s)
			}
			take(s.Start, s.End, s.Nodes)
		}
		var moments []int64
		for at := range used {
			moments = append(moments, at)
		}
		slices.Sort(moments)
		busy := int32(0)
		for _, at := range moments {
			if busy += used[at]; busy < 0 || busy > e.Procs {
				t.Fatalf("seed %d: %d processors at %d", seed, busy, at)
			}
		}
		plain := waits{}
		s := sim.New(sched.Config{Procs: e.Procs, Backfill: e.Backfill}, plain)
		for _, j := range jobs {
			s.Submit(&j)
		}
		s.Drain()
		for i, wait := range e.Run(jobs, func(int) bool { return false }).Waits {
			if plain[jobs[i].ID] != wait {
				t.Fatalf("seed %d: job %d waits %d s, and %d s alone", seed, i, wait, plain[jobs[i].ID])
			}
		}
	}
}

// TestSizes: the sizes are all within the range that fit into the window, and only those.
func TestSizes(t *testing.T) {
	e := small(t, Load())
	e.Procs, e.Unit, e.Least, e.Most = 64, 4, .5, 2
	table, err := speedup.ParseTable("4 2h\n8 1h10m\n64 45m\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, curve := range []speedup.Curve{speedup.Amdahl{}, speedup.Amdahl{Serial: .05}, speedup.Amdahl{Serial: 1}, speedup.Downey{A: 20, Sigma: .5}, table} {
		e.Curve = curve
		for procs := int32(4); procs <= 64; procs += 4 {
			for window := int64(300); window < 2500; window += 100 {
				j := job(1, 0, procs, 5000, 1000)
				var want []size
				for n := e.Unit; n <= e.Procs; n += e.Unit {
					exact := 1000 * curve.Of(float64(procs)) / curve.Of(float64(n))
					if 2*n >= procs && n <= 2*procs && exact <= float64(window)+1e-6 {
						want = append(want, size{n, int64(math.Ceil(exact - 1e-9))})
					}
				}
				if got := e.sizes(&j, window); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("%v, %d processors, %d s: %v, want %v", curve, procs, window, got, want)
				}
			}
		}
	}
}

// spy is a method that notes when the known workload ends.
type spy struct {
	blind
	ends *[]float64
}

func (s spy) rates(_ *run, _ int64, _ *sched.Job, end float64) func(*elastic.Slot) float64 {
	*s.ends = append(*s.ends, end)
	return func(*elastic.Slot) float64 { return 1 }
}

// TestLoad: the known workload is what is left of the limits of jobs that run, and of reservations,
// each once.
func TestLoad(t *testing.T) {
	const start = 1_000_000_000
	var ends []float64
	e := small(t, Method{func() method { return spy{ends: &ends} }})
	e.Unchecked, e.Range = true, 0
	jobs := []sched.Job{
		job(1, start, 8, 1000, 1000),
		job(2, start+100, 8, 600, 400), // is reserved for at once
		job(3, start+200, 8, 600, 100), // cannot be
		job(4, start+600, 8, 600, 100),
	}
	r := e.Run(jobs, func(i int) bool { return i > 0 })
	if r.Bookings[0].Slot == nil || r.Bookings[1].Slot != nil || r.Bookings[2].Slot == nil {
		t.Errorf("%+v", r.Bookings)
	}
	want := []float64{start + 100 + .5*900, start + 200 + .5*800 + 8*300./16, start + 600 + .5*400}
	if diff := cmp.Diff(want, ends); diff != "" {
		t.Error(diff)
	}
}
