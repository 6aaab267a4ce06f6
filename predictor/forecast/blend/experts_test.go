package blend

import (
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
)

// scripted is an expert that learns nothing. It says what it is made to say, and has no
// answer where that is nil.
type scripted struct {
	name string
	says func(*forecast.Question) *delay.Distribution
	down string
}

func (s *scripted) Name() string          { return s.name }
func (*scripted) Submitted(*workload.Job) {}
func (*scripted) Started(*workload.Job)   {}
func (*scripted) Ended(*workload.Job)     {}
func (s *scripted) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	*a = forecast.Answer{}
	a.Down = s.down
	d := s.says(q)
	if d == nil {
		return false
	}
	a.Wait = *d
	return true
}

// always says the same.
func always(name string, d *delay.Distribution) *scripted {
	return &scripted{name: name, says: func(*forecast.Question) *delay.Distribution { return d }}
}

// life tells a Blend of jobs, one after the other.
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

// submit submits a job to a partition, and returns what was forecast of it.
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

// wait lets a job wait for so many seconds, cut to whole ones, and run.
func (l *life) wait(j workload.Job, seconds float64) {
	j.Start = j.Eligible + int64(seconds)
	l.Started(&j)
	l.now = max(l.now, j.Start)
	j.End = j.Start + 1
	l.Ended(&j)
}

// jobs lets n jobs wait for as long as they do.
func (l *life) jobs(n int, partition string, mean float64) {
	for range n {
		j, _, _ := l.submit(partition)
		l.wait(j, mean*l.random.ExpFloat64())
	}
}

// shares returns those of the members of what is forecast now, by name.
func (l *life) weightsOf(partition string) map[string]float64 {
	var a forecast.Answer
	l.Forecast(&forecast.Question{Request: workload.Request{Partition: partition}, Now: l.now, Submit: l.now}, &a)
	weights := map[string]float64{}
	for _, o := range a.Opinions {
		weights[o.Expert] = o.Weight
	}
	return weights
}
