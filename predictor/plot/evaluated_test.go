package plot

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/trial/backtest"
)

// evaluated returns made-up scores of two methods.
func evaluated() []backtest.Score {
	var scores []backtest.Score
	for i, name := range []string{"exact", "timid"} {
		s := backtest.Score{Method: name}
		for k := range 20 {
			p := (float64(k) + .5) / 20
			s.Reliability = append(s.Reliability, score.Point{Count: 100 + 50*k, Mean: p, True: math.Pow(p, 1/(1+.5*float64(i)))})
		}
		for _, q := range []float64{.5, .95} {
			s.Quantiles = append(s.Quantiles, backtest.QuantileScore{Quantile: q})
		}
		for k := range 18 {
			wave := .05 * math.Sin(float64(k))
			s.Months = append(s.Months, backtest.Month{
				Month: fmt.Sprintf("%d-%02d", 2024+k/12, 1+k%12), Jobs: 40 * k,
				Coverage: []float64{.5 + wave + .1*float64(i), .95 + wave*float64(1-i)},
			})
		}
		scores = append(scores, s)
	}
	return scores
}

// curvesOf returns the curves of the scores' probabilities.
func curvesOf(scores ...backtest.Score) []Curve {
	var all []Curve
	for _, s := range scores {
		all = append(all, Curve{s.Method, s.Reliability})
	}
	return all
}

func TestEvaluatedSVG(t *testing.T) {
	for name, picture := range map[string]Picture{
		"reliability": &Reliability{"Probabilities", curvesOf(evaluated()...)},
		"coverage":    &Coverage{"Coverage by month", evaluated()},
	} {
		got := expect(t, name, picture)
		for _, says := range []string{"exact", "timid"} {
			if !strings.Contains(got, ">"+says+"<") {
				t.Errorf("%s.svg does not say %q", name, says)
			}
		}
		// Two months have too few jobs to be drawn.
		if name == "coverage" && (strings.Contains(got, ">2024-02<") || !strings.Contains(got, ">2024-04<")) {
			t.Errorf("%s.svg has the wrong months", name)
		}
	}
}

// Pictures of few data must not panic.
func TestSmallEvaluatedPictures(t *testing.T) {
	one := backtest.Score{
		Method:      "one",
		Reliability: []score.Point{{Count: 1, Mean: 1}},
		Quantiles:   []backtest.QuantileScore{{Quantile: .999}},
		Months:      []backtest.Month{{Month: "1970-01", Jobs: 100, Coverage: []float64{0}}},
	}
	for _, picture := range []Picture{&Reliability{"", curvesOf(one)}, &Coverage{"", []backtest.Score{one}}} {
		for _, format := range []string{"svg", "png"} {
			if err := picture.Write(&bytes.Buffer{}, format); err != nil {
				t.Errorf("%T: %v", picture, err)
			}
		}
	}
	for _, picture := range []Picture{&Reliability{}, &Risks{}, &Coverage{}, &Reliability{"", []Curve{{}}}, &Coverage{"", []backtest.Score{{}}}} {
		if err := picture.Write(&bytes.Buffer{}, "svg"); !errors.Is(err, ErrNothing) {
			t.Errorf("%+v: %v", picture, err)
		}
	}
}
