package plot

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/forecast/score"
)

// evaluated returns the pictures of made-up scores of two methods.
func evaluated() (*Reliability, *Coverage) {
	reliability := &Reliability{Title: "Probabilities"}
	coverage := &Coverage{Title: "Coverage by month", Quantiles: []float64{.5, .95}}
	for i, name := range []string{"exact", "timid"} {
		curve := Curve{Name: name}
		for k := range 20 {
			p := (float64(k) + .5) / 20
			curve.Points = append(curve.Points, score.Point{Count: 100 + 50*k, Mean: p, True: math.Pow(p, 1/(1+.5*float64(i)))})
		}
		reliability.Curves = append(reliability.Curves, curve)
		method := Covered{Name: name}
		for k := 3; k < 18; k++ {
			wave := .05 * math.Sin(float64(k))
			method.Months = append(method.Months, []float64{.5 + wave + .1*float64(i), .95 + wave*float64(1-i)})
			if i == 0 {
				coverage.Months = append(coverage.Months, fmt.Sprintf("%d-%02d", 2024+k/12, 1+k%12))
			}
		}
		coverage.Methods = append(coverage.Methods, method)
	}
	return reliability, coverage
}

func TestEvaluatedSVG(t *testing.T) {
	reliability, coverage := evaluated()
	for name, picture := range map[string]Picture{"reliability": reliability, "coverage": coverage} {
		got := expect(t, name, picture)
		for _, says := range []string{"exact", "timid"} {
			if !strings.Contains(got, ">"+says+"<") {
				t.Errorf("%s.svg does not say %q", name, says)
			}
		}
		if name == "coverage" && !strings.Contains(got, ">2024-04<") {
			t.Errorf("%s.svg has not the first month", name)
		}
	}
}

// Pictures of few data must not panic.
func TestSmallEvaluatedPictures(t *testing.T) {
	one := &Coverage{Quantiles: []float64{.999}, Months: []string{"1970-01"}, Methods: []Covered{{"one", [][]float64{{0}}}}}
	for _, picture := range []Picture{&Reliability{"", []Curve{{"one", []score.Point{{Count: 1, Mean: 1}}}}}, one} {
		for _, format := range []string{"svg", "png"} {
			if err := picture.Write(&bytes.Buffer{}, format); err != nil {
				t.Errorf("%T: %v", picture, err)
			}
		}
	}
	for _, picture := range []Picture{
		&Reliability{}, &Risks{}, &Coverage{}, &Reliability{"", []Curve{{}}}, &Coverage{Methods: []Covered{{}}},
		&Coverage{Quantiles: []float64{.5}, Methods: []Covered{{}}},
	} {
		if err := picture.Write(&bytes.Buffer{}, "svg"); !errors.Is(err, ErrNothing) {
			t.Errorf("%+v: %v", picture, err)
		}
	}
}
