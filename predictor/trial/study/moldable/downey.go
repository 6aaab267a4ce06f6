package moldable

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/varq-project/varq/predictor/forecast/downey"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/trial/study"
)

// Downey is the study of "Using Queue Time Predictions for Processor Allocation"
// (Downey 1997): what malleable jobs gain if they predict how long they would wait for
// more processors. In some cases one job alone predicts, in others all jobs do.
type Downey struct{}

const (
	downeySeeds      = 10
	downeyDays       = 120
	downeyQuickSeeds = 3
	downeyQuickDays  = 20
)

// downeyModel is the machine and the load of the paper.
var downeyModel = downey.Model{Procs: 128, Load: .75}

// downeyCase is a strategy, and how it is tried.
type downeyCase struct {
	name     string
	strategy downey.Strategy
	alone    bool // each job in turn follows the strategy, while all others follow AVG
	fitted   bool // the strategy predicts with lifetimes fitted to the run times under AVG
	whole    bool // the average parallelism of jobs is rounded down
}

// downeyCases returns the paper's cases, then cases for other readings of the paper.
func downeyCases() []downeyCase {
	var alone, all []downeyCase
	for _, rule := range []downey.Rule{downey.AVG, downey.OPT, downey.PRED, downey.BIAS, downey.HEUR} {
		strategy := downey.Strategy{Rule: rule, Lifetimes: downeyModel.Lifetimes()}
		alone = append(alone, downeyCase{name: "alone " + string(rule), strategy: strategy, alone: true})
		all = append(all, downeyCase{name: "all " + string(rule), strategy: strategy})
	}
	locked := downey.Strategy{Rule: downey.BIAS, LockIn: true, Lifetimes: downeyModel.Lifetimes()}
	averse := locked
	averse.RiskAversion = .2
	pred := downey.Strategy{Rule: downey.PRED}
	return append(append(alone, all...),
		downeyCase{name: "all BIAS, locked in", strategy: locked},
		downeyCase{name: "all BIAS, locked in, averse to risk", strategy: averse},
		downeyCase{name: "alone PRED, fitted lifetimes", strategy: pred, alone: true, fitted: true},
		downeyCase{name: "all PRED, fitted lifetimes", strategy: pred, fitted: true},
		downeyCase{name: "alone OPT, A rounded down", strategy: downey.Strategy{Rule: downey.OPT}, alone: true, whole: true},
		downeyCase{name: "all OPT, A rounded down", strategy: downey.Strategy{Rule: downey.OPT}, whole: true},
	)
}

func (Downey) seeds(o study.Options) int { return o.Repetitions(downeySeeds, downeyQuickSeeds) }

// Cases implements study.Study.
func (d Downey) Cases(o study.Options) []study.Case {
	var cases []study.Case
	for _, c := range downeyCases() {
		for seed := range d.seeds(o) {
			cases = append(cases, study.Case{Name: c.name, Seed: uint64(seed) + 1})
		}
	}
	return cases
}

// Run implements study.Study.
func (Downey) Run(o study.Options, c study.Case) (study.Values, error) {
	for _, known := range downeyCases() {
		if known.name == c.Name {
			return known.run(o, c.Seed), nil
		}
	}
	return nil, fmt.Errorf("downey has no case %q", c.Name)
}

func (c downeyCase) run(o study.Options, seed uint64) study.Values {
	n := downeyDays
	if o.Quick {
		n = downeyQuickDays
	}
	random := rand.New(rand.NewPCG(seed, 0))
	days := make([][]downey.Job, n)
	for i := range days {
		days[i] = downeyModel.Day(random)
		for j := range days[i] {
			if curve := &days[i][j].Curve; c.whole {
				curve.A = math.Floor(curve.A)
			}
		}
	}
	if c.fitted {
		c.strategy.Lifetimes = fittedLifetimes(days)
	}
	if c.alone {
		return runAlone(days, c.strategy)
	}
	return runAll(days, c.strategy)
}

