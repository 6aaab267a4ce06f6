package qbets

// Tests of what the VARQ report (UCSB 2007-09) states about QBETS, by section.

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// Section 2.3: "a non-parametric estimate of percentiles based on a binomial
// (success-failure) treatment of historical job delay data".
func TestSection23BinomialBound(t *testing.T) {
	r := workload.Request{Limit: 3600}
	p := ofOneClass()
	for i := range int64(58) {
		p.Learn(started(r, 1+i, 100+i))
	}
	if b := p.Bound(r, 0, .95); b.OK {
		t.Errorf("58 waits bound the .95 quantile: %+v", b)
	}
	p.Learn(started(r, 100, 50))
	b := p.Bound(r, 0, .95)
	if !b.OK || b.Index != 59 || b.Seconds != 157 || b.Sample != 59 {
		t.Errorf("59 waits: %+v, want the greatest, 157", b)
	}
	if want := 1 - math.Pow(.95, 59); math.Abs(b.Confidence-want) > 1e-12 {
		t.Errorf("59 waits: confidence %v, want %v", b.Confidence, want)
	}
}

// Section 2.3: "we have modified QBETS to invert this functionality". The
// probability for a budget is at least q exactly when the bound on the q-quantile
// is within the budget.
func TestSection23InverseAgreesWithBound(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	p := New()
	learnMixture(p, 4000, random)
	for range 200 {
		r := randomRequest(random)
		for percent := 1; percent < 100; percent++ {
			q := float64(percent) / 100
			b := p.Bound(r, 0, q)
			if !b.OK {
				continue
			}
			if e := ask(p, r, b.Seconds); e.Prob < q {
				t.Fatalf("%+v: %+v, but within it %+v", r, b, e)
			}
			if b.Seconds > 0 {
				if e := ask(p, r, b.Seconds-1); e.Prob >= q {
					t.Fatalf("%+v: %+v, but a second earlier %+v", r, b, e)
				}
			}
		}
	}
}

// Section 2.3: "a specialized change-point detector so that it only considers
// history relevant".
func TestSection23ChangePoints(t *testing.T) {
	r := workload.Request{Limit: 3600}
	for _, change := range []struct {
		name         string
		before, then float64
	}{
		{"slower", 100, 10_000},
		{"faster", 10_000, 100},
	} {
		t.Run(change.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(6, 6))
			p := ofOneClass()
			wait := func(median float64) int64 { return int64(median * math.Exp(random.NormFloat64()/2)) }
			const begin, changed = 1_000_000, 1_003_000 // a job starts every second
			for at := int64(begin); at < changed; at++ {
				wait := wait(change.before)
				p.Learn(started(r, at-wait, wait))
			}
			for at := int64(changed); at < changed+200; at++ {
				wait := wait(change.then)
				p.Learn(started(r, at-wait, wait))
			}
			// The .95 quantile is 2.3 times the median.
			if b := p.Bound(r, 0, .95); b.Sample > 300 || float64(b.Seconds) < 2*change.then || float64(b.Seconds) > 10*change.then {
				t.Errorf("200 waits after the change: %+v", b)
			}
			if lastChange(p, r) < changed {
				t.Errorf("change point at %d, want %d or later", lastChange(p, r), changed)
			}
		})
	}
}

// Section 2.3: classes have "the practical effect of indicating (indirectly)
// where the backfilling cutoff is".
func TestSection23ClassesFollowTheRequest(t *testing.T) {
	p := New()
	r := workload.Request{Partition: "dque", Size: workload.Size{Nodes: 4}}
	for i := range int64(400) {
		r.Limit = 2 * hour
		p.Learn(started(r, 1+i, 5+i%10))
		r.Limit = 20 * hour
		p.Learn(started(r, 1+i, 5000+i))
	}
	for limit, slow := range map[int64]bool{hour + 1: false, 2 * hour: false, 18*hour + 1: true, 24 * hour: true} {
		r.Limit = limit
		if b := p.Bound(r, 0, .95); !b.OK || (b.Seconds >= 5000) != slow {
			t.Errorf("limit %d s: %+v, want slow: %v", limit, b, slow)
		}
	}
}

