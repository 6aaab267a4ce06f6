// Package moldable has two studies of jobs that choose their size by the forecast of their wait.
// Study is the study "moldable": how much such jobs gain if `varq size` chooses for them. It uses
// logs in which a share of the jobs is made moldable, and Downey's own machine. Downey is the study
// "downey", which repeats Downey's paper about that machine.
package moldable

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/downey"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/forecast/predictor"
	"github.com/varq-project/varq/predictor/forecast/speedup"
	"github.com/varq-project/varq/predictor/promise/moldable"
	"github.com/varq-project/varq/predictor/trial/montecarlo"
	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/predictor/trial/study/moldable/sizing"
)

// Study implements study.Study.
type Study struct{}

const (
	stretchJobs    = 5000 // of a stretch of a log
	skippedJobs    = 8000 // jobs of each log before the first stretch
	stretchesOfLog = 4    // of each log; a later seed has one of these with other moldable jobs
	quickJobs      = 1000 // the first of the log, but for a tenth
	learningJobs   = 4000 // jobs before each stretch, of the sizes asked for, from which is learnt
	usualSeeds     = stretchesOfLog
	quickSeeds     = 1
	// sampledShare is the share of the jobs that are each looked at alone.
	sampledShare = .25
	// aversion is the paper's, of section 6.1.
	aversion = .2
	// againAfter is how many seconds after a choice a job chooses again.
	againAfter = 1800
	// futuresSimulated is how many futures are simulated for each forecast.
	futuresSimulated = 20
	// mostVariance bounds the variance of parallelism (section 2.2.3).
	mostVariance = 2
)

var (
	logs           = []string{"KTH-SP2-1996", "SDSC-SP2-1998"}
	moldableShares = []float64{.1, .5, 1}
)

// The ways of choosing sizes.
const (
	wayAsked  = "as asked"
	wayAVG    = "AVG"
	wayPRED   = "PRED"
	wayBIAS   = "BIAS"
	wayVARQ   = "varq"
	wayAverse = "varq, averse to risk"
	wayAgain  = "varq, choosing again"
	wayOPT    = "OPT"
	wayLocked = "varq, locked in, averse to risk"
	wayFuture = "varq, with simulated futures"
)

// allWays are those that all moldable jobs of a log follow.
var allWays = []string{wayAsked, wayAVG, wayPRED, wayBIAS, wayVARQ, wayAverse, wayAgain, wayOPT}

// aloneWays are those that a job alone can follow, beside what was asked and what is best.
var aloneWays = []string{wayPRED, wayBIAS, wayVARQ, wayAverse, wayFuture}

// machineStrategies has the strategies on Downey's machine.
func machineStrategies() map[string]downey.Strategy {
	lifetimes := downeyModel.Lifetimes()
	return map[string]downey.Strategy{
		wayOPT: {Rule: downey.OPT}, wayPRED: {Rule: downey.PRED, Lifetimes: lifetimes}, wayBIAS: {Rule: downey.BIAS, Lifetimes: lifetimes},
		wayVARQ: {Rule: downey.VARQ}, wayLocked: {Rule: downey.VARQ, LockIn: true, RiskAversion: aversion},
	}
}

// machineWays are the keys of machineStrategies in order.
var machineWays = []string{wayPRED, wayBIAS, wayVARQ, wayLocked, wayOPT}

func machineCase(way string, alone bool) string {
	if alone {
		return "Downey's machine, each alone, " + way
	}
	return "Downey's machine, all, " + way
}

func aloneCase(log string) string { return log + ", each alone" }

func allCase(log string, share float64, way string) string {
	return fmt.Sprintf("%s, %.0f %%, %s", log, 100*share, way)
}

func (Study) seeds(o study.Options) int { return o.Repetitions(usualSeeds, quickSeeds) }

// Cases implements study.Study.
func (m Study) Cases(o study.Options) []study.Case {
	var cases []study.Case
	for seed := range m.seeds(o) {
		add := func(name string) { cases = append(cases, study.Case{Name: name, Seed: uint64(seed) + 1}) }
		for _, log := range logs {
			add(aloneCase(log))
			for _, share := range moldableShares {
				for _, way := range allWays {
					add(allCase(log, share, way))
				}
			}
		}
		for _, way := range machineWays {
			add(machineCase(way, true))
			add(machineCase(way, false))
		}
	}
	return cases
}