// fittedLifetimes fits the distribution of lifetimes to the run times under AVG.
func fittedLifetimes(days [][]downey.Job) stats.LogUniform {
	s := downey.NewSystem(downeyModel.Procs, downey.Strategy{Rule: downey.AVG})
	var times []float64
	for _, jobs := range days {
		for _, o := range s.Day(jobs) {
			times = append(times, o.End-o.Start)
		}
	}
	fit, _ := stats.FitLogUniform(times)
	return fit
}

// runAlone simulates each job in turn with the strategy, while all others follow AVG
// (section 5). A job is spoiled if it gets all the processors that it can use under AVG. Of
// the other jobs, those that wait for more processors than are free are rebels, and the
// rest are docile. The values are
//
//	spoiled, rebels                  per cent of all jobs
//	losers                           rebels that lose time, per cent of the rebels
//	saved                            minutes, mean over all jobs
//	lost                             minutes, mean over the losers
//	median, mean                     time saved by a rebel: median in minutes, mean in hours
//	heavier                          mean work of rebels / mean work of docile jobs
//	duration, durations              run time under AVG: median in minutes, mean in hours
//	correlation, slope, intercept    of predicted and actual waits
func runAlone(days [][]downey.Job, strategy downey.Strategy) study.Values {
	s := downey.NewSystem(downeyModel.Procs, strategy)
	var jobs, spoiled float64
	var durations, savings, losses, rebelWork, docileWork []float64
	for _, day := range days {
		for i, a := range s.Alone(day) {
			jobs++
			durations = append(durations, a.AVG.End-a.AVG.Start)
			switch {
			case a.AVG.Procs == day[i].Most():
				spoiled++
			case !a.Own.Rebel:
				docileWork = append(docileWork, day[i].Work)
			default:
				rebelWork = append(rebelWork, day[i].Work)
				savings = append(savings, a.Saving())
				if a.Saving() < 0 {
					losses = append(losses, -a.Saving())
				}
			}
		}
	}
	rebels := float64(len(savings))
	v := study.Values{
		"spoiled": 100 * spoiled / jobs, "rebels": 100 * rebels / jobs,
		"losers": 100 * float64(len(losses)) / rebels,
		"saved":  rebels * study.Mean(savings) / jobs / 60, "lost": study.Mean(losses) / 60,
		"median": median(savings) / 60, "mean": study.Mean(savings) / 3600,
		"heavier":  study.Mean(rebelWork) / study.Mean(docileWork),
		"duration": median(durations) / 60, "durations": study.Mean(durations) / 3600,
	}
	line := s.Predictions()
	if intercept, slope, ok := line.Fit(); ok {
		v["correlation"], v["slope"], v["intercept"] = line.Correlation(), slope, intercept
	}
	return study.Measured(v)
}

// runAll simulates all jobs with the strategy (section 6). The values are
//
//	turnaround    seconds, mean
//	slower        per cent by which turnaround is above that under AVG
//	busier        per cent by which utilisation is above that under AVG, mean over the days
func runAll(days [][]downey.Job, strategy downey.Strategy) study.Values {
	avg := downey.NewSystem(downeyModel.Procs, downey.Strategy{Rule: downey.AVG})
	s := downey.NewSystem(downeyModel.Procs, strategy)
	var ours, theirs, busier []float64
	for _, jobs := range days {
		o, a := s.Day(jobs), avg.Day(jobs)
		for i := range jobs {
			ours = append(ours, o[i].End-jobs[i].Submit)
			theirs = append(theirs, a[i].End-jobs[i].Submit)
		}
		busier = append(busier, study.More(
			downey.Utilisation(downeyModel.Procs, jobs, o), downey.Utilisation(downeyModel.Procs, jobs, a)))
	}
	return study.Measured(study.Values{
		"turnaround": study.Mean(ours), "slower": study.More(study.Mean(ours), study.Mean(theirs)), "busier": study.Mean(busier),
	})
}

// median returns the median, or NaN if x is empty. It sorts x.
func median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	slices.Sort(x)
	return stat.Quantile(.5, stat.Empirical, x, nil)
}
