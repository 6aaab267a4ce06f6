package study

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/trial/qos"
)

// Oliner is the study of "Probabilistic QoS Guarantees for Supercomputing Systems" (Oliner, Rudolph,
// Sahoo, Moreira and Gupta 2005): what jobs, their users and the cluster gain if failures are foretold
// with an accuracy a, and users accept the earliest deadline with a probability of at least U.
type Oliner struct{}

const (
	olinerSeeds      = 30
	olinerQuickSeeds = 5
	olinerJobs       = 10_000 // of each log
	olinerQuickJobs  = 1500
	olinerNodes      = 128
	// olinerSystem is the system of Los Alamos whose nodes fail in the simulation.
	olinerSystem = "20"
	// olinerMTBF is the mean time in seconds from one failure in the cluster to the next (section 4.3).
	olinerMTBF = 8.5 * 3600
	// olinerPatience is how often a job is interrupted or put off at most. In the paper's settings none is
	// so often.
	olinerPatience = 1000
	olinerSpan     = LongestLog * 24 * 3600
)

// The paper's job logs.
const (
	olinerNASA = "NASA-iPSC-1993"
	olinerSDSC = "SDSC-SP2-1998"
)

func olinerLogs() []string { return []string{olinerNASA, olinerSDSC} }

// olinerKind is a kind of settings.
type olinerKind string

const (
	olinerPaper   olinerKind = ""
	olinerAlways  olinerKind = "every checkpoint"     // every checkpoint that is requested is performed
	olinerOwnRate olinerKind = "Los Alamos' own rate" // failures come as in the log, and not every olinerMTBF
)

// olinerSetting is the setting of a case. The case simulates it with several accuracies.
type olinerSetting struct {
	log  string
	kind olinerKind
	u    int // U, in tenths
}

func (s olinerSetting) name() string {
	name := fmt.Sprintf("%s U=%s", s.log, tenths(s.u))
	if s.kind != olinerPaper {
		name += ", " + string(s.kind)
	}
	return name
}

// tenths returns a number of tenths as text.
func tenths(n int) string { return fmt.Sprintf("%.1f", float64(n)/10) }

// olinerUsers are the values of U, in tenths, with which the paper's figures vary a.
var olinerUsers = []int{1, 5, 9}

// olinerScale are the values of a and U in tenths.
func olinerScale() []int { return []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10} }

// accuracies returns the values of a, in tenths, with which the setting is simulated: those of the
// figures.
func (s olinerSetting) accuracies() []int {
	switch {
	case s.kind != olinerPaper:
		return []int{0, 10}
	case s.u == olinerUsers[0], s.u == olinerUsers[1], s.u == olinerUsers[2]:
		return olinerScale()
	}
	return []int{5, 10}
}

// olinerSettings returns all settings in order.
func olinerSettings(o Options) []olinerSetting {
	var settings []olinerSetting
	for _, log := range olinerLogs() {
		for _, u := range olinerScale() {
			settings = append(settings, olinerSetting{log, olinerPaper, u})
		}
		settings = append(settings, olinerSetting{log, olinerAlways, 9})
		if o.Failures == nil {
			settings = append(settings, olinerSetting{log, olinerOwnRate, 9})
		}
	}
	return settings
}

func (Oliner) seeds(o Options) int { return o.Repetitions(olinerSeeds, olinerQuickSeeds) }

// olinerJobsCase returns the name of the case that measures the jobs of a log.
func olinerJobsCase(log string) string { return log + " jobs" }

// Cases implements Study.
func (s Oliner) Cases(o Options) []Case {
	var cases []Case
	for _, log := range olinerLogs() {
		cases = append(cases, Case{olinerJobsCase(log), 1})
	}
	for seed := range s.seeds(o) {
		for _, setting := range olinerSettings(o) {
			cases = append(cases, Case{setting.name(), uint64(seed) + 1})
		}
	}
	return cases
}

// Run implements Study. The values of the jobs of a log are nodes and work (seconds), means, and
// longest (hours). Those of a setting are named "a=A MEASURE". The measures are
//
//	qos, promised         equation 2, and what it would be if no deadline had been missed
//	utilisation           share
//	lost                  node-seconds
//	goodput               work / node-seconds for which nodes had jobs
//	missed, risky         share of the jobs: missed their deadlines; had no start likely enough to succeed
//	abandoned             number of jobs that were interrupted too often
//	interrupted           number of times that a job was interrupted
//	performed             share of the checkpoints requested, if any were
//	turnaround            seconds, mean
func (Oliner) Run(o Options, c Case) (Values, error) {
	for _, log := range olinerLogs() {
		if olinerJobsCase(log) == c.Name {
			jobs, err := olinerRead(o, log)
			return olinerJobValues(jobs), err
		}
	}
	for _, s := range olinerSettings(o) {
		if s.name() == c.Name {
			return s.run(o, c.Seed)
		}
	}
	return nil, fmt.Errorf("oliner has no case %q", c.Name)
}

