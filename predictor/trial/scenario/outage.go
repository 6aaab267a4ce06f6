package scenario

import (
	"errors"
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// Outage is a period in which no job starts. Jobs that run go on running. The period may
// recur. If Lasts is 0 there is no outage. All fields are in seconds.
type Outage struct {
	Lasts int64
	After int64 // from the first submission to the beginning of the first outage
	Every int64 // from the beginning of an outage to that of the next; 0: only one outage
}

// ParseOutage reads an outage such as "6h,after=15-0,every=30-0". The first part is
// Lasts. After and Every are optional, and 0 by default. The empty text is the zero
// Outage. Durations are written as in Go or in Slurm. An error names the setting that is
// wrong.
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

// outages is the state of a simulation's outages. Placeholder jobs simulate an outage.
// When it begins, a placeholder takes all free processors. When a job ends during the
// outage, another placeholder takes its processors. Every placeholder ends with the
// outage.
// Invariant: during an outage no processor is free once all events of a moment have
// happened.
type outages struct {
	next         int64               // the beginning of the first outage that is not scheduled yet
	until        int64               // the end of the latest outage that has begun
	placeholders map[*sched.Job]bool // those that run now
}

func newOutages(o Outage, first int64) outages {
	if o.Lasts == 0 {
		return outages{next: sched.Never}
	}
	return outages{next: first + o.After, placeholders: make(map[*sched.Job]bool)}
}

// scheduleOutages schedules the outages that begin by the next submission.
func (r *runner) scheduleOutages(submission int64) {
	for r.outages.next <= submission {
		until := r.outages.next + r.Outage.Lasts
		r.sim.Call(r.outages.next, func(now int64) {
			r.outages.until = until
			r.occupy(now)
		})
		if r.Outage.Every == 0 {
			r.outages.next = sched.Never
		} else {
			r.outages.next += r.Outage.Every
		}
	}
}

// occupy starts a placeholder on the processors that are free now, until the outage ends.
func (r *runner) occupy(now int64) {
	left, free := r.outages.until-now, r.sim.Scheduler().Free()
	if left <= 0 || free == 0 {
		return
	}
	j := &sched.Job{ID: -1, Submit: now, Start: now, Procs: free, Run: left, Limit: left}
	r.outages.placeholders[j] = true
	r.sim.Place(j)
}

// removePlaceholder removes j, which has ended, from the placeholders. It reports whether
// j was one.
func (r *runner) removePlaceholder(j *sched.Job) bool {
	if !r.outages.placeholders[j] {
		return false
	}
	delete(r.outages.placeholders, j)
	return true
}