// Run implements study.Study. The seed chooses the stretch of the log, which jobs are moldable, and
// how; or the jobs of Downey's machine, whose values are those of the study "downey".
func (Study) Run(o study.Options, c study.Case) (study.Values, error) {
	for way, strategy := range machineStrategies() {
		for _, alone := range []bool{true, false} {
			if c.Name == machineCase(way, alone) {
				return downeyCase{strategy: strategy, alone: alone}.run(o, c.Seed), nil
			}
		}
	}
	for _, log := range logs {
		s := stretch{log: log, seed: c.Seed, share: 1}
		if c.Name == aloneCase(log) {
			return s.alone(o)
		}
		for _, s.share = range moldableShares {
			for _, way := range allWays {
				if c.Name == allCase(log, s.share, way) {
					return s.all(o, way)
				}
			}
		}
	}
	return nil, fmt.Errorf("moldable has no case %q", c.Name)
}

// stretch is a stretch of a log with moldable jobs.
type stretch struct {
	log   string
	seed  uint64
	share float64
}

// load reads the stretch, and the jobs before from which is learnt. All jobs have a speedup of
// their own, whether or not they are moldable: average parallelism from half to twice the
// processors asked for, uniform in the logarithm, and a variance that is uniform from 0 to 2. The
// same seed gives a job the same speedup whatever the share is, and the moldable jobs of a share
// are moldable with any larger share too.
func (s stretch) load(o study.Options) (loaded, error) {
	if o.Traces == nil {
		return loaded{}, study.ErrNoTraces
	}
	request, err := o.Traces.Requests(s.log)
	if err != nil {
		return loaded{}, err
	}
	log, procs, err := o.Traces.Open(s.log)
	if err != nil {
		return loaded{}, err
	}
	length, learning, skipped := stretchJobs, learningJobs, skippedJobs
	if o.Quick {
		length, learning = quickJobs, quickJobs/10
		skipped = learning
	}
	skipped += length*int((s.seed-1)%stretchesOfLog) - learning
	random := rand.New(rand.NewPCG(s.seed, 0x4d4f_4c44))
	longest := int64(0)
	var jobs []sizing.Job
	var shares []float64
	for j, err := range log {
		if err != nil {
			return loaded{}, err
		}
		if skipped--; skipped >= 0 || j.Procs > procs {
			continue
		}
		if len(jobs) == learning+length {
			break
		}
		longest = max(longest, j.Limit)
		asked := float64(j.Procs)
		a := min(float64(procs), max(1, asked*math.Exp2(2*random.Float64()-1)))
		job := sizing.Job{
			ID: j.ID, Submit: j.Submit, Request: request(&j), Asked: sizing.Shape{Procs: j.Procs, Limit: j.Limit, Run: max(1, min(j.Run, j.Limit))},
			Curve: speedup.Downey{A: a, Sigma: mostVariance * random.Float64()}, Least: j.Procs, Most: j.Procs,
		}
		job.Request.Partition = "" // there is one pool
		jobs = append(jobs, job)
		shares = append(shares, random.Float64())
	}
	if len(jobs) <= learning {
		return loaded{}, fmt.Errorf("the log %s ends before its stretch %d", s.log, s.seed)
	}
	for i := learning; i < len(jobs); i++ {
		if shares[i] < s.share {
			jobs[i].Mold(int32(math.Ceil(jobs[i].Curve.(speedup.Downey).A)), longest)
		}
	}
	return loaded{jobs, procs, jobs[learning].Submit, jobs[len(jobs)-1].Submit}, nil
}

// loaded are the jobs of a stretch and those before, on a machine with some processors. Those of
// the stretch are submitted from since until until.
type loaded struct {
	jobs         []sizing.Job
	procs        int32
	since, until int64
}

// blend returns varq's forecaster.
func (s stretch) blend(o study.Options, q *queue.Queue) forecast.Forecaster {
	return predictor.Standard(q, predictor.Options{Background: o.Background}, rand.New(rand.NewPCG(s.seed, 0x4652_4543))).Present()
}

