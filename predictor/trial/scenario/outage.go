package scenario

import (
	"errors"
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// Outage is a period in which no job starts, and jobs that run go on. It may recur.
// All fields are in seconds; the zero Outage never happens.
type Outage struct {
	Lasts int64
	After int64 // from the first submission to the beginning of the first outage
	Every int64 // from the beginning of an outage to that of the next; 0: there is one only
}

// ParseOutage reads an outage such as "6h,after=15-0,every=30-0": its length, and
// optionally After and Every, which are 0 if they are missing. The empty text is the
// zero Outage. Durations are written as in Go or in Slurm. An error names the part it
// is about.
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

// outage is the state of a run's outages. An outage is enacted by placeholder jobs: at
// its beginning one takes all free processors until the end of the outage, and later
// another takes the processors of each job that ends.
// Invariant: during an outage no processor is free after the events of a moment.
type outage struct {
	next         int64               // the beginning of the next outage that is not scheduled yet
	until        int64               // the end of the latest outage that has begun
	placeholders map[*sched.Job]bool // that run now
}

func newOutage(o Outage, first int64) outage {
	if o.Lasts == 0 {
		return outage{next: sched.Never}
	}
	return outage{next: first + o.After, placeholders: make(map[*sched.Job]bool)}
}

// scheduleOutages schedules the outages that begin by the next submission.
func (r *run) scheduleOutages(submission int64) {
	for r.outage.next <= submission {
		until := r.outage.next + r.Outage.Lasts
		r.sim.Call(r.outage.next, func(now int64) {
			r.outage.until = until
			r.occupy(now)
		})
		if r.Outage.Every == 0 {
			r.outage.next = sched.Never
		} else {
			r.outage.next += r.Outage.Every
		}
	}
}

// occupy takes the processors that are free now until the outage ends.
func (r *run) occupy(now int64) {
	left, free := r.outage.until-now, r.sim.Scheduler().Free()
	if left <= 0 || free == 0 {
		return
	}
	j := &sched.Job{ID: -1, Submit: now, Start: now, Procs: free, Run: left, Limit: left}
	r.outage.placeholders[j] = true
	r.sim.Place(j)
}

// endPlaceholder reports whether j, which has ended, was a placeholder.
func (r *run) endPlaceholder(j *sched.Job) bool {
	if !r.outage.placeholders[j] {
		return false
	}
	delete(r.outage.placeholders, j)
	return true
}
