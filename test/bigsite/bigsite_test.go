package bigsite

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/thorough"
)

// A site of a few nodes is measured as a big one is.
func TestSmall(t *testing.T) {
	thorough.Only(t)
	cluster.NeedSlurm(t)
	o := Options{
		Nodes: 8, Running: 20, Pending: 30, Tasks: 20, Reservations: 5, Rate: 4, Reserving: 1, Duration: 3 * time.Second,
		Timeout: cluster.Patience, Load: .1, With: true, Without: true, Progress: t.Output(),
	}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := r.Write(&table); err != nil {
		t.Fatal(err)
	}
	t.Log(table.String())
	for name, f := range map[string]*Figures{"with": r.With, "without": r.Without} {
		if f.Plain.Accepted == 0 || f.Plain.Failed > 0 || f.Plain.P50 <= 0 || f.Plain.Max < f.Plain.P99 || f.Fill.Reservations != o.Reservations ||
			f.Before["RUNNING"] == 0 || f.Before["PENDING"] == 0 || f.Daemons["slurmctld"].MiB == 0 {
			t.Errorf("%s varq: %+v", name, f)
		}
	}
	if r.Without.Varqd != nil || r.With.Varqd == nil || r.With.Varqd.Plans.Count == 0 || r.With.Daemons["varqd"].MiB == 0 {
		t.Errorf("%+v", r.With.Varqd)
	}
}

func TestCheck(t *testing.T) {
	good := Big()
	if err := good.check(); err != nil {
		t.Error(err)
	}
	for word, spoil := range map[string]func(*Options){
		"nodes":    func(o *Options) { o.Nodes = 2 },
		"running":  func(o *Options) { o.Running = 100 },
		"pending":  func(o *Options) { o.Pending = -1 },
		"rate":     func(o *Options) { o.Reserving = o.Rate + 1 },
		"load":     func(o *Options) { o.Load = 2 },
		"duration": func(o *Options) { o.Duration = 0 },
		"neither":  func(o *Options) { o.With, o.Without = false, false },
	} {
		o := Big()
		spoil(&o)
		if err := o.check(); err == nil || !strings.HasPrefix(err.Error(), word) {
			t.Errorf("%s: %v", word, err)
		}
	}
}

// In the past as many jobs ran and waited at a time as do when the site is measured, and asked for
// as many processors as there are.
func TestPast(t *testing.T) {
	o := Options{Nodes: 40, Running: 100, Pending: 300, Tasks: 500}
	p := pastOf(&o, 1_700_000_000)
	at := p.now - day
	running, waiting, procs := 0, 0, int32(0)
	for j := range p.jobs() {
		if j.Submit < p.since() || j.Start < j.Eligible || j.End <= j.Start || j.End >= p.now || j.End > j.Start+j.Limit {
			t.Fatalf("%+v", j)
		}
		switch {
		case j.Partition != "batch" || j.Submit > at || j.End <= at:
		case j.Start <= at:
			running++
			procs += j.CPUs
		default:
			waiting++
		}
	}
	for what, is := range map[string][2]float64{
		"running": {float64(running), float64(o.Running)}, "waiting": {float64(waiting), float64(o.Pending + o.Tasks)}, "processors": {float64(procs), float64(o.Nodes * cpus)},
	} {
		if ratio := is[0] / is[1]; math.Abs(ratio-1) > .4 {
			t.Errorf("%s: %.0f, wanted about %.0f", what, is[0], is[1])
		}
	}
}

func TestTiming(t *testing.T) {
	before := histogram{below: map[float64]float64{.1: 5, 1: 5}, count: 5, sum: 1}
	after := histogram{below: map[float64]float64{.1: 8, 1: 14}, count: 15, sum: 11}
	if got, want := after.since(before), (Timing{Count: 10, Mean: 1, P50: 1, P99: -1}); got != want {
		t.Errorf("%+v, wanted %+v", got, want)
	}
	if got := before.since(before); got != (Timing{}) {
		t.Errorf("%+v", got)
	}
}

func TestAlike(t *testing.T) {
	a, b := alike("sbatch: error: 17 until 2026-11-21T17:00:00.\nmore\n"), alike("sbatch: error: 9 until 2026-12-01T07:00:30.\n")
	if a != b || a != "sbatch: error: N until N" && a != "sbatch: error: N until N." {
		t.Errorf("%q and %q", a, b)
	}
}
