package extern

import (
	"errors"
	"fmt"
	"math"
	"unicode"
	"unicode/utf8"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/live/extern/forecasterpb"
)

// The limits of an answer.
const (
	maxPoints = 1000
	maxName   = 100 // bytes, of a class or a version
)

// errNonsense is the error of an answer that is not valid.
var errNonsense = errors.New("nonsense")

func nonsense(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errNonsense}, args...)...)
}

// reply is a checked answer. Known is false if the forecaster says that it does not know.
type reply struct {
	forecast.Answer
	known bool
}

// toReplies checks the answers to a number of questions. Its errors wrap errNonsense, and name
// the answer and the point, both counted from 0.
func toReplies(questions int, answers []*forecasterpb.Answer) ([]reply, error) {
	if len(answers) != questions {
		return nil, nonsense("%d answers to %d questions", len(answers), questions)
	}
	replies := make([]reply, len(answers))
	for i, a := range answers {
		if err := toReply(a, &replies[i]); err != nil {
			return nil, fmt.Errorf("answer %d: %w", i, err)
		}
	}
	return replies, nil
}

func toReply(a *forecasterpb.Answer, r *reply) error {
	if len(a.GetSeconds()) == 0 && len(a.GetProbability()) == 0 {
		return nil
	}
	if err := checkPoints(a.GetSeconds(), a.GetProbability()); err != nil {
		return err
	}
	if s := a.GetSample(); !(s >= 0) || math.IsInf(s, 1) {
		return nonsense("a sample of %v", s)
	}
	if err := checkName(a.GetClass()); err != nil {
		return nonsense("class: %v", err)
	}
	r.Sample, r.Class, r.known = a.GetSample(), a.GetClass(), true
	r.Wait = toDistribution(a.GetSeconds(), a.GetProbability())
	return nil
}

func checkPoints(seconds, probability []float64) error {
	switch {
	case len(seconds) != len(probability):
		return nonsense("%d seconds and %d probabilities", len(seconds), len(probability))
	case len(seconds) > maxPoints:
		return nonsense("%d points, of at most %d", len(seconds), maxPoints)
	}
	lastSeconds, lastProbability := -1., 0.
	for i, s := range seconds {
		p := probability[i]
		switch {
		case !(s >= 0) || math.IsInf(s, 1):
			return nonsense("point %d: %v seconds", i, s)
		case s <= lastSeconds:
			return nonsense("point %d: %v seconds after %v", i, s, lastSeconds)
		case !(p >= 0 && p <= 1):
			return nonsense("point %d: a probability of %v", i, p)
		case p < lastProbability:
			return nonsense("point %d: probability falls from %v to %v", i, lastProbability, p)
		}
		lastSeconds, lastProbability = s, p
	}
	return nil
}

// checkName returns an error if s is too long or cannot be printed.
func checkName(s string) error {
	switch {
	case len(s) > maxName:
		return fmt.Errorf("%d bytes, of at most %d", len(s), maxName)
	case !utf8.ValidString(s):
		return errors.New("not UTF-8")
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("holds %q, which cannot be printed", r)
		}
	}
	return nil
}

// toDistribution returns the distribution of checked points at every delay of the grid. It
// interpolates linearly between points.
func toDistribution(seconds, probability []float64) (d delay.Distribution) {
	var s0, p0 float64 // the last point at or before the delay
	next := 0
	for i := range d {
		at := delay.At(i)
		for next < len(seconds) && seconds[next] <= at {
			s0, p0 = seconds[next], probability[next]
			next++
		}
		d[i] = p0
		if next < len(seconds) {
			s1, p1 := seconds[next], probability[next]
			d[i] = min(p1, p0+(p1-p0)*((at-s0)/(s1-s0)))
		}
	}
	return d
}

// grid is the delays of a delay.Distribution, in seconds.
var grid = func() []float64 {
	seconds := make([]float64, delay.Points)
	for i := range seconds {
		seconds[i] = delay.At(i)
	}
	return seconds
}()
