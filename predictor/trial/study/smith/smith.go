// Package smith is the study of "Scheduling with Advanced Reservations" (Smith, Foster and Taylor
// 2000). It measures what hard reservations cost the jobs that do not reserve, and how close the
// reserved start times are to the times asked for.
package smith

import (
	"fmt"
	"iter"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/walltime"
	"github.com/varq-project/varq/predictor/trial/scenario"
	"github.com/varq-project/varq/predictor/trial/study"
)

// Study implements study.Study.
type Study struct{}

const (
	usualSeeds = 5
	quickSeeds = 2
	quickJobs  = 3000 // of each log
	// longestAhead is the longest time in seconds between a submission and the start that
	// a hard reservation asks for (section 2.2), and the interval of VARQ's deadlines.
	longestAhead = 2 * 3600
)

// jobLog is a workload of the paper's Table 1.
type jobLog struct {
	name  string
	procs int32 // nodes of the paper's machine
	// limits sets the job's maximum run time, and reports whether the job is simulated.
	limits func(*sched.Job) bool
}

var jobLogs = []jobLog{
	{"CTC-SP2-1996", 512, func(*sched.Job) bool { return true }},
	{"SDSC-Par-1996", 400, paragonLimits},
}

// paragonLimits sets the maximum run time of a job of SDSC's Paragon by its queue. The
// maximum is 1, 4 or 12 hours in queues whose name ends in s, m or l, 12 hours in standby,
// and 48 hours in the one-node queue "ll". The log agrees: 1 to 5 % of the jobs end within
// minutes after these times, and hardly any job runs longer. A job that did run longer gets
// its own run time as the limit. Interactive sessions have no queue and no limit, and are
// not simulated.
func paragonLimits(j *sched.Job) bool {
	const interactive, shortest, short, medium, q1ll, q320m = 0, 1, 10, 18, 30, 31
	hours := int64(12)
	switch {
	case j.Queue == interactive:
		return false
	case j.Queue >= shortest && j.Queue <= short:
		hours = 1
	case j.Queue > short && j.Queue <= medium, j.Queue == q320m:
		hours = 4
	case j.Queue == q1ll:
		hours = 48
	}
	j.Limit = max(j.Run, hours*3600)
	return true
}

// jobs reads the jobs of the log.
func (l *jobLog) jobs(o study.Options) (iter.Seq2[sched.Job, error], error) {
	return study.ReadJobs(o.Traces, l.name, o.AtMost(quickJobs), l.limits)
}

// policy is a scheduling policy.
type policy struct {
	order    sched.Order
	backfill sched.Backfill
}

// allPolicies returns the policies of section 2.1, then those with another reading of its
// backfilling.
func allPolicies() []policy {
	var policies []policy
	for _, b := range []sched.Backfill{sched.NoBackfill, sched.Timeline, sched.Conservative} {
		policies = append(policies, policy{sched.FCFS(), b}, policy{sched.LWF(), b})
	}
	return policies
}

// reservingShares are the shares of the jobs that reserve, in per cent.
var reservingShares = []int{10, 20}

// kind is a kind of reservations.
type kind struct {
	name         string
	reservations func(share float64) scenario.Reservations // for a share of the jobs
	// the scheduler plans with predicted run times
	predicted bool
}

// noReservations is the baseline: no reservations.
var noReservations = kind{name: "none", reservations: func(float64) scenario.Reservations { return scenario.Reservations{} }}

// hardKind returns hard reservations that may not delay the first part of the queue.
// protected is that part in per cent.
func hardKind(protected int) kind {
	return kind{name: fmt.Sprintf("hard protected=%d%%", protected), reservations: func(share float64) scenario.Reservations {
		return scenario.Reservations{Hard: &scenario.Hard{Share: share, Ahead: longestAhead, Protected: float64(protected) / 100}}
	}}
}

