package extern

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/extern/forecasterpb"
)

func pointsOf(numbers ...float64) (points []*forecasterpb.Point) {
	for i := 0; i+1 < len(numbers); i += 2 {
		points = append(points, &forecasterpb.Point{Seconds: numbers[i], Probability: numbers[i+1]})
	}
	return points
}

// naive reads points off at a delay by trying every two neighbours.
func naive(points []*forecasterpb.Point, at float64) float64 {
	all := points
	if points[0].Seconds > 0 {
		all = append(pointsOf(0, 0), points...)
	}
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		if a.Seconds <= at && at < b.Seconds {
			return a.Probability + (b.Probability-a.Probability)*(at-a.Seconds)/(b.Seconds-a.Seconds)
		}
	}
	return all[len(all)-1].Probability
}

func TestToDistribution(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		var numbers []float64
		seconds, probability := 0., 0.
		for range 1 + r.IntN(300) {
			probability = min(1, probability+r.ExpFloat64()/100)
			if r.IntN(4) > 0 || len(numbers) > 0 {
				seconds += .01 + 1000*r.ExpFloat64()
			}
			numbers = append(numbers, seconds, probability)
		}
		points := pointsOf(numbers...)
		if err := checkPoints(points); err != nil {
			t.Fatal(err)
		}
		d := toDistribution(points)
		for i, got := range d {
			if want := naive(points, delay.At(i)); math.Abs(got-want) > 1e-12 {
				t.Fatalf("within %v: %v, want %v", delay.At(i), got, want)
			}
		}
		if again := toDistribution(fromDistribution(&d)); again != d {
			t.Fatalf("%v comes back as %v", d, again)
		}
	}
}

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"": true, "jobs of Ada, ≤ 2 nodes": true, strings.Repeat("x", 100): true,
		strings.Repeat("x", 101): false, "a\nb": false, "\x1b[2J": false, "\xff": false, "\u202e": false,
	} {
		if err := checkName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// FuzzAnswers holds the answers that pass to what a distribution must be.
func FuzzAnswers(f *testing.F) {
	add := func(sample float64, class string, points ...float64) {
		data, err := proto.Marshal(&forecasterpb.ForecastResponse{Answers: []*forecasterpb.Answer{
			{Points: pointsOf(points...), Sample: sample, Class: class},
		}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	add(20, "ada", 0, .1, 60, .5, 1e9, 1)
	add(1, "", 5e-324, 0, math.MaxFloat64, 1)
	add(math.NaN(), "", math.Inf(1), -1)
	f.Add(binary.AppendUvarint(nil, 1<<40))
	f.Fuzz(func(t *testing.T, data []byte) {
		var response forecasterpb.ForecastResponse
		if proto.Unmarshal(data, &response) != nil {
			return
		}
		replies, err := toReplies(len(response.GetAnswers()), response.GetAnswers())
		if err != nil {
			if !errors.Is(err, errNonsense) {
				t.Errorf("%v is no nonsense", err)
			}
			return
		}
		for _, r := range replies {
			last := 0.
			for i, p := range r.Wait {
				if !(p >= last && p <= 1) {
					t.Fatalf("point %d is %v after %v", i, p, last)
				}
				last = p
			}
			if !(r.Sample >= 0) || math.IsInf(r.Sample, 1) || len(r.Class) > maxName {
				t.Errorf("%+v", r)
			}
			if !r.known && r.Answer != (reply{}.Answer) {
				t.Errorf("knows nothing, and yet says %+v", r)
			}
		}
	})
}