// olinerRead returns the first jobs of a log, the first of which is submitted at 0. Processors are
// nodes. A run time of 0 is a second.
func olinerRead(o Options, log string) ([]qos.Job, error) {
	jobs, err := ReadJobs(o.Traces, log, min(olinerJobs, o.AtMost(olinerQuickJobs)), func(j *sched.Job) bool { return j.Procs <= olinerNodes })
	if err != nil {
		return nil, err
	}
	var all []qos.Job
	first := int64(0)
	for j, err := range jobs {
		if err != nil {
			return nil, err
		}
		if all == nil {
			first = j.Submit
		}
		all = append(all, qos.Job{Submit: j.Submit - first, Work: max(1, j.Run), Nodes: int(j.Procs)})
	}
	return all, nil
}

func olinerJobValues(jobs []qos.Job) Values {
	var nodes, work []float64
	longest := 0.
	for _, j := range jobs {
		nodes, work = append(nodes, float64(j.Nodes)), append(work, float64(j.Work))
		longest = max(longest, float64(j.Work)/3600)
	}
	return Measured(Values{"nodes": Mean(nodes), "work": Mean(work), "longest": longest})
}

func (s olinerSetting) run(o Options, seed uint64) (Values, error) {
	jobs, err := olinerRead(o, s.log)
	if err != nil {
		return nil, err
	}
	known, mtbf := o.Failures, 0.
	if known == nil {
		known = &NodeFailures{}
		if known.Nodes, known.Failures, err = o.Traces.Failures(olinerSystem); err != nil {
			return nil, err
		}
		if s.kind != olinerOwnRate {
			mtbf = olinerMTBF
		}
	}
	failures, period, err := olinerFailures(known, mtbf, rand.New(rand.NewPCG(seed, 0)))
	if err != nil {
		return nil, err
	}
	checkpoint := qos.RiskBased
	if s.kind == olinerAlways {
		checkpoint = qos.Always
	}
	values := Values{}
	for _, a := range s.accuracies() {
		r := qos.Config{
			Nodes: olinerNodes, Downtime: 120, Interval: 3600, Overhead: 720,
			Failures: failures, Predictor: failures.Oracle(float64(a) / 10),
			Risk: float64(s.u) / 10, Horizon: period, Checkpoint: checkpoint, Patience: olinerPatience,
		}.Run(jobs)
		for name, v := range olinerValues(r) {
			values["a="+tenths(a)+" "+name] = v
		}
	}
	return values, nil
}

func olinerValues(r qos.Result) Values {
	v := Values{
		"qos": r.QoS, "promised": r.Promised, "utilisation": r.Utilisation, "lost": r.Lost, "goodput": r.Work / r.Occupied,
		"missed": float64(r.Missed) / float64(r.Jobs), "risky": float64(r.Risky) / float64(r.Jobs),
		"abandoned": float64(r.Abandoned), "interrupted": float64(r.Interrupted), "turnaround": r.Turnaround,
	}
	if r.Requested > 0 {
		v["performed"] = float64(r.Performed) / float64(r.Requested)
	}
	return Measured(v)
}

// olinerFailures returns the failures of the first olinerNodes nodes of a system, and the period in
// seconds after which they come again: that of the log and a mean time between failures. Time is
// stretched so that this mean is mtbf, unless that is 0. Chance numbers the nodes, moves the beginning
// to any time in the period, and draws the detectabilities.
func olinerFailures(f *NodeFailures, mtbf float64, chance *rand.Rand) (*qos.Log, int64, error) {
	numbers := map[string]int{}
	permutation := chance.Perm(olinerNodes)
	for i, node := range f.Nodes[:min(len(f.Nodes), olinerNodes)] {
		numbers[node] = permutation[i]
	}
	var times []float64
	var nodes []int
	for _, failure := range f.Failures {
		if node, ok := numbers[failure.Node]; ok {
			times, nodes = append(times, float64(failure.Down)), append(nodes, node)
		}
	}
	last := len(times) - 1
	if last < 1 || times[last] == times[0] {
		return nil, 0, errors.New("the log of failures has fewer than two times at which nodes failed")
	}
	if times[last]-times[0] > olinerSpan {
		return nil, 0, errors.New("the log of failures spans more than 100 years")
	}
	stretch := 1.
	if mtbf > 0 {
		stretch = mtbf * float64(last) / (times[last] - times[0])
	}
	period := int64((times[last] - times[0]) * stretch * float64(last+1) / float64(last))
	begin := chance.Int64N(period)
	var log []qos.Failure
	for i, node := range nodes {
		at := int64((times[i] - times[0]) * stretch)
		log = append(log, qos.Failure{At: (at - begin + period) % period, Node: node, Detectability: chance.Float64()})
	}
	return qos.NewLog(log, period), period, nil
}
