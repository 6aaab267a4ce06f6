package simulate

import (
	"slices"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/trial/scenario"
)

// soon is how long before its deadline, in seconds, a job may start that its user has planned with,
// such as a demonstration: a quarter of an hour.
const soon = 15 * 60

// starts has when each job started, by its ID.
type starts map[int64]int64

// asked is a job that asked for a promise.
type asked struct {
	job              int64 // ID
	wanted, promised int64 // deadlines; promised is 0 without a promise
}

// plain tells what would have become of the jobs that ask for promises if they had simply been
// submitted when they asked, on the cluster without reservations.
type plain struct {
	// Of the jobs with a promise for the deadline that they asked for, and of the others,
	// InTime start by that deadline.
	Promised      int `json:"promised"`
	InTime        int `json:"promised_in_time"`
	Refused       int `json:"refused"`
	RefusedInTime int `json:"refused_in_time"`
	// AtTime counts those of InTime that start within soon of their deadline.
	AtTime int `json:"promised_at_time"`
	// early and later are the seconds of which Early and Later are the medians.
	early, later []int64
	// Early is how long before the deadline, in seconds, those of InTime start: the median.
	Early int64 `json:"median_early"`
	// Later is how much later than asked for, in seconds, are the deadlines of offers: the median.
	Later int64 `json:"median_later,omitempty"`
}

// callbacks returns the callbacks that fill in what the trial is to follow.
func (t *trial) callbacks() scenario.Callbacks {
	v := t.kind.VARQ
	switch {
	case t.starts == nil:
		return scenario.Callbacks{}
	case v == nil:
		return scenario.Callbacks{Ended: func(j *sched.Job) { t.starts[j.ID] = j.Start }}
	case v.Arrays != scenario.NoArrays:
		return scenario.Callbacks{} // the log has no arrays
	}
	t.Plain = new(plain)
	return scenario.Callbacks{Answered: func(o scenario.Outcome) {
		a := asked{job: o.Job, wanted: o.Wanted}
		if o.Refusal == "" {
			a.promised = o.Deadline
		}
		t.asked = append(t.asked, a)
	}}
}

// compareWithPlain fills in plain of the trials, by the starts of the first, in which nobody
// reserves. Afterwards none of them keeps what became of single jobs.
func compareWithPlain(trials []*trial) {
	starts := trials[0].starts
	for _, t := range trials {
		for _, a := range t.asked {
			t.Plain.add(a, starts[a.job])
		}
		t.starts, t.asked = nil, nil
	}
}

func (p *plain) add(a asked, start int64) {
	inTime := 0
	if start <= a.wanted {
		inTime = 1
	}
	if a.promised > a.wanted {
		p.later = append(p.later, a.promised-a.wanted)
	}
	if a.promised != a.wanted {
		p.Refused++
		p.RefusedInTime += inTime
		return
	}
	p.Promised++
	p.InTime += inTime
	if inTime > 0 {
		p.early = append(p.early, a.wanted-start)
	}
	if inTime > 0 && a.wanted-start <= soon {
		p.AtTime++
	}
}

// plus adds those of another run. The medians are as they were until conclude.
func (p *plain) plus(o *plain) {
	p.Promised += o.Promised
	p.InTime += o.InTime
	p.AtTime += o.AtTime
	p.Refused += o.Refused
	p.RefusedInTime += o.RefusedInTime
	p.early = append(p.early, o.early...)
	p.later = append(p.later, o.later...)
}

// inTime and refusedInTime return the shares of those with a promise, and of the others, that start
// by their deadline, and atTime the share of the former that starts within soon of it. There must
// be some.
func (p *plain) inTime() float64        { return float64(p.InTime) / float64(p.Promised) }
func (p *plain) atTime() float64        { return float64(p.AtTime) / float64(p.Promised) }
func (p *plain) refusedInTime() float64 { return float64(p.RefusedInTime) / float64(p.Refused) }

// conclude fills in the medians.
func (p *plain) conclude() { p.Early, p.Later = median(p.early), median(p.later) }

// median returns the lower median, or 0 of nothing. It sorts.
func median(x []int64) int64 {
	if len(x) == 0 {
		return 0
	}
	slices.Sort(x)
	return x[(len(x)-1)/2]
}
