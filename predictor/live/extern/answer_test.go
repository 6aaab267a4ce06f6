package extern

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/live/extern/forecasterpb"
)

// naive interpolates points at a delay. It tries every two neighbours.
func naive(seconds, probability []float64, at float64) float64 {
	if seconds[0] > 0 {
		seconds, probability = append([]float64{0}, seconds...), append([]float64{0}, probability...)
	}
	for i := 1; i < len(seconds); i++ {
		if seconds[i-1] <= at && at < seconds[i] {
			return probability[i-1] + (probability[i]-probability[i-1])*(at-seconds[i-1])/(seconds[i]-seconds[i-1])
		}
	}
	return probability[len(probability)-1]
}

func TestToDistribution(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		var seconds, probability []float64
		s, p := 0., 0.
		for range 1 + r.IntN(300) {
			p = min(1, p+r.ExpFloat64()/100)
			if r.IntN(4) > 0 || len(seconds) > 0 {
				s += .01 + 1000*r.ExpFloat64()
			}
			seconds, probability = append(seconds, s), append(probability, p)
		}
		if err := checkPoints(seconds, probability); err != nil {
			t.Fatal(err)
		}
		d := toDistribution(seconds, probability)
		for i, got := range d {
			if want := naive(seconds, probability, delay.At(i)); math.Abs(got-want) > 1e-12 {
				t.Fatalf("within %v: %v, want %v", delay.At(i), got, want)
			}
		}
		if again := toDistribution(grid, d[:]); again != d {
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

// FuzzAnswers checks that every answer that passes is a distribution.
func FuzzAnswers(f *testing.F) {
	add := func(sample float64, class string, seconds, probability []float64) {
		data, err := proto.Marshal(&forecasterpb.ForecastResponse{Answers: []*forecasterpb.Answer{
			{Seconds: seconds, Probability: probability, Sample: sample, Class: class},
		}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	add(20, "ada", []float64{0, 60, 1e9}, []float64{.1, .5, 1})
	add(1, "", []float64{5e-324, math.MaxFloat64}, []float64{0, 1})
	add(math.NaN(), "", []float64{math.Inf(1)}, []float64{-1})
	add(0, "", []float64{1, 2}, []float64{1})
	f.Add(binary.AppendUvarint(nil, 1<<40))
	f.Fuzz(func(t *testing.T, data []byte) {
		var response forecasterpb.ForecastResponse
		if proto.Unmarshal(data, &response) != nil {
			return
		}
		replies, err := toReplies(len(response.GetAnswers()), response.GetAnswers())
		if err != nil {
			if !errors.Is(err, errNonsense) {
				t.Errorf("%v is not nonsense", err)
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
			if !r.known && !cmp.Equal(r.Answer, forecast.Answer{}) {
				t.Errorf("knows nothing, and yet says %+v", r)
			}
		}
	})
}
