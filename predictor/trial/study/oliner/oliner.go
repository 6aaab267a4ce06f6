// Package oliner is the study of "Probabilistic QoS Guarantees for Supercomputing Systems" (Oliner,
// Rudolph, Sahoo, Moreira and Gupta 2005). Failures are predicted with an accuracy a, and users
// accept the earliest deadline with a probability of at least U. The study measures what jobs,
// users and the cluster gain.
package oliner

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/predictor/trial/study/oliner/qos"
)

// Study implements study.Study.
type Study struct{}

const (
	usualSeeds   = 30
	quickSeeds   = 5
	mostJobs     = 10_000 // of each log
	quickJobs    = 1500
	machineNodes = 128
	// failingSystem is the system of Los Alamos whose nodes fail in the simulation.
	failingSystem = "20"
	// paperMTBF is the mean time in seconds from one failure in the cluster to the next (section
	// 4.3).
	paperMTBF = 8.5 * 3600
	// patience is how often a job is interrupted or put off at most. In the paper's settings none
	// is so often.
	patience    = 1000
	longestSpan = study.LongestLog * 24 * 3600
)

// The paper's job logs.
const (
	nasaLog = "NASA-iPSC-1993"
	sdscLog = "SDSC-SP2-1998"
)

func logs() []string { return []string{nasaLog, sdscLog} }

// kind is a kind of settings.
type kind string

const (
	asInPaper kind = ""
	always    kind = "every checkpoint"     // every checkpoint that is requested is performed
	ownRate   kind = "Los Alamos' own rate" // failures come as in the log, and not every paperMTBF
)

// setting is the setting of a case. The case simulates it with several accuracies.
type setting struct {
	log  string
	kind kind
	u    int // U, in tenths
}

func (s setting) name() string {
	name := fmt.Sprintf("%s U=%s", s.log, tenths(s.u))
	if s.kind != asInPaper {
		name += ", " + string(s.kind)
	}
	return name
}

// tenths returns a number of tenths as text.
func tenths(n int) string { return fmt.Sprintf("%.1f", float64(n)/10) }

// figureUsers are the values of U, in tenths, with which the paper's figures vary a.
var figureUsers = []int{1, 5, 9}

// scale are the values of a and U in tenths.
func scale() []int { return []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10} }

// accuracies returns the values of a, in tenths, with which the setting is simulated: those of the
// figures.
func (s setting) accuracies() []int {
	switch {
	case s.kind != asInPaper:
		return []int{0, 10}
	case s.u == figureUsers[0], s.u == figureUsers[1], s.u == figureUsers[2]:
		return scale()
	}
	return []int{5, 10}
}

// allSettings returns all settings in order.
func allSettings(o study.Options) []setting {
	var settings []setting
	for _, log := range logs() {
		for _, u := range scale() {
			settings = append(settings, setting{log, asInPaper, u})
		}
		settings = append(settings, setting{log, always, 9})
		if o.Failures == nil {
			settings = append(settings, setting{log, ownRate, 9})
		}
	}
	return settings
}

func (Study) seeds(o study.Options) int { return o.Repetitions(usualSeeds, quickSeeds) }

// jobsCase returns the name of the case that measures the jobs of a log.
func jobsCase(log string) string { return log + " jobs" }

// Cases implements study.Study.
func (s Study) Cases(o study.Options) []study.Case {
	var cases []study.Case
	for _, log := range logs() {
		cases = append(cases, study.Case{Name: jobsCase(log), Seed: 1})
	}
	return append(cases, study.Cross(s.seeds(o), allSettings(o), setting.name)...)
}