// restartKind returns hard reservations for which running jobs are stopped, at the price
// a N Tp + (a - 1) N Tf. tenths is 10 a. The scheduler plans with predicted run times
// (section 4.1).
func restartKind(tenths int) kind {
	a := float64(tenths) / 10
	return kind{name: fmt.Sprintf("restart a=%.1f", a), predicted: true, reservations: func(share float64) scenario.Reservations {
		return scenario.Reservations{Hard: &scenario.Hard{Share: share, Ahead: longestAhead, Protected: 1, Restart: &sched.Restart{A: a, B: a - 1}}}
	}}
}

// varqKind returns VARQ's reservations with a success probability, in per cent.
func varqKind(prob int) kind {
	return kind{name: fmt.Sprintf("varq prob=%d%%", prob), reservations: func(share float64) scenario.Reservations {
		return scenario.Reservations{VARQ: &scenario.VARQ{Share: share, Prob: float64(prob) / 100, Every: longestAhead}}
	}}
}

// The parameters of the kinds: protected and prob in per cent, a in tenths.
var (
	protectedParts = []int{100, 50, 0}
	askedProbs     = []int{50, 95}
	restartAs      = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
)

// kinds returns the kinds that are simulated under a policy. Under the other reading of
// backfilling only the two main kinds are simulated.
func (p policy) kinds() []kind {
	if p.backfill == sched.Conservative {
		return []kind{noReservations, hardKind(100)}
	}
	kinds := []kind{noReservations}
	for _, protected := range protectedParts {
		kinds = append(kinds, hardKind(protected))
	}
	for _, a := range restartAs {
		kinds = append(kinds, restartKind(a))
	}
	for _, prob := range askedProbs {
		kinds = append(kinds, varqKind(prob))
	}
	return kinds
}

// setting is the setting of a case. The case simulates it with each kind of
// reservations.
type setting struct {
	log    *jobLog
	policy policy
	share  int // per cent of the jobs that reserve
}

func (s setting) name() string {
	return fmt.Sprintf("%s %s %s %d%%", s.log.name, s.policy.order.Name, s.policy.backfill, s.share)
}

// allSettings returns all settings in order.
func allSettings() []setting {
	var settings []setting
	for i := range jobLogs {
		for _, policy := range allPolicies() {
			for _, share := range reservingShares {
				settings = append(settings, setting{&jobLogs[i], policy, share})
			}
		}
	}
	return settings
}

func (Study) seeds(o study.Options) int { return o.Repetitions(usualSeeds, quickSeeds) }

// Cases implements study.Study.
func (s Study) Cases(o study.Options) []study.Case {
	var cases []study.Case
	for i := range jobLogs {
		cases = append(cases, study.Case{Name: jobLogs[i].runTimesCase(), Seed: 1})
	}
	return append(cases, study.Cross(s.seeds(o), allSettings(), setting.name)...)
}

// Run implements study.Study. Values of a setting are named "KIND MEASURE".
func (Study) Run(o study.Options, c study.Case) (study.Values, error) {
	for i := range jobLogs {
		if jobLogs[i].runTimesCase() == c.Name {
			return jobLogs[i].scoreRunTimes(o)
		}
	}
	s, err := study.Setting("smith", c, allSettings(), setting.name)
	if err != nil {
		return nil, err
	}
	return s.run(o, c.Seed)
}

func (s setting) run(o study.Options, seed uint64) (study.Values, error) {
	jobs, err := s.log.jobs(o)
	if err != nil {
		return nil, err
	}
	share := float64(s.share) / 100
	values := study.Values{}
	for _, kind := range s.policy.kinds() {
		sc := scenario.Scenario{
			Procs: s.log.procs, Order: s.policy.order, Backfill: s.policy.backfill,
			Reservations: kind.reservations(share), Aside: share, Seed: seed,
		}
		if kind.predicted {
			sc.Estimator = &walltime.Predictor{}
		}
		r, err := sc.Run(jobs, scenario.Callbacks{})
		if err != nil {
			return nil, err
		}
		for measure, v := range study.ValuesOf(r) {
			values[kind.name+" "+measure] = v
		}
	}
	return values, nil
}
