package booking

import (
	"math/rand/v2"
	"time"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/predictor"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/promise/esr"
	"github.com/varq-project/varq/predictor/trial/follow"
	"github.com/varq-project/varq/predictor/workload"
)

// Method is a way to estimate the success rate of a slot.
type Method struct {
	begin func() method
}

// method estimates success rates in one run, and sees what happens.
type method interface {
	// begin says when the first job comes, and the last.
	begin(r *run, first, last int64)
	submitted(j *sched.Job)
	started(r *run, j *sched.Job)
	ended(r *run, j *sched.Job)
	// rates returns the function that says the success rate of a slot for a job that is about to be
	// submitted. The known workload is estimated to end at a time.
	rates(r *run, now int64, j *sched.Job, end float64) func(*elastic.Slot) float64
}

// Static is the paper's method static, with its constant h.
func Static(h float64) Method {
	return Method{func() method { return &static{h: h} }}
}

// History is the paper's method history, on a daily basis. Before anything is recorded of a time of
// day, all processors are taken to be idle.
func History() Method {
	return Method{func() method { return &history{idle: esr.History{Zone: time.UTC}} }}
}

// Load is the paper's method load.
func Load() Method { return Method{func() method { return &load{} }} }

// Forecast is varq's own: the probability with which a job of the slot's size that is submitted now
// waits no longer than until its start. Request returns what a job asks for, the seed decides what
// chance does, and background is that of predictor.Options.
func Forecast(request func(*sched.Job) workload.Request, seed uint64, background func(task func())) Method {
	return Method{func() method {
		m := &varq{Follower: follow.Follower{Request: request}}
		m.forecaster = predictor.Standard(&m.Queue, predictor.Options{Background: background}, rand.New(rand.NewPCG(seed, 0x726f_626c))).Present()
		m.Observer = m.forecaster
		return m
	}}
}

// blind sees nothing of what happens.
type blind struct{}

func (blind) begin(*run, int64, int64) {}
func (blind) submitted(*sched.Job)     {}
func (blind) started(*run, *sched.Job) {}
func (blind) ended(*run, *sched.Job)   {}

type static struct {
	blind
	h float64
}

func (m *static) rates(_ *run, now int64, _ *sched.Job, _ float64) func(*elastic.Slot) float64 {
	return func(s *elastic.Slot) float64 { return esr.Static(s.Start-now, m.h) }
}

type load struct{ blind }

func (*load) rates(_ *run, _ int64, _ *sched.Job, end float64) func(*elastic.Slot) float64 {
	return func(s *elastic.Slot) float64 {
		if float64(s.Start) >= end {
			return 1
		}
		return 0
	}
}

type history struct {
	blind
	idle esr.History
}

// begin lets the idle processors be recorded every five minutes until the last job has come.
func (m *history) begin(r *run, first, last int64) {
	var record func(now int64)
	record = func(now int64) {
		m.idle.Record(now, float64(r.sim.Scheduler().Free()))
		if now+esr.Interval <= last {
			r.sim.Call(now+esr.Interval, record)
		}
	}
	r.sim.Call(first, record)
}

func (m *history) rates(r *run, _ int64, _ *sched.Job, _ float64) func(*elastic.Slot) float64 {
	return func(s *elastic.Slot) float64 {
		idle, ok := m.idle.Idle(s.Start, s.End)
		if !ok {
			idle = float64(r.Procs)
		}
		return esr.Rate(s.Nodes, idle)
	}
}

type varq struct {
	follow.Follower
	forecaster forecast.Forecaster
}

func (*varq) begin(*run, int64, int64) {}

func (m *varq) submitted(j *sched.Job) { m.Submitted(j) }

// started tells the forecaster of jobs that have waited. Of reservations the queue alone knows, as
// of processors that are taken.
func (m *varq) started(r *run, j *sched.Job) {
	if _, ok := r.others[j]; ok {
		m.Started(j, 0)
		return
	}
	job := m.Job(j)
	job.Start = j.Start
	m.Queue.Start(job)
}

func (m *varq) ended(r *run, j *sched.Job) {
	if _, ok := r.others[j]; ok {
		m.Ended(j)
		return
	}
	m.Queue.Remove(j.ID)
}

func (m *varq) rates(_ *run, now int64, j *sched.Job, _ float64) func(*elastic.Slot) float64 {
	answers := make(map[int32]*forecast.Answer) // by processors; nil if there is no answer
	return func(s *elastic.Slot) float64 {
		answer, ok := answers[s.Nodes]
		if !ok {
			asked := *j
			asked.Procs, asked.Limit = s.Nodes, s.Limit
			q := forecast.Question{Request: m.Request(&asked), Now: now, Submit: now, Job: j.ID}
			answer = new(forecast.Answer)
			if !m.forecaster.Forecast(&q, answer) {
				answer = nil
			}
			answers[s.Nodes] = answer
		}
		if answer == nil {
			return 0
		}
		return answer.Wait.Within(float64(s.Start - now))
	}
}
