// Package deadlines is the study "deadlines". It compares four ways to decide which ends are
// promised: distributions of waits and run times, point estimates of them, users' limits, and
// Slurm's --deadline. Its measures are those of "3Sigma: Distribution-based Cluster Scheduling for
// Runtime Uncertainty" (Park et al. 2018, section 5): deadlines missed, goodput, and the latency of
// the other jobs.
package deadlines

import (
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/predictor/trial/study/deadlines/deadline"
)

// Study implements study.Study.
type Study struct{}

const (
	askedShare = .5
	mostJobs   = 12_000 // of each log
	learning   = .25    // share of the jobs, before the first deadline
	usualSeeds = 3
	quickSeeds = 1
	quickJobs  = 3000
)

// logs are the logs that are simulated: those with users' limits, and with the users' names.
var logs = []string{"CTC-SP2-1996", "SDSC-SP2-1998", "KTH-SP2-1996", "SDSC-BLUE-2000"}

// dueTime is a way to draw deadlines.
type dueTime struct {
	name string
	due  deadline.Due
}

// dueTimes has the paper's first.
var dueTimes = []dueTime{
	{"the run time and 20 to 80 % of it", deadline.Slack(.2, .4, .6, .8)},
	{"1 to 24 hours", deadline.After(3600, 2*3600, 4*3600, 8*3600, 12*3600, 24*3600)},
}

// admission is a way to decide which ends are promised.
type admission struct {
	name string
	deadline.Admission
}

const (
	byPoints = "point estimates"
	byMedian = "distributions, .5" // which promise about as much as points do
)

func admissions() []admission {
	return []admission{
		{"everything", deadline.Everybody()},
		{"Slurm's --deadline", deadline.SlurmDeadline()},
		{"limits", deadline.Limits()},
		{byPoints, deadline.Points()},
		{byMedian, deadline.Distribution(.5)},
		{"distributions, .75", deadline.Distribution(.75)},
		{"distributions, .9", deadline.Distribution(.9)},
	}
}

// setting is the setting of a case.
type setting struct {
	log       string
	due       dueTime
	admission admission
}

func (c setting) name() string {
	return strings.Join([]string{c.log, "due after " + c.due.name, c.admission.name}, ", ")
}

func settings() []setting {
	var cases []setting
	for _, log := range logs {
		for _, due := range dueTimes {
			for _, admission := range admissions() {
				cases = append(cases, setting{log, due, admission})
			}
		}
	}
	return cases
}

func (Study) seeds(o study.Options) int { return o.Repetitions(usualSeeds, quickSeeds) }

// Cases implements study.Study.
func (s Study) Cases(o study.Options) []study.Case {
	return study.Cross(s.seeds(o), settings(), setting.name)
}

// Run implements study.Study. Its values are sums over the jobs that were submitted in a week,
// counted from the first job on; "asked 3" is of week 3:
//
//	asked, asked work         jobs with a deadline that do not reach their limits, and their
//	                          processor seconds
//	promised                  of these, the jobs to which the end was promised
//	missed                    of these, those that did not end in time, and those of them that were
//	                          withdrawn: withdrawn
//	kept work                 processor seconds of those that ended in time
//	others, latency           jobs without a deadline, and the seconds from their submissions to
//	                          their ends
func (Study) Run(o study.Options, c study.Case) (study.Values, error) {
	s, err := study.Setting("deadlines", c, settings(), setting.name)
	if err != nil {
		return nil, err
	}
	return s.run(o, c.Seed)
}

func (c setting) run(o study.Options, seed uint64) (study.Values, error) {
	most := mostJobs
	if o.Quick {
		most = quickJobs
	}
	pool, err := o.Pool(c.log, most)
	if err != nil {
		return nil, err
	}
	e := deadline.Experiment{Procs: pool.Procs, Learning: int(learning * float64(len(pool.Jobs))), Share: askedShare, Due: c.due.due, Request: pool.Request, Seed: seed, Background: o.Background}
	values := study.Values{}
	for _, out := range e.Run(pool.Jobs, c.admission.Admission) {
		n := (out.Submit - pool.Jobs[0].Submit) / study.Week
		add := func(name string, x float64) { values[fmt.Sprintf("%s %d", name, n)] += x }
		work := float64(out.Run) * float64(out.Procs)
		switch {
		case out.Due == 0:
			add("others", 1)
			add("latency", float64(out.End-out.Submit))
			continue
		case out.TimedOut:
			continue
		}
		add("asked", 1)
		add("asked work", work)
		switch {
		case !out.Promised:
			continue
		case out.Withdrawn:
			add("withdrawn", 1)
			add("missed", 1)
		case out.End > out.Due:
			add("missed", 1)
		default:
			add("kept work", work)
		}
		add("promised", 1)
	}
	return values, nil
}