// Section 2.3: "where the backfilling cutoff is at any given moment". Limits up to the
// cut-off are backfilled. Classes split at the cut-off, which is not a border of cells. When
// the cut-off moves, classes split at the new one and join at the old one. The border is not
// exact, because some jobs near the cut-off happen to wait like jobs on the other side.
func TestSection23BoundaryFollowsTheCutoff(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 13))
	p := New()
	r := workload.Request{Partition: "dque", Size: workload.Size{Nodes: 4}}
	now := int64(0)
	learn := func(cutoff int64) {
		for range 8000 {
			r.Limit = minute * (10 + random.Int64N(12*60))
			median := 8. * hour
			if r.Limit <= cutoff {
				median = .5 * hour
			}
			now += 60
			p.Learn(started(r, now, int64(median*math.Exp(random.NormFloat64()))))
		}
	}
	class := func(limit int64) Class {
		r.Limit = limit
		return p.services["dque"].class(&r, Class{})
	}
	for i, cutoff := range []int64{170 * minute, 7 * hour, 100 * minute} {
		learn(cutoff)
		var boundaries []string
		nearest := int64(math.MaxInt64)
		for limit := int64(15 * minute); limit < 12*hour; limit += minute {
			if class(limit) != class(limit+minute) {
				boundaries = append(boundaries, span(limit))
				nearest = min(nearest, max(limit-cutoff, cutoff-limit))
			}
		}
		t.Logf("cut-off %s: boundaries at %v", span(cutoff), boundaries)
		if nearest > 5*minute {
			t.Errorf("cut-off %s: boundaries at %v, none within five minutes", span(cutoff), boundaries)
		}
		if i > 0 && len(boundaries) > 3 {
			t.Errorf("cut-off %s: boundaries at %v, of which most are not there", span(cutoff), boundaries)
		}
		for limit, slow := range map[int64]bool{cutoff - 5*minute: false, cutoff + 6*minute: true} {
			r.Limit = limit
			if b := p.Bound(r, now, .5); !b.OK || b.Seconds > 3*hour != slow {
				t.Errorf("cut-off %s, limit %s: %+v, want slow: %v", span(cutoff), span(limit), b, slow)
			}
		}
	}
}

// Section 4.4: on datastar, jobs "were being assigned (accidentally) to an account used for
// educational purposes and not research", which were served worse than "the average research
// user tracked by QBETS", and promises failed. Here the ranks of the account's waits show
// that it is served worse, and bounds hold.
func TestSection44EducationAccount(t *testing.T) {
	random := rand.New(rand.NewPCG(14, 14))
	p := New()
	promised, kept := map[string][3]int{}, map[string][3]int{}
	quantiles := [...]float64{.5, .75, .95}
	now := int64(10_000_000)
	for i := range 20_000 {
		r := workload.Request{Partition: "normal", Account: "research", User: fmt.Sprint("r", random.IntN(30)), Size: workload.Size{Nodes: 1 << random.IntN(5)}, Limit: 18 * hour}
		median := 600 * float64(r.Nodes)
		if random.IntN(15) == 0 {
			r.Account, r.User = "education", fmt.Sprint("e", random.IntN(5))
			median *= 5
		}
		now += 60
		wait := int64(median * math.Exp(random.NormFloat64()))
		if i > 5000 {
			counts, held := promised[r.Account], kept[r.Account]
			for j, q := range quantiles {
				if b := p.Bound(r, now, q); b.OK {
					counts[j]++
					if wait <= b.Seconds {
						held[j]++
					}
				}
			}
			promised[r.Account], kept[r.Account] = counts, held
		}
		p.Learn(started(r, now-wait, wait))
	}
	for _, account := range []string{"research", "education"} {
		for j, q := range quantiles {
			n, k := promised[account][j], kept[account][j]
			t.Logf("%s: bound on the %v quantile held for %d of %d", account, q, k, n)
			if n == 0 || float64(k) < (q-.02)*float64(n) {
				t.Errorf("%s: bound on the %v quantile held for %d of %d", account, q, k, n)
			}
		}
	}
	r := workload.Request{Partition: "normal", Account: "education", Size: workload.Size{Nodes: 4}, Limit: 18 * hour}
	if b := p.Bound(r, now, .5); !strings.Contains(b.Class, "account=education") {
		t.Errorf("answered by %q, want the account's own service", b.Class)
	}
}