// Run implements study.Study. The values of the jobs of a log are nodes and work (seconds), means,
// and longest (hours). Those of a setting are named "a=A MEASURE". The measures are
//
//	qos, promised         equation 2, and what it would be if no deadline had been missed
//	utilisation           share
//	lost                  node-seconds
//	goodput               work / node-seconds for which nodes had jobs
//	missed, risky         share of the jobs: missed their deadlines; had no start likely enough to
//	                      succeed
//	abandoned             number of jobs that were interrupted too often
//	interrupted           number of times that a job was interrupted
//	performed             share of the checkpoints requested, if any were
//	turnaround            seconds, mean
func (Study) Run(o study.Options, c study.Case) (study.Values, error) {
	for _, log := range logs() {
		if jobsCase(log) == c.Name {
			jobs, err := readJobs(o, log)
			return jobValues(jobs), err
		}
	}
	s, err := study.Setting("oliner", c, allSettings(o), setting.name)
	if err != nil {
		return nil, err
	}
	return s.run(o, c.Seed)
}

// readJobs returns the first jobs of a log, the first of which is submitted at 0. Processors are
// nodes. A run time of 0 is a second.
func readJobs(o study.Options, log string) ([]qos.Job, error) {
	jobs, err := study.ReadJobs(o.Traces, log, min(mostJobs, o.AtMost(quickJobs)), func(j *sched.Job) bool { return j.Procs <= machineNodes })
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

func jobValues(jobs []qos.Job) study.Values {
	var nodes, work []float64
	longest := 0.
	for _, j := range jobs {
		nodes, work = append(nodes, float64(j.Nodes)), append(work, float64(j.Work))
		longest = max(longest, float64(j.Work)/3600)
	}
	return study.Measured(study.Values{"nodes": study.Mean(nodes), "work": study.Mean(work), "longest": longest})
}

func (s setting) run(o study.Options, seed uint64) (study.Values, error) {
	jobs, err := readJobs(o, s.log)
	if err != nil {
		return nil, err
	}
	known, mtbf := o.Failures, 0.
	if known == nil {
		known = &study.NodeFailures{}
		if known.Nodes, known.Failures, err = o.Traces.Failures(failingSystem); err != nil {
			return nil, err
		}
		if s.kind != ownRate {
			mtbf = paperMTBF
		}
	}
	failures, period, err := failuresOf(known, mtbf, rand.New(rand.NewPCG(seed, 0)))
	if err != nil {
		return nil, err
	}
	checkpoint := qos.RiskBased
	if s.kind == always {
		checkpoint = qos.Always
	}
	values := study.Values{}
	for _, a := range s.accuracies() {
		r := qos.Config{
			Nodes: machineNodes, Downtime: 120, Interval: 3600, Overhead: 720,
			Failures: failures, Predictor: failures.Oracle(float64(a) / 10),
			Risk: float64(s.u) / 10, Horizon: period, Checkpoint: checkpoint, Patience: patience,
		}.Run(jobs)
		for name, v := range valuesOf(r) {
			values["a="+tenths(a)+" "+name] = v
		}
	}
	return values, nil
}

func valuesOf(r qos.Result) study.Values {
	v := study.Values{
		"qos": r.QoS, "promised": r.Promised, "utilisation": r.Utilisation, "lost": r.Lost, "goodput": r.Work / r.Occupied,
		"missed": float64(r.Missed) / float64(r.Jobs), "risky": float64(r.Risky) / float64(r.Jobs),
		"abandoned": float64(r.Abandoned), "interrupted": float64(r.Interrupted), "turnaround": r.Turnaround,
	}
	if r.Requested > 0 {
		v["performed"] = float64(r.Performed) / float64(r.Requested)
	}
	return study.Measured(v)
}

// failuresOf returns the failures of the first machineNodes nodes of a system, and the period in
// seconds after which they come again: that of the log and a mean time between failures. Time is
// stretched so that this mean is mtbf, unless that is 0. Chance numbers the nodes, moves the
// beginning to any time in the period, and draws the detectabilities.
func failuresOf(f *study.NodeFailures, mtbf float64, chance *rand.Rand) (*qos.Log, int64, error) {
	numbers := map[string]int{}
	permutation := chance.Perm(machineNodes)
	for i, node := range f.Nodes[:min(len(f.Nodes), machineNodes)] {
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
	if times[last]-times[0] > longestSpan {
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
