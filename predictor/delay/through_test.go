package delay

import (
	"math"
	"testing"
)

// TestThrough: a distribution made of another's quantiles is that one.
func TestThrough(t *testing.T) {
	for _, spread := range []float64{.2, 1, 2} {
		var d Distribution
		for i := range d {
			d[i] = (1 + math.Erf(math.Log((At(i)+1)/1800)/spread/math.Sqrt2)) / 2
		}
		var quantiles []Quantile
		for q := .02; q < .985; q += .02 {
			quantiles = append(quantiles, Quantile{q, d.Quantile(q)})
		}
		got := Through(quantiles)
		for _, q := range []float64{.1, .5, .75, .9, .95} {
			if a, b := got.Quantile(q), d.Quantile(q); math.Abs(a-b) > .05*b+2 {
				t.Errorf("spread %v: the %v quantile is %v, want %v", spread, q, a, b)
			}
		}
		for i := range got {
			if i > 0 && got[i] < got[i-1] {
				t.Fatalf("spread %v: it falls from %v to %v", spread, got[i-1], got[i])
			}
		}
		if last := got[Points-1]; math.Abs(last-quantiles[len(quantiles)-1].Q) > 1e-9 {
			t.Errorf("spread %v: %v is within the grid", spread, last)
		}
	}
}

func TestThroughFew(t *testing.T) {
	for name, c := range map[string]struct {
		quantiles []Quantile
		seconds   float64
		want      float64
	}{
		"none":           {nil, 1e6, 0},
		"at once":        {[]Quantile{{.3, 0}, {.5, 0}}, 0, .5},
		"from 0 on":      {[]Quantile{{.5, At(60)}}, At(60) / 2, .25},
		"a jump":         {[]Quantile{{.2, At(50)}, {.8, At(50)}}, At(50), .8},
		"above the last": {[]Quantile{{.5, At(60)}}, 1e6, .5},
	} {
		d := Through(c.quantiles)
		if got := d.Within(c.seconds); math.Abs(got-c.want) > .03 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