// Section 4.6, Figure 5, dante: while a machine is down, "the delay experienced by each job
// is successively larger", and the predictions "necessarily under-predict". In this week of
// a busy machine it is down for 6 hours. Bounds from the newest waits alone hold too rarely.
// Once the silence is too long to be chance, a Predictor gives no bound, but a reason. Its
// bounds hold often enough.
func TestSection46Dante(t *testing.T) {
	const (
		day      = 24 * hour
		down, up = 60*day + 10*hour, 60*day + 16*hour
		from, to = 58 * day, 65 * day
	)
	random := rand.New(rand.NewPCG(15, 15))
	r := workload.Request{Partition: "batch", Size: workload.Size{Nodes: 1, CPUs: 4}, Limit: hour}
	p := New()
	var starts []workload.Job // of waiting jobs, ordered by start
	// Plain QBETS: the newest 1000 waits and the binomial bound.
	var newest []uint32
	var sorted stats.Multiset
	index, _, _ := stats.QuantileBound(1000, .95, .95)
	var promised, kept struct{ plain, complete int }
	var refusal string
	backlog := int64(0)
	for now := int64(1); now < to; now += 1 + int64(60*random.ExpFloat64()) {
		for len(starts) > 0 && starts[0].Start < now {
			p.Started(&starts[0])
			wait, _ := starts[0].Wait()
			newest = append(newest, uint32(wait))
			sorted.Insert(uint32(wait))
			if len(newest) > 1000 {
				sorted.Delete(newest[0])
				newest = newest[1:]
			}
			starts = starts[1:]
		}
		wait := int64(600 * math.Exp(random.NormFloat64()/2))
		if start := now + wait; start > down && start < up {
			backlog++
			wait = up + 2*backlog - now
		}
		if now > from {
			promised.plain++
			if wait <= int64(sorted.Select(index-1)) {
				kept.plain++
			}
			if b := p.Bound(r, now, .95); b.OK {
				promised.complete++
				if wait <= b.Seconds {
					kept.complete++
				}
			} else if b.Down != "" {
				refusal = b.Down
				if now < down || now > up+hour {
					t.Fatalf("%d s after the machine went down: %s", now-down, b.Down)
				}
			}
		}
		j := started(r, now, wait)
		j.ID = now
		waits := j
		waits.Start = 0
		p.Submitted(&waits)
		i, _ := slices.BinarySearchFunc(starts, j, func(a, b workload.Job) int { return cmp.Compare(a.Start, b.Start) })
		starts = slices.Insert(starts, i, j)
	}
	t.Logf("plain QBETS kept %d of %d, complete %d of %d; refused since %s", kept.plain, promised.plain, kept.complete, promised.complete, refusal)
	if float64(kept.plain) >= .95*float64(promised.plain) {
		t.Error("plain QBETS keeps its promise: no outage was enacted")
	}
	if float64(kept.complete) < .95*float64(promised.complete) {
		t.Error("the promise is broken")
	}
	if !regexp.MustCompile(`^no job has started for [345]h[0-9]+m while \d+ wait: the cluster seems to be down$`).MatchString(refusal) {
		t.Errorf("last refusal: %q", refusal)
	}
	if b := p.Bound(r, to, .95); b.Seconds > 3*hour {
		t.Errorf("days after: %+v, want nothing learnt of the outage", b)
	}
}

