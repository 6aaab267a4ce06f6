package alone

import (
	"context"
	"errors"
	"iter"
	"os/exec"
	"runtime/debug"
	"time"

	"github.com/varq-project/varq/predictor/live/history"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/program"
	"github.com/varq-project/varq/predictor/workload"
)

// Of the past, about enough jobs are read for a model, and no more days than mostDays. The first
// model learns soon of them, in a second or so: half as many forecast the longest waits clearly
// worse.
const (
	enough   = 50_000
	soon     = 2000
	mostDays = 60
	// unknownDays are read if the queue does not tell how many jobs come in a day: it does by the
	// ids and the times of two jobs that are so far apart.
	unknownDays = 7
	leastIDs    = 100
	leastSpan   = 600
	day         = 86400
)

// retryAfter is after how many seconds an attempt is made again that did not get all that it asked
// for.
const retryAfter = int64(Every/time.Second) + 1

// breath is after how many seconds the rest of the past is learnt: first the question is answered
// for which the process began.
const breath = 2

// Follow learns the past, and follows the cluster until ctx is done or nobody has asked for long.
// The error is that this host has not the commands that tell of it.
func (f *Forecaster) Follow(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	next := f.Now()
	for ctx.Err() == nil && f.Now()-f.asked.Load() < idle {
		if f.Now() >= next {
			err := f.advance(ctx)
			debug.FreeOSMemory() // learning needs much more than answering
			if errors.Is(err, exec.ErrNotFound) {
				return err
			}
			next = f.Now() + f.pause(err)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	return nil
}

// pause returns how many seconds pass until the next call of advance, if this one ended with err.
func (f *Forecaster) pause(err error) int64 {
	switch {
	case errors.Is(err, program.ErrSpared), f.note(err) != nil:
		return retryAfter
	case f.ingest.Learning():
		return breath
	}
	return between
}

// advance learns the past if it is not known, else the rest of it, and what has happened since.
func (f *Forecaster) advance(ctx context.Context) error {
	f.say("asks Slurm for its nodes")
	if err := f.premises.Refresh(ctx); err != nil {
		return err
	}
	f.say("asks Slurm for its queue")
	if err := f.look(ctx, between/2); err != nil {
		return err
	}
	known, err := f.cache.Coverage(ctx)
	if err != nil {
		return err
	}
	wanted, err := f.wanted(ctx, &known)
	if err != nil {
		return err
	}
	switch loaded := f.ingest.Ready() == nil; {
	case loaded && (f.ingest.Learning() || wanted <= 2*f.ingest.Days):
		return f.ingest.CatchUp(ctx)
	case !loaded && known.Complete: // it begins with what is known
		wanted, err = f.begin(ctx, &known, wanted)
		if err != nil {
			return err
		}
	}
	f.say("asks accounting for the jobs of the last %d days%s", wanted, f.why)
	f.ingest.Days = wanted
	if err := f.ingest.Load(ctx); err != nil {
		return err
	}
	_, err = f.newest(ctx)
	return err
}

// Look takes in the queue, unless it is younger than Every. If that fails, the one that was read
// last serves on for a while.
func (f *Forecaster) Look(ctx context.Context) error {
	f.asked.Store(f.Now())
	if f.ingest.Ready() != nil {
		return nil // the first model waits for the queue that is being read
	}
	err := f.note(f.look(ctx, int64(Every/time.Second)))
	if f.Now()-f.ingest.Seen() < stale {
		return nil
	}
	return err
}

// look takes in the queue, unless it is younger than some seconds.
func (f *Forecaster) look(ctx context.Context, young int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.looked != 0 && f.Now()-f.looked < young {
		return nil
	}
	queue, at, err := f.Slurm.Queue(ctx)
	if err != nil {
		return err
	}
	if at <= f.looked {
		return nil // the same that it was
	}
	for i := range queue {
		f.premises.SetNodeSet(&queue[i].Job)
	}
	l := f.take(queue, at)
	return f.ingest.ObserveQueue(ctx, l.Jobs, at)
}

// take notes what the queue was at a time.
func (f *Forecaster) take(queue []slurm.QueueEntry, at int64) *look.Look {
	f.last, f.looked = look.New(queue, at), at
	f.desk.ObserveQueue(f.last.ByID)
	return f.last
}

// wanted returns in how many days about enough jobs come, as far as the past that is known tells,
// or else the queue.
func (f *Forecaster) wanted(ctx context.Context, known *history.Coverage) (days int, err error) {
	if !known.Complete {
		return f.estimate(), nil
	}
	n, err := f.newest(ctx)
	since := known.Since
	if n.Jobs == enough {
		since = n.First
	}
	return daysOf(n.Jobs, f.Now()-since), err
}

// begin returns how many days of the past a new process begins with: those that are known, but for
// such as are far too many. If none of them are, it forgets what is known.
func (f *Forecaster) begin(ctx context.Context, known *history.Coverage, wanted int) (days int, err error) {
	days = min(int((f.Now()-known.Since+day-1)/day), 2*wanted, mostDays)
	if since := f.Now() - int64(days)*day; known.Until < since {
		_, err = f.cache.Add(ctx, nil, &history.Coverage{Since: since, Until: since})
	}
	return days, err
}

// newest tells of the past jobs that are known, and notes whether other users have some of them.
func (f *Forecaster) newest(ctx context.Context) (history.Newest, error) {
	n, err := f.cache.Newest(ctx, enough, f.User)
	if err != nil {
		return n, err
	}
	f.said.Lock()
	defer f.said.Unlock()
	f.others = n.Others
	return n, nil
}

// daysOf returns in how many days about enough jobs come, if some came in so many seconds.
func daysOf(jobs int, seconds int64) int {
	return int(min(max(enough/float64(max(1, jobs))*float64(seconds)/day, 1), mostDays))
}

// estimate is daysOf the jobs of which the ids in the queue tell.
func (f *Forecaster) estimate() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	var first, last *slurm.QueueEntry
	for i := range f.last.Jobs {
		j := &f.last.Jobs[i]
		if first == nil || j.Submit < first.Submit {
			first = j
		}
		if last == nil || j.Submit > last.Submit {
			last = j
		}
	}
	if first == nil || last.ID-first.ID < leastIDs || last.Submit-first.Submit < leastSpan {
		return unknownDays
	}
	return daysOf(int(last.ID-first.ID), last.Submit-first.Submit)
}

// placed is the source of past jobs, which tells on which nodes of their partitions they could run.
type placed struct {
	Slurm
	f *Forecaster
}

// History implements ingest.Source.
func (p placed) History(ctx context.Context, from, to int64, progress func(slurm.Progress)) iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		for j, err := range p.Slurm.History(ctx, from, to, func(done slurm.Progress) {
			p.f.say("learns from %d past jobs", done.Jobs)
			progress(done)
		}) {
			p.f.premises.SetNodeSet(&j)
			if !yield(j, err) {
				return
			}
		}
	}
}
