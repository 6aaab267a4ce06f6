package joint

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// copula draws the ranks of the delays at two sites.
type copula func(*rand.Rand) (u, v float64)

func gaussian(r float64) copula {
	return func(random *rand.Rand) (u, v float64) {
		x := random.NormFloat64()
		return cdf(x), cdf(r*x + math.Sqrt(1-r*r)*random.NormFloat64())
	}
}

// clayton is Clayton's copula, reflected: long delays depend on one another more than short ones.
// Its Kendall's tau is theta/(theta+2).
func clayton(theta float64) copula {
	return func(random *rand.Rand) (u, v float64) {
		u, w := random.Float64(), random.Float64()
		v = math.Pow(1+math.Pow(u, -theta)*(math.Pow(w, -theta/(1+theta))-1), -1/theta)
		return 1 - u, 1 - v
	}
}

// shock draws delays that are sometimes both long: with the probability prob, both are among the
// longest.
func shock(prob float64) copula {
	return func(random *rand.Rand) (u, v float64) {
		if random.Float64() < prob {
			return 1 - prob*random.Float64(), 1 - prob*random.Float64()
		}
		return (1 - prob) * random.Float64(), (1 - prob) * random.Float64()
	}
}

const start = 900_000_000 // Unix seconds

// lived returns what is learnt from jobs that were submitted to a and b in the same hours, one an
// hour. now is a time at which all of this counts.
func lived(draw copula, days int, random *rand.Rand) (d Dependence, now int64) {
	for i := range int64(24 * days) {
		u, v := draw(random)
		at := start + i*hour
		d.Learn("a", at, at+600, u)
		d.Learn("b", at, at+900, v)
	}
	return d, start + int64(days)*day + settled
}

func TestMeasuredCorrelation(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, r := range []float64{-.9, -.3, 0, .2, .6, .95} {
		d, now := lived(gaussian(r), 89, random)
		e := d.Between("a", "b", now)
		if math.Abs(e.Measured-r) > .06 || e.Days < 60 || e.Days > 89 {
			t.Errorf("of the correlation %v, %v was measured on %v days", r, e.Measured, e.Days)
		}
		if want := math.Tanh(math.Atanh(e.Measured) * e.Days / (e.Days + 10)); e.Correlation != want {
			t.Errorf("%v is shrunk to %v, want %v", e.Measured, e.Correlation, want)
		}
		if d.Between("b", "a", now) != e {
			t.Error("the correlation is not symmetric")
		}
	}
	if e := new(Dependence).Between("a", "b", start); e != (Estimate{}) {
		t.Errorf("without a past: %v", e)
	}
}

// TestLittleEvidence: after one day of equal delays at both sites, the correlation is still weak.
func TestLittleEvidence(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		d, now := lived(gaussian(.99), 1, random)
		if e := d.Between("a", "b", now); e.Correlation > .4 || e.Measured < .9 {
			t.Errorf("%v after one day", e)
		}
	}
}

// TestOneSite: two jobs of one site, submitted in the same hour, share the part that all jobs of
// the hour share.
func TestOneSite(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for _, r := range []float64{0, .5} {
		var d Dependence
		for i := range int64(80 * 24) {
			common, at := math.Sqrt(r)*random.NormFloat64(), start+i*hour
			for range random.IntN(4) {
				d.Learn("a", at, at, cdf(common+math.Sqrt(1-r)*random.NormFloat64()))
			}
		}
		if e := d.Between("a", "a", start+82*day); math.Abs(e.Measured-r) > .06 {
			t.Errorf("of the correlation %v, %v was measured", r, e.Measured)
		}
	}
}

// TestJointAgainstSimulation: with correlations measured on one past, probabilities come true in
// another. Where another copula than the Gaussian joins the delays, the probabilities are nearer to
// the truth than the independent ones.
func TestJointAgainstSimulation(t *testing.T) {
	for _, c := range []struct {
		name  string
		draw  copula
		limit float64
	}{
		{"gaussian .7", gaussian(.7), .025}, {"gaussian -.5", gaussian(-.5), .025}, {"independent", gaussian(0), .02},
		{"clayton 2", clayton(2), .06}, {"shock .15", shock(.15), .11},
	} {
		random := rand.New(rand.NewPCG(4, 4))
		d, now := lived(c.draw, 90, random)
		worst, worstIndependent := 0., 0.
		for _, p := range []float64{.5, .75, .85, .9, .95} {
			const n = 40_000
			any, all := 0, 0
			for range n {
				u, v := c.draw(random)
				if u <= p || v <= p {
					any++
				}
				if u <= p && v <= p {
					all++
				}
			}
			a, b := Member{"a", p}, Member{"b", p}
			for _, x := range []struct {
				g    Group
				came int
			}{{AnyOf(a, b), any}, {AllOf(a, b), all}} {
				share := float64(x.came) / n
				worst = max(worst, math.Abs(x.g.Prob(d.At(now))-share))
				worstIndependent = max(worstIndependent, math.Abs(x.g.Independent()-share))
			}
		}
		t.Logf("%s: %v; off by %.3f, with independence by %.3f", c.name, d.Between("a", "b", now), worst, worstIndependent)
		if worst > c.limit || c.name != "independent" && worst > worstIndependent {
			t.Errorf("%s: off by %v; independence is off by %v", c.name, worst, worstIndependent)
		}
	}
}