// Figure 4: a 4-node, 1-hour job with a deadline 12 hours ahead. The
// probability of starting in time decays while the job is too long to be
// backfilled, leaps when its limit passes the cut-off, and then falls to 0.
func TestFigure4Trajectory(t *testing.T) {
	const cutoff = 8 * hour // limits up to it are backfilled
	random := rand.New(rand.NewPCG(7, 7))
	p := New()
	r := workload.Request{Partition: "dque", Size: workload.Size{Nodes: 4, CPUs: 8}}
	for i := range int64(20_000) {
		r.Limit = minute * (30 + random.Int64N(13*60))
		median := 15. * hour
		if r.Limit <= cutoff {
			median = 2 * hour
		}
		wait := int64(median * math.Exp(1.2*random.NormFloat64()))
		p.Learn(started(r, 1_000_000_000+60*i-wait, wait))
	}
	r.Limit = hour
	candidates, est := trajectory(hour, 12*hour)
	p.Forecast(r, 0, candidates, est)

	leap := 0
	for i := 1; i < len(est); i++ {
		rise := est[i].Prob - est[i-1].Prob
		if rise > .3 {
			if leap > 0 {
				t.Errorf("leaps both at %d and at %d", leap, i)
			}
			leap = i
		} else if rise > .1 {
			t.Errorf("candidate %d: probability rises from %v to %v", i, est[i-1].Prob, est[i].Prob)
		}
	}
	if leap == 0 || candidates[leap].Limit != cutoff {
		t.Fatalf("leap at candidate %d, want where the limit is %d s", leap, cutoff)
	}
	if start, end := est[0].Prob, est[leap-1].Prob; start > .5 || end > start-.1 {
		t.Errorf("before the leap: from %v to %v, want a decay", start, end)
	}
	if top := est[leap].Prob; top < .6 {
		t.Errorf("at the leap: %v, want more than .6", top)
	}
	if last := est[len(est)-1]; last.Prob > .01 {
		t.Errorf("30 s before the deadline: %+v, want 0", last)
	}
}

// series is a synthetic stream of waits.
type series struct {
	name string
	next func(i int, random *rand.Rand) float64
}

// ar1 returns log-normal waits whose logarithms have the lag-1 autocorrelation rho.
func ar1(rho, sigma float64) func(int, *rand.Rand) float64 {
	x := 0.
	return func(_ int, random *rand.Rand) float64 {
		x = rho*x + math.Sqrt(1-rho*rho)*random.NormFloat64()
		return 1000 * math.Exp(sigma*x)
	}
}

// Sections 2.3 and 3.1: whatever the waits are, the bound on the q-quantile holds for a
// fraction q of them or more. Each fraction is of 10,000 waits, so for independent waits its
// standard error is at most .005. The test allows two standard errors.
func TestSection31Coverage(t *testing.T) {
	shifting := func(period int, factor float64, rho float64) func(int, *rand.Rand) float64 {
		base := ar1(rho, 1)
		return func(i int, random *rand.Rand) float64 {
			w := base(i, random)
			if i/period%2 == 1 {
				w *= factor
			}
			return w
		}
	}
	for _, s := range []series{
		{"stationary", ar1(0, 1.5)},
		{"a third at once", func(_ int, random *rand.Rand) float64 {
			if random.IntN(3) == 0 {
				return 0
			}
			return 600 * random.ExpFloat64()
		}},
		{"autocorrelated .5", ar1(.5, 1.5)},
		{"autocorrelated .9", ar1(.9, 1.5)},
		{"shifting", shifting(2000, 50, 0)},
		{"shifting and autocorrelated", shifting(2000, 50, .6)},
		{"growing", func(i int, random *rand.Rand) float64 {
			return float64(5000+i) * random.ExpFloat64()
		}},
		{"shrinking", func(i int, random *rand.Rand) float64 {
			return float64(15_000-i) * random.ExpFloat64()
		}},
	} {
		t.Run(s.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(8, 8))
			r := workload.Request{Limit: 3600}
			p := ofOneClass()
			quantiles := []float64{.5, .75, .95}
			var held, asked [3]int
			for i := range 10_000 {
				wait := int64(s.next(i, random))
				for j, q := range quantiles {
					if b := p.Bound(r, 0, q); b.OK {
						asked[j]++
						if wait <= b.Seconds {
							held[j]++
						}
					}
				}
				p.Learn(started(r, int64(1+i), wait))
			}
			report := ""
			for j, q := range quantiles {
				fraction := float64(held[j]) / float64(asked[j])
				report += fmt.Sprintf(" %v: %.4f", q, fraction)
				if fraction < q-.01 {
					t.Errorf("bound on the %v quantile holds for %.4f", q, fraction)
				}
				if fraction > q+.4*(1-q) {
					t.Errorf("bound on the %v quantile holds for %.4f: wastefully long", q, fraction)
				}
			}
			t.Log("coverage" + report)
		})
	}
}
