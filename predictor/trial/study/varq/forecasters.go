package varq

import (
	"fmt"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/trial/scenario"
	"github.com/varq-project/varq/predictor/trial/study"
)

// Forecasters is the study "forecasters". It compares two methods of forecasting waits for
// VARQ's reservations: plain QBETS, as in section 4.4 of the paper, and varqd's blend. It tries
// both methods with and without varqd's bound on the time for which a job holds nodes before its
// work, and with and without outages.
type Forecasters struct{}

const (
	methodShare      = .1
	methodProb       = .95
	methodSure       = .99 // asked of plain QBETS only, which keeps less than it promises
	methodEvery      = 6 * 3600
	methodReplan     = 240
	methodSeeds      = 3
	methodQuickSeeds = 1
	methodQuickJobs  = 10_000
)

// methodLogs are the logs that are replayed.
var methodLogs = []string{"SDSC-DS-2004", "CTC-SP2-1996"}

// The methods that are compared.
const (
	theBlend   = scenario.Blend
	plainQBETS = scenario.QBETS
)

// methodOutage is the recurring outage of the settings with outages.
var methodOutage = scenario.Outage{Lasts: 6 * 3600, After: 15 * 24 * 3600, Every: 30 * 24 * 3600}

// methodSetting is what a case simulates.
type methodSetting struct {
	log     string
	method  scenario.Method
	prob    float64 // asked for
	maxHold float64 // as scenario.VARQ.MaxHold
	outages bool
}

// asInPaper returns the setting of the paper.
func asInPaper(log string) methodSetting {
	return methodSetting{log: log, method: plainQBETS, prob: methodProb}
}

// asVarqd returns the setting of varqd, with users who let a revision cost what it takes to
// keep the promise. So forecasts are compared, and not what users are willing to pay.
func asVarqd(log string) methodSetting {
	return methodSetting{log: log, method: theBlend, prob: methodProb, maxHold: trajectory.DefaultMaxHold}
}

// withOutages returns the same setting with outages.
func (s methodSetting) withOutages() methodSetting {
	s.outages = true
	return s
}

// calmSettings returns the settings without outages.
func calmSettings(log string) []methodSetting {
	sure, bounded, unbounded := asInPaper(log), asInPaper(log), asVarqd(log)
	sure.prob, bounded.maxHold, unbounded.maxHold = methodSure, trajectory.DefaultMaxHold, 0
	return []methodSetting{asInPaper(log), sure, bounded, unbounded, asVarqd(log)}
}

func (s methodSetting) name() string {
	name := fmt.Sprintf("%s %s at %v", s.log, s.method, s.prob)
	if s.maxHold > 0 {
		name += fmt.Sprintf(" holding %v", s.maxHold)
	}
	if s.outages {
		name += " with outages"
	}
	return name
}

func methodSettings() []methodSetting {
	var settings []methodSetting
	for _, log := range methodLogs {
		settings = append(settings, calmSettings(log)...)
		settings = append(settings, asInPaper(log).withOutages(), asVarqd(log).withOutages())
	}
	return settings
}

func (Forecasters) seeds(o study.Options) int { return o.Repetitions(methodSeeds, methodQuickSeeds) }

// Cases implements study.Study.
func (m Forecasters) Cases(o study.Options) []study.Case {
	return study.Cross(m.seeds(o), methodSettings(), methodSetting.name)
}

// Run implements study.Study. Its values are those of ValuesOf and of methodTally, and
//
//	slowdown            mean bounded slowdown of the jobs that never ask for a reservation
//	wait without        "wait" of the same jobs if no job reserves
//	slowdown without    "slowdown" of the same jobs if no job reserves
func (Forecasters) Run(o study.Options, c study.Case) (study.Values, error) {
	s, err := study.Setting("forecasters", c, methodSettings(), methodSetting.name)
	if err != nil {
		return nil, err
	}
	return s.run(o, c.Seed)
}

func (s methodSetting) run(o study.Options, seed uint64) (study.Values, error) {
	jobs, err := study.ReadJobs(o.Traces, s.log, o.AtMost(methodQuickJobs), func(*sched.Job) bool { return true })
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
		Procs: procs, Order: sched.FCFS(), Backfill: sched.EASY, Request: request, Aside: methodShare, Seed: seed, Background: o.Background,
	}
	if s.outages {
		sc.Outage = methodOutage
	}
	none, err := sc.Run(jobs, scenario.Callbacks{})
	if err != nil {
		return nil, err
	}
	sc.Reservations.VARQ = &scenario.VARQ{
		Share: methodShare, Prob: s.prob, Every: methodEvery, Replan: methodReplan, Method: s.method, MaxHold: s.maxHold,
	}
	t := methodTally{outage: sc.Outage, first: none.First}
	r, err := sc.Run(jobs, scenario.Callbacks{Answered: t.add})
	if err != nil {
		return nil, err
	}
	values := study.ValuesOf(r)
	values["slowdown"] = r.Others.Slowdown
	values["wait without"], values["slowdown without"] = none.Others.Mean, none.Others.Slowdown
	t.values(values)
	return values, nil
}

// methodTally counts the outcomes of all requests, and of the requests during outages.
type methodTally struct {
	outage scenario.Outage
	first  int64 // time of the first submission

	kept       int
	work, held float64 // processor seconds, of the kept promises
	during     struct{ asked, promised, kept, down int }
}

func (t *methodTally) add(r scenario.Outcome) {
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

// values adds to v
//
//	kept promises       number of kept promises
//	overhead of kept    processor time held before their work / processor time of their work
//	... in outages      numbers of requests during outages
func (t *methodTally) values(v study.Values) {
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
