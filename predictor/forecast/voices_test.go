package forecast

import (
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/workload"
)

// voice is a Forecaster that learns nothing: it says what it is made to say, or
// nothing where that is nil.
type voice struct {
	name string
	says func(*Question) *delay.Distribution
	down string
}

func (v *voice) Name() string          { return v.name }
func (*voice) Submitted(*workload.Job) {}
func (*voice) Started(*workload.Job)   {}
func (*voice) Ended(*workload.Job)     {}
func (v *voice) Forecast(q *Question, a *Answer) bool {
	*a = Answer{}
	a.Down = v.down
	d := v.says(q)
	if d == nil {
		return false
	}
	a.Wait = *d
	return true
}

// always says the same.
func always(name string, d *delay.Distribution) *voice {
	return &voice{name: name, says: func(*Question) *delay.Distribution { return d }}
}

// life tells a Blend of jobs, one after the other.
type life struct {
	*Blend
	random  *rand.Rand
	now, id int64
}

func newLife(seed uint64, members ...Forecaster) *life {
	return &life{
		Blend:  NewBlend("blend", rand.New(rand.NewPCG(seed, 1)), members...),
		random: rand.New(rand.NewPCG(seed, 2)), now: 1_000_000_000,
	}
}

// submit submits a job to a partition, and returns what was forecast of it.
func (l *life) submit(partition string) (j workload.Job, a Answer, ok bool) {
	l.id++
	l.now++
	j = workload.Job{ID: l.id, Submit: l.now, Eligible: l.now}
	j.Partition = partition
	q := ask(&j)
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
func (l *life) shares(partition string) map[string]float64 {
	var a Answer
	l.Forecast(&Question{Request: workload.Request{Partition: partition}, Now: l.now, Submit: l.now}, &a)
	shares := map[string]float64{}
	for _, m := range a.Members {
		shares[m.Name] = m.Share
	}
	return shares
}
