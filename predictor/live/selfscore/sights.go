package selfscore

import (
	"context"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/flow"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/forecast/score/group"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/live/scores"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// The forecasters of how much longer a job waits that waits already: varqd, and Slurm itself. A
// Dependent is one that waits for other jobs, and is forecast with these: scores.Courses is what
// varqd learns from there.
const (
	Pending   = "pending"
	Dependent = "dependent"
	Slurm     = "slurm"
)

// ofPending reports whether a forecaster is about jobs that wait already.
func ofPending(forecaster string) bool {
	return forecaster == Pending || forecaster == Dependent || forecaster == scores.Courses || forecaster == Slurm
}

const (
	// seeEvery is how many seconds pass between two times at which jobs are seen that wait.
	seeEvery = 600
	// mostSights is how often one job is seen at most, and allSights how many sights may be open, so
	// that they leave room for forecasts of whole waits.
	mostSights = 24
	allSights  = 5000
	// mostSeen is how many jobs are seen at a time, each as likely as any other, and mostBehind how
	// many that wait for others: what these teach depends on one another.
	mostSeen   = 8
	mostBehind = 3
)

// A sight is of a job that waits: what is forecast of the rest of its wait is scored when it
// starts. A job may be seen several times. The store knows a sight by the negative ID of the job,
// and by the time of the sight in place of the time of the submission.
func sightOf(job, at int64) workload.Submission { return workload.Submission{ID: -job, Submit: at} }

// see asks about some of the jobs of a look that wait, if it is time, and adds their forecasts to
// the changes, and also what has become of the jobs that were seen before.
func (s *Scorer) see(ctx context.Context, l *look.Look, c *scores.Changes) {
	for i := range l.Jobs {
		j := &l.Jobs[i]
		for _, at := range s.sights[j.ID] {
			switch {
			case j.Start != 0:
				c.Started = append(c.Started, scores.Outcome{Submission: sightOf(j.ID, at), Eligible: at, At: j.Start})
			case j.Held, j.AtLimit, j.Eligible > l.At:
				c.Gone = append(c.Gone, sightOf(j.ID, at))
			}
		}
	}
	if l.At < s.nextSights || s.openSights() >= allSights {
		return
	}
	s.nextSights = l.At + 1 + s.Rand.Int64N(2*seeEvery)
	for _, kind := range []struct {
		is   func(j *slurm.QueueEntry) bool
		most int
		ask  func(ctx context.Context, j *slurm.QueueEntry, at int64) []scores.Forecast
	}{
		{func(j *slurm.QueueEntry) bool { return waits(j, l.At) }, mostSeen, s.seen},
		{waitsForOthers, mostBehind, s.seenBehind},
	} {
		var waiting []*slurm.QueueEntry
		for i := range l.Jobs {
			if j := &l.Jobs[i]; kind.is(j) && len(s.sights[j.ID]) < mostSights {
				waiting = append(waiting, j)
			}
		}
		s.Rand.Shuffle(len(waiting), func(i, k int) { waiting[i], waiting[k] = waiting[k], waiting[i] })
		for _, j := range waiting[:min(kind.most, len(waiting))] {
			c.Begun = append(c.Begun, kind.ask(ctx, j, l.At)...)
		}
	}
}

// openSights returns how many sights are not scored yet.
func (s *Scorer) openSights() (n int) {
	for _, of := range s.sights {
		n += len(of)
	}
	return n
}

// waits reports whether a job waits for what forecasts know of.
func waits(j *slurm.QueueEntry, now int64) bool {
	return j.State == workload.Pending && !j.Waking && j.Start == 0 && j.Eligible != 0 && j.Eligible < now &&
		!j.Held && j.Stopped == "" && !j.AtLimit && j.Dependency == "" && j.ArrayJob == 0 && j.HetJob == 0
}

// waitsForOthers reports whether a job waits for other jobs, and for nothing else.
func waitsForOthers(j *slurm.QueueEntry) bool {
	return j.State == workload.Pending && j.Start == 0 && j.Dependency != "" && j.Eligible == 0 && !j.Held && j.Stopped == "" &&
		j.ArrayJob == 0 && j.HetJob == 0
}

// seenBehind returns the forecasts of how much longer a job waits that waits for others, from a
// time on.
func (s *Scorer) seenBehind(ctx context.Context, j *slurm.QueueEntry, at int64) []scores.Forecast {
	if s.AskDependent == nil {
		return nil
	}
	w, ok := s.AskDependent(ctx, j)
	if !ok {
		return nil
	}
	told := scores.Forecast{Submission: sightOf(j.ID, at), Eligible: at, Forecaster: Dependent, Partition: j.Partition, Class: flow.Class(w.Waits), Groups: group.Of(&j.Job, 0), Delay: w.Told}
	drawn := told
	drawn.Forecaster, drawn.Delay = scores.Courses, w.Drawn
	return []scores.Forecast{told, drawn}
}

// seen returns the forecasts of how much longer a job waits, from a time on.
func (s *Scorer) seen(ctx context.Context, j *slurm.QueueEntry, at int64) (list []scores.Forecast) {
	if s.AskPending == nil {
		return nil
	}
	q := forecast.Question{Request: j.Request, Now: at, Submit: at, Job: j.ID, Since: j.Eligible}
	a, ok := s.AskPending(ctx, &q)
	if !ok {
		return nil
	}
	f := scores.Forecast{
		Submission: sightOf(j.ID, at), Eligible: at, Forecaster: Pending, Partition: j.Partition, Class: className(score.PublicClass(a.Class)), Groups: group.Of(&j.Job, 0), Delay: a.Wait,
	}
	list = append(list, f)
	if j.Expected >= at {
		f.Forecaster, f.Delay = Slurm, delay.Distribution{}
		for i := delay.Index(float64(j.Expected - at)); i < delay.Points; i++ {
			f.Delay[i] = 1
		}
		list = append(list, f)
	}
	return list
}
