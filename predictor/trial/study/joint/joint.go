// Package joint is the study "joint". It tests whether promises about two sites are kept: that a
// job starts by a deadline at one of two sites at least, or at both. "VARQ: Implementing
// Probabilistic Advanced Reservations for Batch-scheduled Parallel Machines" (Nurmi, Wolski and
// Brevik 2007, section 4.6) assumes that sites are independent.
package joint

import (
	"fmt"

	"github.com/varq-project/varq/predictor/promise/joint"
	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/predictor/trial/study/joint/together"
	"github.com/varq-project/varq/predictor/workload"
)

// Study implements study.Study.
type Study struct{}

const (
	usualSeeds  = 3
	quickSeeds  = 1
	askEvery    = 4 // jobs of the first log for one that asks
	quickJobs   = 10_000
	madeUpDays  = 300
	quickDays   = 120
	madeUpEvery = 10
	learning    = .1 // share of the questions, before the first that counts
	// shift is by how much the second log is moved for each seed, in weeks, and shifts how often
	// before it is back: the logs are of different years, and no shift is the right one.
	shift, shifts = 8, 5
)

// firstJobs is a log, and how many of its first jobs are replayed.
type firstJobs struct {
	name string
	jobs int
}

// The logs. The file of KTH has a job that ran on no processor, after the 27,000th; the jobs of
// SDSC span four months more.
var (
	kth  = firstJobs{"KTH-SP2-1996", 27_000}
	sdsc = firstJobs{"SDSC-SP2-1998", 40_000}
)

// setting is what a case asks: two logs; one log, at which two users ask; or sites that are made
// up.
type setting struct {
	name     string
	logs     []firstJobs
	troubles together.Troubles // if there is no log
}

var settings = []setting{
	{name: "KTH-SP2 and SDSC-SP2", logs: []firstJobs{kth, sdsc}},
	{name: "two users of KTH-SP2", logs: []firstJobs{kth}},
	{name: "two users of SDSC-SP2", logs: []firstJobs{sdsc}},
	{name: "made up, each with its own troubles", troubles: together.Apart},
	{name: "made up, with common troubles", troubles: together.Common},
}

// method is a way to make a promise.
type method struct {
	name string
	prob func(*together.Outcome) float64
}

var methods = []method{
	{"independence", func(o *together.Outcome) float64 { return o.Independent }},
	{"measured correlation", func(o *together.Outcome) float64 { return o.Joint }},
	{"measured and recalibrated", func(o *together.Outcome) float64 { return o.Prob }},
	{"lower bound", func(o *together.Outcome) float64 { return o.Lower }},
}

// bands divide promises. Those of .99 or more are left out: nearly all are about jobs that start at
// once.
var bands = [...]float64{.5, .75, .9, .95, .99}

// kinds are the kinds of promises.
var kinds = []struct {
	name string
	kind joint.Kind
}{{"any", joint.Any}, {"all", joint.All}}

func (Study) seeds(o study.Options) int { return o.Repetitions(usualSeeds, quickSeeds) }

// Cases implements study.Study.
func (s Study) Cases(o study.Options) []study.Case {
	return study.Cross(s.seeds(o), settings, nameOf)
}

func nameOf(s setting) string { return s.name }

// Run implements study.Study. Its values are sums over the questions that were asked in a week,
// counted from the first one; "asked any 3" is of week 3:
//
//	asked any                        questions
//	came any                         questions that came true
//	correlation any                  measured, before it was shrunk
//	error any independence           squared errors of the probability
//	n any 2 independence             promises in the third band
//	said any 2 independence          their probabilities
//	kept any 2 independence          those that were kept
//	n each 2                         jobs whose own probability is in the third band; said each 2,
//	                                 kept each 2
//	n example                        questions whose jobs both start with .85 to .95, each by itself
//	said example, kept example       as above, of any of both by independence
func (Study) Run(o study.Options, c study.Case) (study.Values, error) {
	setting, err := study.Setting("joint", c, settings, nameOf)
	if err != nil {
		return nil, err
	}
	outcomes, err := setting.run(o, c.Seed)
	if err != nil {
		return nil, err
	}
	values := study.Values{}
	for _, outcome := range outcomes[int(learning*float64(len(outcomes))):] {
		tally(values, (outcome.At-outcomes[0].At)/study.Week, &outcome)
	}
	return values, nil
}

// tally adds one outcome of a week to the values.
func tally(values study.Values, week int64, o *together.Outcome) {
	add := func(x float64, format string, args ...any) {
		values[fmt.Sprintf(format+" %d", append(args, week)...)] += x
	}
	came := one(o.Came)
	kind := kinds[0].name
	if o.Kind == kinds[1].kind {
		kind = kinds[1].name
	}
	add(1, "asked %s", kind)
	add(came, "came %s", kind)
	add(o.Strongest.Measured, "correlation %s", kind)
	for _, m := range methods {
		p := m.prob(o)
		add((p-came)*(p-came), "error %s %s", kind, m.name)
		if band := bandOf(p); band >= 0 {
			add(1, "n %s %d %s", kind, band, m.name)
			add(p, "said %s %d %s", kind, band, m.name)
			add(came, "kept %s %d %s", kind, band, m.name)
		}
	}
	if o.Kind != joint.Any {
		return
	}
	for i, p := range o.Members {
		if band := bandOf(p); band >= 0 {
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

// bandOf returns the band of a probability, or -1 if it is in none.
func bandOf(p float64) int {
	for band := range len(bands) - 1 {
		if p >= bands[band] && p < bands[band+1] {
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

func (s setting) run(o study.Options, seed uint64) ([]together.Outcome, error) {
	if len(s.logs) == 0 {
		days := madeUpDays
		if o.Quick {
			days = quickDays
		}
		e := together.Experiment{Sites: together.MadeUp(s.troubles, days, seed), Every: madeUpEvery, Seed: seed}
		return e.Run(), nil
	}
	if o.Traces == nil {
		return nil, study.ErrNoTraces
	}
	e := together.Experiment{Every: askEvery, Seed: seed}
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
	e.Shift = ((first[0]-first[1])/study.Week - shift*(int64(seed-1)%shifts)) * study.Week
	return e.Run(), nil
}

// read returns the first jobs of the log.
func (l firstJobs) read(o study.Options) ([]workload.Job, error) {
	most := l.jobs
	if o.Quick {
		most = quickJobs
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
