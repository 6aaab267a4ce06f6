package backtest

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/workload"
)

var (
	someQuantiles = []float64{.5, .75, .9, .95}
	someBudgets   = []int64{60, 600, 3600, 86400}
)

// TestExactForecast: a forecast of the true distribution is calibrated, although waits are
// whole seconds and almost half of them are equal.
func TestExactForecast(t *testing.T) {
	var q queue.Queue
	r, err := Run(made(20_000, 1), &q, []Method{knowing()}, Options{Quantiles: someQuantiles, Budgets: someBudgets, By: Splits})
	if err != nil {
		t.Fatal(err)
	}
	s := r.Scores[0]
	for _, q := range s.Quantiles {
		c := q.Coverage
		deviation := math.Sqrt(q.Quantile * (1 - q.Quantile) / float64(c.Of))
		if math.Abs(c.Share-q.Quantile) > 3*deviation || c.Low > c.Share-deviation || c.High < c.Share+deviation {
			t.Errorf("the %v quantile covers %+v", q.Quantile, c)
		}
		if q.Plain.Share < q.Coverage.Share {
			t.Errorf("the %v quantile covers %v, but only %v with all ties", q.Quantile, q.Coverage.Share, q.Plain.Share)
		}
		if q.SteadyMonths == nil || *q.SteadyMonths != 1 {
			t.Errorf("the %v quantile is steady in %v of the months", q.Quantile, q.SteadyMonths)
		}
	}
	if s.CalibrationError > .015 || s.Answered != 1 {
		t.Errorf("calibration error %v, answered %v", s.CalibrationError, s.Answered)
	}
	for _, b := range s.Budgets {
		if b.Skill == nil || *b.Skill <= 0 {
			t.Errorf("budget %d: skill %v", b.Budget, b.Skill)
		}
	}
	if len(s.Promises) != len(Promised) {
		t.Errorf("promises: %+v", s.Promises)
	}
	for _, p := range s.Promises {
		if p.Kept.Share < p.Prob || p.Kept.Of == 0 {
			t.Errorf("promises of %v: %+v", p.Prob, p.Kept)
		}
	}
	// The parts of a split have all jobs.
	parts := map[string]int{}
	for _, p := range r.Parts {
		parts[p.By] += p.Jobs
	}
	for _, split := range Splits {
		if parts[split.Name] != r.Jobs {
			t.Errorf("by %s: %d of %d jobs", split.Name, parts[split.Name], r.Jobs)
		}
	}
}

// steps is a distribution on a few waits. Its probabilities may sum to less than 1.
type steps struct{ at, prob []float64 }

func randomSteps(random *rand.Rand) *steps {
	s := &steps{}
	left := 1.
	for _, at := range []float64{0, 30, 60, 600, 3000} {
		if random.IntN(2) == 0 {
			p := left * random.Float64()
			left -= p
			s.at, s.prob = append(s.at, at), append(s.prob, p)
		}
	}
	return s
}

func (s *steps) sum(yes func(at float64) bool) float64 {
	sum := 0.
	for i, at := range s.at {
		if yes(at) {
			sum += s.prob[i]
		}
	}
	return sum
}

func (s *steps) Within(x float64) float64 { return s.sum(func(at float64) bool { return at <= x }) }
func (s *steps) Below(x float64) float64  { return s.sum(func(at float64) bool { return at < x }) }

func (s *steps) Quantile(q float64) float64 {
	for _, at := range s.at {
		if s.Within(at) >= q {
			return at
		}
	}
	return math.Inf(1)
}

// lastWaits returns the q-quantile of the last 300 waits that ended before now or at now.
func lastWaits(jobs []workload.Job, now int64, q float64) float64 {
	var past []workload.Job
	for _, j := range jobs {
		if j.Start > 0 && j.Start <= now && j.Submit < now {
			past = append(past, j)
		}
	}
	slices.SortStableFunc(past, func(a, b workload.Job) int { return cmp.Compare(a.Start, b.Start) })
	past = past[max(0, len(past)-300):]
	var waits []float64
	for _, j := range past {
		waits = append(waits, float64(j.Start-j.Submit))
	}
	slices.Sort(waits)
	return waits[int(math.Ceil(q*float64(len(waits))-1e-9))-1]
}

