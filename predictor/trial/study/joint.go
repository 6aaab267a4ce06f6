package study

import (
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/promise/joint"
	"github.com/varq-project/varq/predictor/trial/together"
	"github.com/varq-project/varq/predictor/workload"
)

// Joint is the study "joint": whether promises about two sites are kept, that a job starts at any of both by a deadline, or at
// both. "VARQ: Implementing Probabilistic Advanced Reservations for Batch-scheduled Parallel Machines" (Nurmi, Wolski and Brevik
// 2007, section 4.6) takes sites to be independent.
type Joint struct{}

const (
	jointSeeds      = 3
	jointQuickSeeds = 1
	jointEvery      = 4 // jobs of the first log for one that asks
	jointQuickJobs  = 10_000
	jointMadeUpDays = 300
	jointQuickDays  = 120
	jointMadeEvery  = 10
	jointLearning   = .1 // share of the questions, before the first that counts
	// jointShift is by how much the second log is moved for each seed, in weeks, and jointShifts how often before it
	// is back: the logs are of different years, and no shift is the right one.
	jointShift, jointShifts = 8, 5
)

// jointLog is a log, and how many of its first jobs are replayed.
type jointLog struct {
	name string
	jobs int
}

// The logs. The file of KTH has a job that ran on no processor, after the 27,000th; the jobs of SDSC span four months more.
var (
	jointKTH  = jointLog{"KTH-SP2-1996", 27_000}
	jointSDSC = jointLog{"SDSC-SP2-1998", 40_000}
)

// jointSetting is what a case asks: two logs; one log, at which two users ask; or sites that are made up.
type jointSetting struct {
	name     string
	logs     []jointLog
	troubles together.Troubles // if there is no log
}

var jointSettings = []jointSetting{
	{name: "KTH-SP2 and SDSC-SP2", logs: []jointLog{jointKTH, jointSDSC}},
	{name: "two users of KTH-SP2", logs: []jointLog{jointKTH}},
	{name: "two users of SDSC-SP2", logs: []jointLog{jointSDSC}},
	{name: "made up, each with its own troubles", troubles: together.Apart},
	{name: "made up, with common troubles", troubles: together.Common},
}

// jointMethod is a way to make a promise.
type jointMethod struct {
	name string
	prob func(*together.Outcome) float64
}

var jointMethods = []jointMethod{
	{"independence", func(o *together.Outcome) float64 { return o.Independent }},
	{"measured correlation", func(o *together.Outcome) float64 { return o.Joint }},
	{"measured and recalibrated", func(o *together.Outcome) float64 { return o.Prob }},
	{"lower bound", func(o *together.Outcome) float64 { return o.Lower }},
}

// jointBands divide promises. Those of .99 or more are left out: nearly all are about jobs that start at once.
var jointBands = [...]float64{.5, .75, .9, .95, .99}

// jointKinds are the kinds of promises.
var jointKinds = []struct {
	name string
	kind joint.Kind
}{{"any", joint.Any}, {"all", joint.All}}

func (Joint) seeds(o Options) int { return o.Repetitions(jointSeeds, jointQuickSeeds) }

// Cases implements Study.
func (s Joint) Cases(o Options) []Case {
	var cases []Case
	for seed := range s.seeds(o) {
		for _, setting := range jointSettings {
			cases = append(cases, Case{setting.name, uint64(seed) + 1})
		}
	}
	return cases
}

