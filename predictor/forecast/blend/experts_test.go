package blend

import (
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
)

// scripted is an expert that learns nothing. Its answers are those of says. If says returns
// nil, it has no answer.
type scripted struct {
	name   string
	says   func(*forecast.Question) *delay.Distribution
	down   string
	beyond float64
}

func (s *scripted) Name() string          { return s.name }
func (*scripted) Submitted(*workload.Job) {}
func (*scripted) Started(*workload.Job)   {}
func (*scripted) Ended(*workload.Job)     {}
func (s *scripted) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	*a = forecast.Answer{}
	a.Down, a.Beyond = s.down, s.beyond
	d := s.says(q)
	if d == nil {
		return false
	}
	a.Wait = *d
	return true
}

// always returns an expert that always answers d.
func always(name string, d *delay.Distribution) *scripted {
	return &scripted{name: name, says: func(*forecast.Question) *delay.Distribution { return d }}
}

// life passes the events of jobs to a Blend, one job after the other.
type life struct {
	*Blend
	random  *rand.Rand
	now, id int64
}

func newLife(seed uint64, experts ...forecast.Forecaster) *life {
	return &life{
		Blend:  New("blend", rand.New(rand.NewPCG(seed, 1)), experts...),
		random: rand.New(rand.NewPCG(seed, 2)), now: 1_000_000_000,
	}
}

// submit submits a job to a partition. It returns the forecast made before.
func (l *life) submit(partition string) (j workload.Job, a forecast.Answer, ok bool) {
	l.id++
	l.now++
	j = workload.Job{ID: l.id, Submit: l.now, Eligible: l.now}
	j.Partition = partition
	q := forecast.AtSubmission(&j)
	ok = l.Forecast(&q, &a)
	l.Submitted(&j)
	return j, a, ok
}

// wait starts the job after it has waited for whole seconds, and ends it a second later.
func (l *life) wait(j workload.Job, seconds float64) {
	j.Start = j.Eligible + int64(seconds)
	l.Started(&j)
	l.now = max(l.now, j.Start)
	j.End = j.Start + 1
	l.Ended(&j)
}

// jobs submits n jobs, one after the other. Their waits are exponential with this mean, in
// seconds.
func (l *life) jobs(n int, partition string, mean float64) {
	for range n {
		j, _, _ := l.submit(partition)
		l.wait(j, mean*l.random.ExpFloat64())
	}
}

// weightsOf returns the experts' weights in a forecast made now, by name.
func (l *life) weightsOf(partition string) map[string]float64 {
	var a forecast.Answer
	l.Forecast(&forecast.Question{Request: workload.Request{Partition: partition}, Now: l.now, Submit: l.now}, &a)
	weights := map[string]float64{}
	for _, o := range a.Opinions {
		weights[o.Expert] = o.Weight
	}
	return weights
}
