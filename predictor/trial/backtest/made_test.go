package backtest

import (
	"math"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/workload"
)

// made returns n random jobs, one a minute. Each wait is drawn from the job's truth. One
// job in twenty is cancelled before it starts.
func made(n int, seed uint64) []workload.Job {
	random := rand.New(rand.NewPCG(seed, 0))
	jobs := make([]workload.Job, n)
	for i := range jobs {
		j := &jobs[i]
		nodes := int32(1) << random.IntN(7)
		*j = workload.Job{ID: int64(i + 1), Request: workload.Request{
			Partition: []string{"main", "main", "long"}[random.IntN(3)],
			Size:      workload.Size{Nodes: nodes, CPUs: 4 * nodes},
			Limit:     600 << random.IntN(8),
		}}
		j.Submit = 1_600_000_000 + 60*int64(i)
		j.Eligible = j.Submit
		if random.IntN(20) == 0 {
			j.End, j.State = j.Submit+random.Int64N(1000), workload.Cancelled
			continue
		}
		j.Start = j.Submit + truthOf(&j.Request).draw(random)
		j.End = j.Start + random.Int64N(j.Limit)
		j.State = workload.Completed
	}
	return jobs
}

// truth is the distribution of the wait of a made job: 0 with probability atom, and
// otherwise exponential, rounded down to whole seconds.
type truth struct{ atom, mean float64 }

func truthOf(r *workload.Request) truth {
	t := truth{atom: .4, mean: 30 * float64(r.Nodes)}
	if r.Partition == "long" {
		t = truth{mean: float64(r.Limit)}
	}
	return t
}

func (t truth) draw(random *rand.Rand) int64 {
	if random.Float64() < t.atom {
		return 0
	}
	return int64(t.mean * random.ExpFloat64())
}

func (t truth) Quantile(q float64) float64 {
	if q <= t.atom {
		return 0
	}
	s := max(0, math.Floor(-t.mean*math.Log1p(-(q-t.atom)/(1-t.atom)))-2)
	for t.Within(s) < q {
		s++
	}
	return s
}

func (t truth) Within(seconds float64) float64 {
	if seconds < 0 {
		return 0
	}
	return t.atom + (1-t.atom)*-math.Expm1(-(math.Floor(seconds)+1)/t.mean)
}

func (t truth) Below(seconds float64) float64 { return t.Within(math.Ceil(seconds) - 1) }

// fake is a Method that ignores events.
type fake struct {
	name    string
	predict func(*forecast.Question) (wait, lower score.Prediction)
}

func (f fake) Name() string                                                { return f.name }
func (fake) Submitted(*workload.Job)                                       {}
func (fake) Started(*workload.Job)                                         {}
func (fake) Ended(*workload.Job)                                           {}
func (f fake) Predict(q *forecast.Question) (wait, lower score.Prediction) { return f.predict(q) }

// knowing returns a Method that predicts the truth, also as its lower bound.
func knowing() Method {
	return fake{"knowing", func(q *forecast.Question) (wait, lower score.Prediction) {
		t := truthOf(&q.Request)
		return t, t
	}}
}