// TestNotYetKnown: jobs that were submitted in the last two days, or after the time asked about,
// change nothing.
func TestNotYetKnown(t *testing.T) {
	d, now := lived(gaussian(.5), 30, rand.New(rand.NewPCG(5, 5)))
	before := d.Between("a", "b", now)
	for i := range int64(40) {
		at := now - settled + i*hour
		d.Learn("a", at, at, .99)
		d.Learn("b", at, at, .99)
	}
	if after := d.Between("a", "b", now); after != before {
		t.Errorf("%v, then %v", before, after)
	}
	state := d.Windows("a")
	for _, submit := range []int64{-5, now + 1, now - memory - 1} {
		d.Learn("a", submit, now, .5)
	}
	d.Learn("a", now, now, math.NaN())
	d.Learn("a", now, now, 1.1)
	if diff := cmp.Diff(state, d.Windows("a")); diff != "" {
		t.Errorf("what cannot be was learnt:\n%s", diff)
	}
}

// TestForgets: three months later nothing of the past counts, and a later job removes it.
func TestForgets(t *testing.T) {
	d, now := lived(gaussian(.9), 30, rand.New(rand.NewPCG(6, 6)))
	later := now + memory
	if e := d.Between("a", "b", later); e.Correlation != 0 {
		t.Errorf("%v after three months", e)
	}
	d.Learn("a", later, later, .5)
	if n := len(d.Windows("a")); n != 1 {
		t.Errorf("%d windows are left", n)
	}
}

func TestManySites(t *testing.T) {
	var d Dependence
	for i := range mostSites + 10 {
		d.Learn(strings.Repeat("x", i+1), start+int64(i)*hour, start+int64(i)*hour, .5)
	}
	if len(d.sites) != mostSites || d.Windows("x") != nil || d.Windows(strings.Repeat("x", mostSites+10)) == nil {
		t.Errorf("%d sites are remembered", len(d.sites))
	}
}

func TestWindowsOfOthers(t *testing.T) {
	d, now := lived(gaussian(.5), 10, rand.New(rand.NewPCG(7, 7)))
	text, err := json.Marshal(d.Windows("b"))
	if err != nil {
		t.Fatal(err)
	}
	var windows []Window
	if err := json.Unmarshal(text, &windows); err != nil {
		t.Fatal(err)
	}
	var other Dependence
	if err := other.SetWindows("b", windows); err != nil {
		t.Fatal(err)
	}
	if err := other.SetWindows("a", d.Windows("a")); err != nil {
		t.Fatal(err)
	}
	if got, want := other.Between("a", "b", now), d.Between("a", "b", now); got != want || want.Days == 0 {
		t.Errorf("%v, want %v", got, want)
	}
	if err := other.SetWindows("a", nil); err != nil || other.Windows("a") != nil {
		t.Errorf("no windows: %v", err)
	}
	nan := math.NaN()
	for _, c := range []struct {
		windows []Window
		want    string
	}{
		{[]Window{{Hour: 5, N: 1}, {Hour: 5, N: 1}}, `windows of "b": number 2, of hour 5 with 1 jobs, is not later than those before it, or has no jobs; send one window an hour, in order`},
		{[]Window{{Hour: -5, N: 1}}, `windows of "b": number 1, of hour -5 with 1 jobs, is not later than those before it, or has no jobs; send one window an hour, in order`},
		{[]Window{{Hour: 5}}, `windows of "b": number 1, of hour 5 with 0 jobs, is not later than those before it, or has no jobs; send one window an hour, in order`},
		{[]Window{{Hour: 5, N: 1, Sum: 4}}, `windows of "b": number 1 has the sums 4 and 0, which are not those of 1 scores and their squares from -3 to 3; send it anew`},
		{[]Window{{Hour: 5, N: 2, Sum: 2, Squares: 1}}, `windows of "b": number 1 has the sums 2 and 1, which are not those of 2 scores and their squares from -3 to 3; send it anew`},
		{[]Window{{Hour: 5, N: 2, Sum: nan, Squares: 1}}, `windows of "b": number 1 has the sums NaN and 1, which are not those of 2 scores and their squares from -3 to 3; send it anew`},
		{make([]Window, 3000), `windows of "b": 3000 are more than the 2185 hours that are remembered; send the newest`},
	} {
		if err := other.SetWindows("b", c.windows); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	if diff := cmp.Diff(windows, other.Windows("b")); diff != "" {
		t.Errorf("wrong windows changed something:\n%s", diff)
	}
}

func BenchmarkBetween(b *testing.B) {
	d, now := lived(gaussian(.5), 90, rand.New(rand.NewPCG(8, 8)))
	for b.Loop() {
		d.Between("a", "b", now)
	}
}
