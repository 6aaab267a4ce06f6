// Package checkpoints is the study "checkpoints". It combines a real log of jobs with a real log of
// failures, and compares rules for checkpoints by the costs of the checkpoints and of the work
// lost. The rules are varq's advice, the rule of "Probabilistic QoS Guarantees for Supercomputing
// Systems" (Oliner et al. 2005, equation 1), Young's and Daly's intervals, and SCR's settings.
package checkpoints

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/promise/checkpoint"
	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/predictor/trial/study/checkpoints/replay"
)

// Study implements study.Study.
type Study struct{}

const (
	jobLog        = "SDSC-SP2-1998"
	failingSystem = "20"       // of Los Alamos
	learnt        = .6         // of the time of the failures, before the first job
	shortestRun   = 3600       // seconds that a job runs
	lastStart     = study.Week // seconds before the last failure, by which the last job starts
	usualSeeds    = 5
	quickSeeds    = 1
	quickWeeks    = 20
)

// otherSystems are systems on which fewer cells are tried.
var otherSystems = []string{"18", "19"}

// cell is a system whose nodes fail, a cost of a checkpoint, and an interval between requests, both
// in seconds.
type cell struct {
	system         string
	cost, interval int64
}

func allCells() []cell {
	var cells []cell
	for _, interval := range []int64{3600, 600} {
		for _, cost := range []int64{60, 300, 720, 1800} {
			cells = append(cells, cell{failingSystem, cost, interval})
		}
	}
	for _, system := range otherSystems {
		cells = append(cells, cell{system, 60, 3600}, cell{system, 720, 3600})
	}
	return cells
}

func (c cell) name() string {
	return fmt.Sprintf("system %s C=%d I=%d", c.system, c.cost, c.interval)
}

// namedRule is a way to decide.
type namedRule struct {
	name string
	replay.Contender
}

// The predictors of the rules, by their index.
const (
	evenRate = iota // of all nodes together, from all of the past
	varqRisk        // of fault.Model
)

const (
	lookAhead     = "varq's"
	noCheckpoints = "none"
)

// allRules returns the rules. Young's, Daly's and SCR's know the mean time between failures of all
// nodes, and SCR's variables are set anew at each request to what Daly's interval comes to. Told
// varq's risk, Daly's takes that of the next day for that of any day.
func allRules() []namedRule {
	rule := func(name string, rule checkpoint.Rule, predictor int) namedRule {
		return namedRule{name, replay.Contender{Rule: rule, Predictor: predictor}}
	}
	gap := func(r *checkpoint.Request) float64 { return checkpoint.Daly(r.Cost, 1/r.Hazard.Rate()) }
	percent := func(r *checkpoint.Request) float64 { return 100 * r.Cost / (gap(r) + r.Cost) }
	daily := func(r *checkpoint.Request) bool {
		lasting := *r
		lasting.Hazard = checkpoint.Constant(-math.Log1p(-r.Hazard.Within(study.Day)) / study.Day)
		return checkpoint.EveryDaly(&lasting)
	}
	return []namedRule{
		rule(noCheckpoints, checkpoint.Never, evenRate),
		rule("equation 1", checkpoint.Equation1, evenRate),
		rule("Young", checkpoint.EveryYoung, evenRate),
		rule("Daly", checkpoint.EveryDaly, evenRate),
		rule("SCR_CHECKPOINT_SECONDS", checkpoint.SCRSeconds(gap), evenRate),
		rule("SCR_CHECKPOINT_OVERHEAD", checkpoint.SCROverhead(percent), evenRate),
		rule("marginal", checkpoint.Marginal, evenRate),
		rule("equation 1, told varq's risk", checkpoint.Equation1, varqRisk),
		rule("Daly, told varq's risk", daily, varqRisk),
		rule("marginal, told varq's risk", checkpoint.Marginal, varqRisk),
		rule(lookAhead, checkpoint.LookAhead, varqRisk),
	}
}

func (Study) seeds(o study.Options) int {
	return o.Repetitions(usualSeeds, quickSeeds)
}

// Cases implements study.Study.
func (s Study) Cases(o study.Options) []study.Case {
	return study.Cross(s.seeds(o), allCells(), cell.name)
}

// Run implements study.Study. Its values are node-seconds, by the week from the first job on in
// which jobs started:
//
//	work 3               of jobs that started in week 3
//	overhead 3 Young     of checkpoints by the rule
//	lost 3 Young         of work lost by the rule
func (Study) Run(o study.Options, c study.Case) (study.Values, error) {
	s, err := study.Setting("checkpoints", c, allCells(), cell.name)
	if err != nil {
		return nil, err
	}
	return s.run(o, c.Seed)
}

func (c cell) run(o study.Options, seed uint64) (study.Values, error) {
	if o.Traces == nil {
		return nil, study.ErrNoTraces
	}
	nodes, failed, err := o.Traces.Failures(c.system)
	if err != nil {
		return nil, err
	}
	jobs, err := longJobs(o.Traces)
	if err != nil {
		return nil, err
	}
	log := replay.NewLog(nodes, failed)
	from := log.Start + int64(learnt*float64(log.End-log.Start))
	until := log.End - lastStart
	if o.Quick {
		until = min(until, from+quickWeeks*study.Week)
	}
	// The cells have the same jobs on the same nodes.
	random := rand.New(rand.NewPCG(seed, 0))
	jobs = moved(jobs, from, until, random)
	rules := allRules()
	r := replay.Replay{
		Log: log, Cost: c.cost, Interval: c.interval, Random: random,
		Predictors: []replay.Predictor{evenRate: replay.NewEven(log), varqRisk: replay.NewModel(log)},
	}
	for _, rule := range rules {
		r.Contenders = append(r.Contenders, rule.Contender)
	}
	values := study.Values{}
	for i, costs := range r.Run(jobs) {
		for j, cost := range costs {
			n := (jobs[j].Start - from) / study.Week
			if i == 0 {
				values[fmt.Sprintf("work %d", n)] += cost.Work
			}
			values[fmt.Sprintf("overhead %d %s", n, rules[i].name)] += cost.Overhead
			values[fmt.Sprintf("lost %d %s", n, rules[i].name)] += cost.Lost
		}
	}
	return values, nil
}

// longJobs returns the jobs of the log that ran for long enough, by their starts.
func longJobs(traces study.Traces) ([]replay.Job, error) {
	log, err := traces.Ran(jobLog)
	if err != nil {
		return nil, err
	}
	var jobs []replay.Job
	for job, err := range log {
		if err != nil {
			return nil, err
		}
		if job.Start > 0 && job.End-job.Start >= shortestRun && job.Nodes > 0 {
			jobs = append(jobs, replay.Job{Start: job.Start, Nodes: int(job.Nodes), Work: job.End - job.Start, Limit: job.Limit})
		}
	}
	slices.SortStableFunc(jobs, func(a, b replay.Job) int { return cmp.Compare(a.Start, b.Start) })
	return jobs, nil
}

// moved returns the jobs that start between two times if the log begins at the first one, at a
// random place, and begins anew after its end.
func moved(jobs []replay.Job, from, until int64, random *rand.Rand) []replay.Job {
	if len(jobs) == 0 {
		return nil
	}
	first := jobs[0].Start
	length := jobs[len(jobs)-1].Start - first + 1
	offset := random.Int64N(length)
	var all []replay.Job
	for _, job := range jobs {
		if job.Start = from + (job.Start-first+offset)%length; job.Start < until {
			all = append(all, job)
		}
	}
	slices.SortStableFunc(all, func(a, b replay.Job) int { return cmp.Compare(a.Start, b.Start) })
	return all
}
