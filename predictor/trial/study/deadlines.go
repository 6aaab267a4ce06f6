package study

import (
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/trial/deadline"
	"github.com/varq-project/varq/predictor/workload"
)

// Deadlines is the study "deadlines": whether ends are promised better by distributions than by point estimates of waits and
// run times, by users' limits, or by Slurm's --deadline. Its measures are those of "3Sigma: Distribution-based Cluster
// Scheduling for Runtime Uncertainty" (Park et al. 2018, section 5): deadlines missed, goodput, and the latency of the other jobs.
type Deadlines struct{}

const (
	deadlinesShare      = .5
	deadlinesJobs       = 12_000 // of each log
	deadlinesLearning   = .25    // share of the jobs, before the first deadline
	deadlinesSeeds      = 3
	deadlinesQuickSeeds = 1
	deadlinesQuickJobs  = 3000
)

// deadlinesLogs are the logs that are simulated: those with users' limits, and with the users' names.
var deadlinesLogs = []string{"CTC-SP2-1996", "SDSC-SP2-1998", "KTH-SP2-1996", "SDSC-BLUE-2000"}

// deadlinesDue is a way to draw deadlines.
type deadlinesDue struct {
	name string
	due  deadline.Due
}

// deadlinesDues has the paper's first.
var deadlinesDues = []deadlinesDue{
	{"the run time and 20 to 80 % of it", deadline.Slack(.2, .4, .6, .8)},
	{"1 to 24 hours", deadline.After(3600, 2*3600, 4*3600, 8*3600, 12*3600, 24*3600)},
}

// deadlinesAdmission is a way to decide which ends are promised.
type deadlinesAdmission struct {
	name string
	deadline.Admission
}

const (
	byPoints = "point estimates"
	byMedian = "distributions, .5" // which promise about as much as points do
)

func deadlinesAdmissions() []deadlinesAdmission {
	return []deadlinesAdmission{
		{"everything", deadline.Everybody()},
		{"Slurm's --deadline", deadline.SlurmDeadline()},
		{"limits", deadline.Limits()},
		{byPoints, deadline.Points()},
		{byMedian, deadline.Distribution(.5)},
		{"distributions, .75", deadline.Distribution(.75)},
		{"distributions, .9", deadline.Distribution(.9)},
	}
}

// deadlinesCase is the setting of a case.
type deadlinesCase struct {
	log       string
	due       deadlinesDue
	admission deadlinesAdmission
}

func (c deadlinesCase) name() string {
	return strings.Join([]string{c.log, "due after " + c.due.name, c.admission.name}, ", ")
}

func deadlinesCases() []deadlinesCase {
	var cases []deadlinesCase
	for _, log := range deadlinesLogs {
		for _, due := range deadlinesDues {
			for _, admission := range deadlinesAdmissions() {
				cases = append(cases, deadlinesCase{log, due, admission})
			}
		}
	}
	return cases
}

func (Deadlines) seeds(o Options) int { return o.Repetitions(deadlinesSeeds, deadlinesQuickSeeds) }

// Cases implements Study.
func (s Deadlines) Cases(o Options) []Case {
	var cases []Case
	for seed := range s.seeds(o) {
		for _, c := range deadlinesCases() {
			cases = append(cases, Case{c.name(), uint64(seed) + 1})
		}
	}
	return cases
}

// Run implements Study. Its values are sums over the jobs that were submitted in a week, counted from the first
// job on; "asked 3" is of week 3:
//
//	asked, asked work         jobs with a deadline that do not reach their limits, and their processor seconds
//	promised                  of these, the jobs to which the end was promised
//	missed                    of these, those that did not end in time, and those of them that were withdrawn: withdrawn
//	kept work                 processor seconds of those that ended in time
//	others, latency           jobs without a deadline, and the seconds from their submissions to their ends
func (Deadlines) Run(o Options, c Case) (Values, error) {
	for _, d := range deadlinesCases() {
		if d.name() == c.Name {
			return d.run(o, c.Seed)
		}
	}
	return nil, fmt.Errorf("deadlines has no case %q", c.Name)
}

func (c deadlinesCase) run(o Options, seed uint64) (Values, error) {
	if o.Traces == nil {
		return nil, ErrNoTraces
	}
	e := deadline.Experiment{Share: deadlinesShare, Due: c.due.due, Seed: seed, Background: o.Background}
	request, err := o.Traces.Requests(c.log)
	if err != nil {
		return nil, err
	}
	e.Request = func(j *sched.Job) workload.Request {
		r := request(j)
		r.Partition = "" // there is one pool
		return r
	}
	jobs, procs, err := c.jobs(o)
	if err != nil {
		return nil, err
	}
	e.Procs, e.Learning = procs, int(deadlinesLearning*float64(len(jobs)))
	values := Values{}
	for _, out := range e.Run(jobs, c.admission.Admission) {
		n := (out.Submit - jobs[0].Submit) / Week
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

// jobs returns the first jobs of the log, and the number of processors of its machine.
func (c deadlinesCase) jobs(o Options) (jobs []sched.Job, procs int32, err error) {
	most := deadlinesJobs
	if o.Quick {
		most = deadlinesQuickJobs
	}
	log, procs, err := o.Traces.Open(c.log)
	if err != nil {
		return nil, 0, err
	}
	for job, err := range log {
		if err != nil {
			return nil, 0, err
		}
		if len(jobs) == most {
			break
		}
		jobs = append(jobs, job)
	}
	return jobs, procs, nil
}
