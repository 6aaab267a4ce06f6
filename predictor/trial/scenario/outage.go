package scenario

import (
	"errors"
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// Outage is a time in which no job starts; those that run go on to their end. The
// zero Outage is none. In seconds.
type Outage struct {
	Lasts int64
	After int64 // the first submission
	Every int64 // from the beginning of one to that of the next; 0: there is only one
}

// ParseOutage reads an outage, as "6h,after=15-0,every=30-0", of which all but how
// long it lasts may be left out: it begins with the first job then, and there is
// one. The empty text is none. Durations are what Go or Slurm call so. An error
// names the part it is about.
func ParseOutage(text string) (o Outage, err error) {
	if text == "" {
		return o, nil
	}
	parts := strings.Split(text, ",")
	if o.Lasts, err = parseSeconds(parts[0], 1); err != nil {
		return Outage{}, err
	}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "after":
			o.After, err = parseSeconds(value, 0)
		case "every":
			o.Every, err = parseSeconds(value, o.Lasts+1)
		default:
			err = errors.New("outages have only after and every")
		}
		if err != nil {
			return Outage{}, fmt.Errorf("%.40s: %w", key, err)
		}
	}
	return o, nil
}

// String writes o as ParseOutage reads it.
func (o Outage) String() string {
	if o.Lasts == 0 {
		return ""
	}
	text := slurmtime.FormatDuration(o.Lasts) + ",after=" + slurmtime.FormatDuration(o.After)
	if o.Every > 0 {
		text += ",every=" + slurmtime.FormatDuration(o.Every)
	}
	return text
}

// outage is an Outage in the course of time.
type outage struct {
	next  int64               // when the next begins, unless that was announced
	until int64               // when the one that has begun is over
	taken map[*sched.Job]bool // stand for the processors that nobody can have
}

func newOutage(o Outage, first int64) outage {
	if o.Lasts == 0 {
		return outage{next: sched.Never}
	}
	return outage{next: first + o.After, taken: make(map[*sched.Job]bool)}
}

// breakDown announces the outages that begin by the next submission.
func (r *run) breakDown(submission int64) {
	for r.outage.next <= submission {
		until := r.outage.next + r.Outage.Lasts
		r.sim.Call(r.outage.next, func(now int64) {
			r.outage.until = until
			r.take(now)
		})
		if r.Outage.Every == 0 {
			r.outage.next = sched.Never
		} else {
			r.outage.next += r.Outage.Every
		}
	}
}

// take lets nobody have the processors that are free now until the outage is over.
func (r *run) take(now int64) {
	left, free := r.outage.until-now, r.sim.Scheduler().Free()
	if left <= 0 || free == 0 {
		return
	}
	j := &sched.Job{ID: -1, Submit: now, Start: now, Procs: free, Run: left, Limit: left}
	r.outage.taken[j] = true
	r.sim.Place(j)
}

// tookOver reports whether j, which ends, was none of the jobs, but stood for
// processors during an outage. If it was one of them, and there is an outage, its
// processors are taken too.
func (r *run) tookOver(now int64, j *sched.Job) bool {
	if r.outage.taken[j] {
		delete(r.outage.taken, j)
		return true
	}
	if now < r.outage.until {
		r.sim.Call(now, r.take)
	}
	return false
}
