package study

import (
	"fmt"
	"math"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/trial/scenario"
)

// Forecasters is the study of what VARQ's reservations are planned with: by plain
// QBETS, as in "VARQ: Implementing Probabilistic Advanced Reservations for
// Batch-scheduled Parallel Machines" (Nurmi, Wolski and Brevik 2007, section 4.4),
// or by the blend that varqd forecasts with, and whether nodes may be held for any
// time or only as long as varqd allows; in normal times, and around outages.
type Forecasters struct{}

const (
	forecastShare      = .1
	forecastProb       = .95
	forecastSure       = .99 // asked of plain QBETS too, which keeps less than it promises
	forecastEvery      = 6 * 3600
	forecastReplan     = 240
	forecastSeeds      = 3
	forecastQuickSeeds = 1
	forecastQuickJobs  = 10_000
)

// forecastLogs are the logs that are replayed.
var forecastLogs = []string{"SDSC-DS-2004", "CTC-SP2-1996"}

// The forecasters compared: the one that is held against the other, and that.
const (
	theBlend   = scenario.Blend
	plainQBETS = scenario.QBETS
)

// forecastOutage is what happens to the machine where there are outages.
var forecastOutage = scenario.Outage{Lasts: 6 * 3600, After: 15 * 24 * 3600, Every: 30 * 24 * 3600}

// forecastSetting is what a case simulates.
type forecastSetting struct {
	log     string
	planner scenario.Forecaster
	prob    float64 // asked for
	maxHold float64 // in time limits; 0: for any time
	outages bool
}

// asInPaper has VARQ plan as in the paper, asVarqd as varqd does.
func asInPaper(log string) forecastSetting {
	return forecastSetting{log: log, planner: plainQBETS, prob: forecastProb}
}

func asVarqd(log string) forecastSetting {
	return forecastSetting{log: log, planner: theBlend, prob: forecastProb, maxHold: trajectory.DefaultMaxHold}
}

// withOutages returns the same setting around outages.
func (s forecastSetting) withOutages() forecastSetting {
	s.outages = true
	return s
}

// calmSettings are the settings without outages.
func calmSettings(log string) []forecastSetting {
	sure, bounded, unbounded := asInPaper(log), asInPaper(log), asVarqd(log)
	sure.prob, bounded.maxHold, unbounded.maxHold = forecastSure, trajectory.DefaultMaxHold, 0
	return []forecastSetting{asInPaper(log), sure, bounded, unbounded, asVarqd(log)}
}

func (s forecastSetting) name() string {
	name := fmt.Sprintf("%s %s at %v", s.log, s.planner, s.prob)
	if s.maxHold > 0 {
		name += fmt.Sprintf(" holding %v", s.maxHold)
	}
	if s.outages {
		name += " with outages"
	}
	return name
}

func forecastSettings() []forecastSetting {
	var settings []forecastSetting
	for _, log := range forecastLogs {
		settings = append(settings, calmSettings(log)...)
		settings = append(settings, asInPaper(log).withOutages(), asVarqd(log).withOutages())
	}
	return settings
}

func (Forecasters) seeds(o Options) int {
	switch {
	case o.Seeds > 0:
		return o.Seeds
	case o.Quick:
		return forecastQuickSeeds
	}
	return forecastSeeds
}

// Cases implements Study.
func (f Forecasters) Cases(o Options) []Case {
	var cases []Case
	for seed := range f.seeds(o) {
		for _, s := range forecastSettings() {
			cases = append(cases, Case{s.name(), uint64(seed) + 1})
		}
	}
	return cases
}

// Run implements Study. Beside those of valuesOf there are "kept promises", and
// "slowdown"; "wait without", "slowdown without", of the same jobs where nobody
// reserves; "overhead of kept", that of the promises which were kept alone; and
// what became of those who asked during outages.
func (Forecasters) Run(o Options, c Case) (Values, error) {
	for _, s := range forecastSettings() {
		if s.name() == c.Name {
			return s.run(o, c.Seed)
		}
	}
	return nil, fmt.Errorf("forecasters has no case %q", c.Name)
}

func (s forecastSetting) run(o Options, seed uint64) (Values, error) {
	most := math.MaxInt
	if o.Quick {
		most = forecastQuickJobs
	}
	jobs, err := readJobs(o.Traces, s.log, most, func(*sched.Job) bool { return true })
	if err != nil {
		return nil, err
	}
	_, procs, err := o.Traces.Open(s.log)
	if err != nil {
		return nil, err
	}
	request, err := o.Traces.Requests(s.log)
	if err != nil {
		return nil, err
	}
	sc := scenario.Scenario{
		Procs: procs, Order: sched.FCFS(), Backfill: sched.EASY, Request: request, Aside: forecastShare, Seed: seed,
	}
	if s.outages {
		sc.Outage = forecastOutage
	}
	none, err := sc.Run(jobs, scenario.Watch{})
	if err != nil {
		return nil, err
	}
	sc.Reservations.VARQ = &scenario.VARQ{
		Share: forecastShare, Prob: s.prob, Every: forecastEvery, Replan: forecastReplan, Forecaster: s.planner, MaxHold: s.maxHold,
	}
	t := forecastTally{outage: sc.Outage, first: none.First}
	r, err := sc.Run(jobs, scenario.Watch{Answered: t.add})
	if err != nil {
		return nil, err
	}
	values := valuesOf(r)
	values["slowdown"] = r.Others.Slowdown
	values["wait without"], values["slowdown without"] = none.Others.Mean, none.Others.Slowdown
	t.values(values)
	return values, nil
}

// forecastTally counts what became of requests.
type forecastTally struct {
	outage scenario.Outage
	first  int64 // submission

	kept       int
	work, held float64 // of the promises kept
	during     struct{ asked, promised, kept, down int }
}

func (t *forecastTally) add(r scenario.Reservation) {
	if r.Kept() {
		t.kept++
		t.work += r.Work
		t.held += r.Held
	}
	since := r.Asked - t.first - t.outage.After
	if t.outage.Lasts == 0 || since < 0 || since%t.outage.Every >= t.outage.Lasts {
		return
	}
	d := &t.during
	d.asked++
	if r.Refusal == "" {
		d.promised++
	}
	if r.Kept() {
		d.kept++
	}
	if r.Down {
		d.down++
	}
}

func (t *forecastTally) values(v Values) {
	v["kept promises"] = float64(t.kept)
	if t.work > 0 {
		v["overhead of kept"] = t.held / t.work
	}
	if t.outage.Lasts > 0 {
		v["asked in outages"] = float64(t.during.asked)
		v["promised in outages"] = float64(t.during.promised)
		v["kept in outages"] = float64(t.during.kept)
		v["down in outages"] = float64(t.during.down)
	}
}