// alone simulates the stretch as its users asked, and looks at some of the jobs, each as if it
// alone followed a strategy. The values are, over these jobs,
//
//	jobs                          how many they are
//	asked, OPT, and by the ways   minutes until the end, mean
//	WAY moves, WAY loses          per cent that the way makes end at another time, and later
func (s stretch) alone(o study.Options) (study.Values, error) {
	m, err := s.load(o)
	if err != nil {
		return nil, err
	}
	var q queue.Queue
	blend, predictors := s.blend(o, &q), expert.NewDowney(&q)
	futures := montecarlo.New(&q, futuresSimulated, rand.New(rand.NewPCG(s.seed, 0x4655_5455)))
	waits, simulated := sizing.Expected(blend), sizing.Expected(futures)
	random := rand.New(rand.NewPCG(s.seed, 0x414c_4f4e))
	values := study.Values{}
	alone := &sizing.Alone{
		Strategies: []sizing.Predicting{
			{Waits: sizing.Predictor(predictors, false)}, {Waits: sizing.Predictor(predictors, true)},
			{Waits: waits}, {Waits: waits, Rules: moldable.Rules{Aversion: aversion}},
			{Waits: func(c *sizing.Cluster, j *sizing.Job, procs int32) float64 {
				return (waits(c, j, procs) + simulated(c, j, procs)) / 2
			}},
		},
		Sampled: func(j *sizing.Job) bool { return random.Float64() < sampledShare && j.Submit >= m.since },
		Found: func(_ *sizing.Job, asked, best int64, by []int64) {
			const minute = 60
			values["jobs"]++
			values[wayAsked] += float64(asked) / minute
			values[wayOPT] += float64(best) / minute
			count := func(way string, t int64) {
				if t != asked {
					values[way+" moves"]++
				}
				if t > asked {
					values[way+" loses"]++
				}
			}
			count(wayOPT, best)
			for i, way := range aloneWays {
				values[way] += float64(by[i]) / minute
				count(way, by[i])
			}
		},
	}
	for range sizing.NewCluster(m.procs, &q, alone, blend, predictors, futures).Run(m.jobs) {
	}
	n := values["jobs"]
	for name := range values {
		switch {
		case name == "jobs":
		case strings.HasSuffix(name, " moves"), strings.HasSuffix(name, " loses"):
			values[name] *= 100 / n
		default:
			values[name] /= n
		}
	}
	return values, nil
}

// all simulates the stretch with all moldable jobs following one way. The values are, over the jobs
// that count,
//
//	turnaround, wait          seconds, mean
//	of moldable               turnaround of the moldable jobs, seconds, mean
//	busy                      per cent of the processors in use, until the last submission
//	efficient                 the same, of which each counts by the efficiency of its job, S(n)/n
//	larger, smaller           per cent of the moldable jobs that get more, or fewer, processors than
//	                          asked for
func (s stretch) all(o study.Options, way string) (study.Values, error) {
	m, err := s.load(o)
	if err != nil {
		return nil, err
	}
	var q queue.Queue
	var chooser sizing.Chooser
	var observers []forecast.Observer
	switch way {
	case wayAsked:
		chooser = sizing.Asked{}
	case wayAVG:
		chooser = sizing.Free{}
	case wayPRED, wayBIAS:
		predictors := expert.NewDowney(&q)
		observers = append(observers, predictors)
		chooser = &sizing.Predicting{Waits: sizing.Predictor(predictors, way == wayBIAS)}
	case wayVARQ, wayAverse, wayAgain:
		blend := s.blend(o, &q)
		observers = append(observers, blend)
		p := &sizing.Predicting{Waits: sizing.Expected(blend)}
		switch way {
		case wayAverse:
			p.Aversion = aversion
		case wayAgain:
			p.Again = againAfter
		}
		chooser = p
	case wayOPT:
		chooser = &sizing.Predicting{Waits: sizing.True()}
	}
	var all, molded, larger, smaller, busy, efficient float64
	values := study.Values{}
	for out := range sizing.NewCluster(m.procs, &q, chooser, observers...).Run(m.jobs) {
		n := float64(out.Shape.Procs)
		used := n * float64(max(0, min(out.End(), m.until)-max(out.Start, m.since)))
		busy += used
		efficient += used * out.Job.Curve.Of(n) / n
		if out.Job.Submit < m.since {
			continue
		}
		all++
		values["turnaround"] += float64(out.Turnaround())
		values["wait"] += float64(out.Start - out.Job.Submit)
		if out.Job.Rigid() {
			continue
		}
		molded++
		values["of moldable"] += float64(out.Turnaround())
		if out.Shape.Procs > out.Job.Asked.Procs {
			larger++
		} else if out.Shape.Procs < out.Job.Asked.Procs {
			smaller++
		}
	}
	capacity := float64(m.procs) * float64(m.until-m.since)
	values["turnaround"] /= all
	values["wait"] /= all
	values["of moldable"] /= molded
	values["busy"], values["efficient"] = 100*busy/capacity, 100*efficient/capacity
	values["larger"], values["smaller"] = 100*larger/molded, 100*smaller/molded
	return study.Measured(values), nil
}
