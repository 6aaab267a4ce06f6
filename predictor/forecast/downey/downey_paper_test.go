package downey

// Tests of what Downey's report (UCB/CSD-97-929) states about its simulations, by section.
// The tolerances suit a single run of a third of the report's length. The study downey
// compares the numbers themselves.

import (
	"math"
	"slices"
	"testing"
)

// Section 4: "the number of jobs per day is between 160 (when rho = 0.5) and 320 (when rho =
// 1.0)". The model gives 170 and 340. The report's 30421 jobs in 120 days at .75 agree with
// the model.
func TestSection4Arrivals(t *testing.T) {
	jobs := 0
	for _, day := range days(1, 120) {
		jobs += len(day)
		for i := range day {
			if i > 0 && day[i].Submit < day[i-1].Submit || day[i].Submit >= dayTime {
				t.Fatalf("job at %v", day[i].Submit)
			}
		}
	}
	// The number has a Poisson distribution with a standard deviation of 175 jobs.
	if math.Abs(float64(jobs)-30421) > 3*175 {
		t.Errorf("%d jobs in 120 days", jobs)
	}
}

// alone returns, for each job of 40 days of the paper, the outcome if it alone follows the
// rule, and all other jobs follow AVG.
func alone(rule Rule) (alternatives []Alternative, jobs []Job, s *System) {
	s = NewSystem(paper.Procs, Strategy{Rule: rule, Lifetimes: paper.Lifetimes()})
	for _, day := range days(1, 40) {
		alternatives = append(alternatives, s.Alone(day)...)
		jobs = append(jobs, day...)
	}
	return alternatives, jobs, s
}

func expect(t *testing.T, name string, got, least, most float64) {
	t.Helper()
	if !(got >= least && got <= most) {
		t.Errorf("%s: %.3f, want %v to %v", name, got, least, most)
	}
}

// Section 5.2: "Many jobs (63%) were allocated the maximum cluster size"; "the
// median duration for all jobs is 3 minutes and the average duration is 1.3
// hours".
func TestSection52Spoiled(t *testing.T) {
	alternatives, jobs, _ := alone(AVG)
	spoiled, sum := 0., 0.
	var durations []float64
	for i, a := range alternatives {
		if a.AVG.Procs == jobs[i].Most() {
			spoiled++
		}
		if a.Saving() != 0 {
			t.Fatalf("AVG saves by AVG: %+v", a)
		}
		durations = append(durations, a.AVG.End-a.AVG.Start)
		sum += a.AVG.End - a.AVG.Start
	}
	slices.Sort(durations)
	n := float64(len(jobs))
	expect(t, "spoiled", spoiled/n, .62, .66)
	expect(t, "median duration, minutes", durations[len(jobs)/2]/60, 2.5, 3.5)
	expect(t, "mean duration, hours", sum/n/3600, 1.2, 1.4)
}

// Table 1: rebels, time saved by each job, and rebels who lose.
func TestTable1(t *testing.T) {
	saved := map[Rule]float64{}
	for rule, want := range map[Rule]struct{ rebels, rebelsMost, lose, loseMost float64 }{
		OPT:  {.12, .16, 0, 0},
		PRED: {.07, .11, .05, .11},
		BIAS: {.10, .13, .08, .16},
		HEUR: {.34, .39, .68, .77},
	} {
		alternatives, _, s := alone(rule)
		rebels, losers := 0., 0.
		for _, a := range alternatives {
			saved[rule] += a.Saving() / float64(len(alternatives)) / 60
			if a.Own.Rebel {
				rebels++
			}
			if a.Saving() < 0 {
				losers++
			}
		}
		expect(t, string(rule)+" rebels", rebels/float64(len(alternatives)), want.rebels, want.rebelsMost)
		expect(t, string(rule)+" rebels who lose", losers/rebels, want.lose, want.loseMost)
		// Section 5.4: predictions are too long, unless corrected.
		line := s.Predictions()
		_, slope, _ := line.Fit()
		switch rule {
		case PRED:
			expect(t, "slope", slope, .5, .8)
		case BIAS:
			expect(t, "slope when corrected", slope, .85, 1.15)
		}
	}
	// Section 5.6: "our predictive allocation strategy is within 2% of optimal".
	expect(t, "OPT saves, minutes", saved[OPT], 11, 17)
	expect(t, "PRED saves of it", saved[PRED]/saved[OPT], .9, 1)
	expect(t, "BIAS saves of it", saved[BIAS]/saved[OPT], .96, 1)
	expect(t, "HEUR saves of it", saved[HEUR]/saved[OPT], .9, 1)
}

// Table 2 and section 6.1: the order of the strategies when all jobs follow them.
func TestTable2Order(t *testing.T) {
	var turnaround []float64
	for _, strategy := range strategies() {
		s := NewSystem(paper.Procs, strategy)
		sum, n := 0., 0.
		for _, day := range days(1, 40) {
			for i, o := range s.Day(day) {
				sum += o.End - day[i].Submit
				n++
			}
		}
		turnaround = append(turnaround, sum/n)
	}
	avg, opt, pred, bias, heur, locked, averse := turnaround[0], turnaround[1], turnaround[2], turnaround[3], turnaround[4], turnaround[5], turnaround[6]
	expect(t, "AVG", avg, 4500, 5200)
	expect(t, "OPT", opt/avg, 1.04, 1.14)
	expect(t, "HEUR", heur/avg, 1.25, 1.45)
	for _, order := range [][2]float64{{pred, opt}, {pred, bias}, {opt, heur}, {bias, heur}, {locked, bias}, {averse, locked}} {
		if order[0] >= order[1] {
			t.Errorf("AVG, OPT, PRED, BIAS, HEUR, BIAS locked in, averse to risk: %.0f", turnaround)
		}
	}
}