// TestAgainstOracle compares the scores of random forecasts with sums by the definitions.
// Some forecasts are missing, some are infinite, and many are equal to the wait.
func TestAgainstOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	jobs := made(800, 3)
	for i := range jobs {
		j := &jobs[i]
		later := int64(i) * 7000 // nine weeks rather than a day
		j.Submit, j.Eligible, j.End = j.Submit+later, j.Eligible+later, j.End+later
		if j.Start > 0 {
			j.Start = j.Submit + []int64{0, 30, 60, 61, 600, 5000}[random.IntN(6)]
			j.End = j.Start + 10
		}
	}
	said := map[int64][2]*steps{} // by submission
	method := fake{"random", func(q *forecast.Question) (wait, lower score.Prediction) {
		if random.IntN(10) == 0 {
			said[q.Submit] = [2]*steps{}
			return nil, nil
		}
		a, b := randomSteps(random), randomSteps(random)
		said[q.Submit] = [2]*steps{a, b}
		return a, b
	}}
	var q queue.Queue
	r, err := Run(jobs, &q, []Method{method}, Options{Quantiles: someQuantiles, Budgets: someBudgets})
	if err != nil {
		t.Fatal(err)
	}
	var asked []workload.Job
	started := 0
	for _, j := range jobs {
		if j.Start > 0 {
			started++
			if _, ok := said[j.Submit]; ok {
				asked = append(asked, j)
			}
		}
	}
	if len(asked) != started-started/10 || r.Jobs != len(asked) || r.Warmup != started/10 || asked[0].Submit <= jobs[started/10-1].Submit {
		t.Fatalf("of %d jobs %d were asked about, %d scored, after %d", started, len(asked), r.Jobs, r.Warmup)
	}

	s := r.Scores[0]
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	mean := 0.
	for _, j := range asked {
		mean += float64(j.Start-j.Submit) / float64(len(asked))
	}
	near("mean wait", r.MeanWait, mean)
	for i, q := range someQuantiles {
		var loss float64
		var covered, plain score.Weekly
		var widths []float64
		for _, j := range asked {
			w := float64(j.Start - j.Submit)
			x := math.Inf(1)
			if d := said[j.Submit][0]; d != nil {
				x = d.Quantile(q)
			}
			if math.IsInf(x, 1) {
				x = lastWaits(jobs, j.Submit, q)
			} else {
				d := said[j.Submit][0]
				week := score.Week(j.Submit / 86400)
				covered.At(week).Add(d.Below(w)+uniform(&j)*(d.Within(w)-d.Below(w)) <= q)
				plain.At(week).Add(w <= x)
				widths = append(widths, (x+60)/(w+60))
			}
			if w >= x {
				loss += q * (w - x)
			} else {
				loss += (1 - q) * (x - w)
			}
		}
		got := s.Quantiles[i]
		near("pinball", got.Pinball, loss/float64(len(asked)))
		near("relative", *got.Relative, loss/float64(len(asked))/mean)
		if want := covered.Proportion(); got.Coverage != want || want.High-want.Low > .5 {
			t.Errorf("coverage is %+v, want %+v", got.Coverage, want)
		}
		if want := plain.Proportion(); got.Plain != want {
			t.Errorf("plain coverage is %+v, want %+v", got.Plain, want)
		}
		slices.Sort(widths)
		if want := widths[len(widths)/2]; math.Abs(got.Width/want-1) > .0051 {
			t.Errorf("width %v, want %v", got.Width, want)
		}
	}

	type pair struct {
		p    float64
		true float64
	}
	var all []pair
	answered := 0
	kept, promises := map[float64]float64{}, map[float64]int{}
	keptInBand, promisesInBand := map[float64]float64{}, map[float64]int{}
	for i, budget := range someBudgets {
		var brier, rate, n float64
		for _, j := range asked {
			d, lower := said[j.Submit][0], said[j.Submit][1]
			if d == nil {
				continue
			}
			one := pair{p: d.Within(float64(budget))}
			if j.Start-j.Submit <= budget {
				one.true = 1
			}
			all = append(all, one)
			brier += (one.p - one.true) * (one.p - one.true)
			rate += one.true
			n++
			for _, p := range Promised {
				bound := lower.Within(float64(budget))
				if bound >= p {
					promises[p]++
					kept[p] += one.true
				}
				if bound >= p && bound < p+.03 {
					promisesInBand[p]++
					keptInBand[p] += one.true
				}
			}
		}
		answered = int(n)
		near("Brier score", s.Budgets[i].Brier, brier/n)
		rate /= n
		near("base rate", s.Budgets[i].BaseRate, rate)
		if rate < 1 {
			near("skill", *s.Budgets[i].Skill, 1-brier/n/(rate*(1-rate)))
		}
	}
	var medians, past, none [4]float64 // within a minute, ten and a factor of 2, and the error
	add := func(to *[4]float64, x, w float64) {
		ratio := (x + 1) / (w + 1)
		for i, yes := range []bool{math.Abs(x-w) <= 60, math.Abs(x-w) <= 600, ratio >= .5 && ratio <= 2} {
			if yes {
				to[i] += 1 / float64(len(asked))
			}
		}
		to[3] += math.Abs(math.Log(ratio)) / float64(len(asked))
	}
	for _, j := range asked {
		w, x := float64(j.Start-j.Submit), math.Inf(1)
		if d := said[j.Submit][0]; d != nil {
			x = d.Quantile(.5)
		}
		last := lastWaits(jobs, j.Submit, .5)
		if math.IsInf(x, 1) {
			x = last
		}
		add(&medians, x, w)
		add(&past, last, w)
		add(&none, 0, w)
	}
	for i, want := range [][4]float64{medians, past, none} {
		got := append([]score.Near{s.Near}, r.Trivial...)[i]
		if got.Said != score.Said[i] || got.Forecasts != len(asked) {
			t.Errorf("%+v is not about the %s of %d jobs", got, score.Said[i], len(asked))
		}
		near("share within a minute", got.WithinMinute, want[0])
		near("share within ten", got.Within10Minutes, want[1])
		near("share within a factor of two", got.WithinFactor2, want[2])
		near("error of the logarithm", got.LogError, want[3])
	}
	near("answered", s.Answered, float64(answered)/float64(len(asked)))
	for i, p := range Promised {
		got := s.Promises[i]
		near("kept", got.Kept.Share, kept[p]/float64(promises[p]))
		near("kept in the band", got.Band.Share, keptInBand[p]/float64(promisesInBand[p]))
		if got.Kept.Of != promises[p] || got.Band.Of != promisesInBand[p] || promisesInBand[p] == 0 {
			t.Errorf("promises of %v: %+v, want %d and %d in the band", p, got, promises[p], promisesInBand[p])
		}
	}
	slices.SortFunc(all, func(a, b pair) int { return cmp.Compare(a.p, b.p) })
	errorSum := 0.
	for b := range 20 {
		var p, came float64
		for _, one := range all {
			if int(math.Min(one.p*20, 19)) == b {
				p += one.p
				came += one.true
			}
		}
		errorSum += math.Abs(p - came)
	}
	near("calibration error", s.CalibrationError, errorSum/float64(len(all)))
}