// Run implements Study. Its values are sums over the questions that were asked in a week, counted from the first one; "asked any
// 3" is of week 3:
//
//	asked any                        questions
//	came any                         questions that came true
//	correlation any                  measured, before it was shrunk
//	error any independence           squared errors of the probability
//	n any 2 independence             promises in the third band
//	said any 2 independence          their probabilities
//	kept any 2 independence          those that were kept
//	n each 2                         jobs whose own probability is in the third band; said each 2, kept each 2
//	n example                        questions whose jobs both start with .85 to .95, each by itself
//	said example, kept example       as above, of any of both by independence
func (Joint) Run(o Options, c Case) (Values, error) {
	i := slices.IndexFunc(jointSettings, func(s jointSetting) bool { return s.name == c.Name })
	if i < 0 {
		return nil, fmt.Errorf("joint has no case %q", c.Name)
	}
	outcomes, err := jointSettings[i].run(o, c.Seed)
	if err != nil {
		return nil, err
	}
	values := Values{}
	for _, outcome := range outcomes[int(jointLearning*float64(len(outcomes))):] {
		jointAdd(values, (outcome.At-outcomes[0].At)/Week, &outcome)
	}
	return values, nil
}

// jointAdd adds one outcome of a week to the values.
func jointAdd(values Values, week int64, o *together.Outcome) {
	add := func(x float64, format string, args ...any) {
		values[fmt.Sprintf(format+" %d", append(args, week)...)] += x
	}
	came := one(o.Came)
	kind := jointKinds[0].name
	if o.Kind == jointKinds[1].kind {
		kind = jointKinds[1].name
	}
	add(1, "asked %s", kind)
	add(came, "came %s", kind)
	add(o.Strongest.Measured, "correlation %s", kind)
	for _, m := range jointMethods {
		p := m.prob(o)
		add((p-came)*(p-came), "error %s %s", kind, m.name)
		if band := jointBand(p); band >= 0 {
			add(1, "n %s %d %s", kind, band, m.name)
			add(p, "said %s %d %s", kind, band, m.name)
			add(came, "kept %s %d %s", kind, band, m.name)
		}
	}
	if o.Kind != joint.Any {
		return
	}
	for i, p := range o.Members {
		if band := jointBand(p); band >= 0 {
			add(1, "n each %d", band)
			add(p, "said each %d", band)
			add(one(o.Met[i]), "kept each %d", band)
		}
	}
	if min(o.Members[0], o.Members[1]) >= .85 && max(o.Members[0], o.Members[1]) <= .95 {
		add(1, "n example")
		add(o.Independent, "said example")
		add(came, "kept example")
	}
}

// jointBand returns the band of a probability, or -1 if it is in none.
func jointBand(p float64) int {
	for band := range len(jointBands) - 1 {
		if p >= jointBands[band] && p < jointBands[band+1] {
			return band
		}
	}
	return -1
}

// one returns 1 if something is true, and otherwise 0.
func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func (s jointSetting) run(o Options, seed uint64) ([]together.Outcome, error) {
	if len(s.logs) == 0 {
		days := jointMadeUpDays
		if o.Quick {
			days = jointQuickDays
		}
		e := together.Experiment{Sites: together.MadeUp(s.troubles, days, seed), Every: jointMadeEvery, Seed: seed}
		return e.Run(), nil
	}
	if o.Traces == nil {
		return nil, ErrNoTraces
	}
	e := together.Experiment{Every: jointEvery, Seed: seed}
	var first [2]int64
	for i, log := range s.logs {
		jobs, err := log.read(o)
		if err != nil {
			return nil, err
		}
		e.Sites[i] = together.Forecast(jobs, o.Background)
		if len(e.Sites[i]) == 0 {
			return nil, nil
		}
		first[i] = e.Sites[i][0].Submit
	}
	// Whole weeks, so that it is Monday and night at both at the same time as it would be.
	e.Shift = ((first[0]-first[1])/Week - jointShift*(int64(seed-1)%jointShifts)) * Week
	return e.Run(), nil
}

// read returns the first jobs of the log.
func (l jointLog) read(o Options) ([]workload.Job, error) {
	most := l.jobs
	if o.Quick {
		most = jointQuickJobs
	}
	ran, err := o.Traces.Ran(l.name)
	if err != nil {
		return nil, err
	}
	var jobs []workload.Job
	for job, err := range ran {
		if err != nil {
			return nil, err
		}
		if len(jobs) == most {
			break
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}
