package study

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/varq-project/varq/predictor/forecast/downey"
	"github.com/varq-project/varq/predictor/stats"
)

// Downey is the study of "Using Queue Time Predictions for Processor Allocation"
// (Downey 1997): what malleable jobs gain if they predict how long they would wait for
// more processors. Either one job alone does so, or all jobs do.
type Downey struct{}

const (
	downeySeeds      = 10
	downeyDays       = 120
	downeyQuickSeeds = 3
	downeyQuickDays  = 20
)

// downeyModel is the machine and the load of the paper.
var downeyModel = downey.Model{Procs: 128, Load: .75}

// downeyCase is a strategy with the circumstances in which jobs follow it.
type downeyCase struct {
	name     string
	strategy downey.Strategy
	alone    bool // one job alone follows it, and all others follow AVG; all jobs in turn
	fitted   bool // it predicts with lifetimes fitted to the run times under AVG
	whole    bool // the average parallelism of jobs is rounded down
}

// downeyCases returns the paper's cases, and those of other readings of the paper.
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

func (Downey) seeds(o Options) int { return o.repetitions(downeySeeds, downeyQuickSeeds) }

// Cases implements Study.
func (d Downey) Cases(o Options) []Case {
	var cases []Case
	for _, c := range downeyCases() {
		for seed := range d.seeds(o) {
			cases = append(cases, Case{c.name, uint64(seed) + 1})
		}
	}
	return cases
}

// Run implements Study.
func (Downey) Run(o Options, c Case) (Values, error) {
	for _, known := range downeyCases() {
		if known.name == c.Name {
			return known.run(o, c.Seed), nil
		}
	}
	return nil, fmt.Errorf("downey has no case %q", c.Name)
}

func (c downeyCase) run(o Options, seed uint64) Values {
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

// runAlone lets each job in turn follow the strategy alone (section 5). A job is spoiled
// if it gets all processors of use to it under AVG; otherwise it is a rebel if it waits
// for more than are free, and else docile. The values are
//
//	spoiled, rebels                  per cent of all jobs
//	losers                           per cent of the rebels, those that lose time
//	saved                            minutes, mean over all jobs
//	lost                             minutes, mean over the losers
//	median, mean                     saved by a rebel: minutes, hours
//	heavier                          mean work of rebels / mean work of docile jobs
//	duration, durations              of jobs under AVG: median in minutes, mean in hours
//	correlation, slope, intercept    of predicted and actual waits
func runAlone(days [][]downey.Job, strategy downey.Strategy) Values {
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
	v := Values{
		"spoiled": 100 * spoiled / jobs, "rebels": 100 * rebels / jobs,
		"losers": 100 * float64(len(losses)) / rebels,
		"saved":  rebels * mean(savings) / jobs / 60, "lost": mean(losses) / 60,
		"median": median(savings) / 60, "mean": mean(savings) / 3600,
		"heavier":  mean(rebelWork) / mean(docileWork),
		"duration": median(durations) / 60, "durations": mean(durations) / 3600,
	}
	line := s.Predictions()
	if intercept, slope, ok := line.Fit(); ok {
		v["correlation"], v["slope"], v["intercept"] = line.Correlation(), slope, intercept
	}
	return measured(v)
}

// runAll lets all jobs follow the strategy (section 6). The values are "turnaround", the
// mean in seconds; "slower", by how many per cent that is more than under AVG; and
// "busier", by how many per cent utilisation is more than under AVG, mean over the days.
func runAll(days [][]downey.Job, strategy downey.Strategy) Values {
	avg := downey.NewSystem(downeyModel.Procs, downey.Strategy{Rule: downey.AVG})
	s := downey.NewSystem(downeyModel.Procs, strategy)
	var ours, theirs, busier []float64
	for _, jobs := range days {
		o, a := s.Day(jobs), avg.Day(jobs)
		for i := range jobs {
			ours = append(ours, o[i].End-jobs[i].Submit)
			theirs = append(theirs, a[i].End-jobs[i].Submit)
		}
		busier = append(busier, more(
			downey.Utilisation(downeyModel.Procs, jobs, o), downey.Utilisation(downeyModel.Procs, jobs, a)))
	}
	return measured(Values{
		"turnaround": mean(ours), "slower": more(mean(ours), mean(theirs)), "busier": mean(busier),
	})
}

// median returns the median, or NaN of an empty list. It sorts x.
func median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	slices.Sort(x)
	return stat.Quantile(.5, stat.Empirical, x, nil)
}

// measured removes the values that are NaN.
func measured(v Values) Values {
	maps.DeleteFunc(v, func(_ string, x float64) bool { return math.IsNaN(x) })
	return v
}
