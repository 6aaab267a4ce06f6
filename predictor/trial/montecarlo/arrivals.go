package montecarlo

import (
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

const (
	hour = 3600
	day  = 24 * hour
	week = 7 * day
)

const (
	// weeks is the number of past weeks from which arrivals are drawn. As long as the
	// past is shorter than a week, arrivals are drawn from the past days.
	weeks = 4
	// together is the length, in seconds, of the past period that is drawn at once.
	// Users submit many jobs at a time, so arrivals come in bursts; drawing periods
	// keeps these.
	together = hour
	// about is the largest shift, in seconds, of a drawn period from the same hour of a
	// past week. The same hours of four weeks alone would be too few to draw from.
	about = 2 * hour
	// mostArrivals is the largest number of arrivals that are kept.
	mostArrivals = 1 << 17
)

// arrival is a job that was submitted.
type arrival struct {
	job       int64            // ID
	request   workload.Request // its Limit is the one that the twin plans with
	submit    int64
	run       int64 // seconds; 0 if the job has not ended
	cancelled bool
}

// arrivals has the jobs submitted in the last weeks, in the order of time. The zero value
// is ready to use. Arrivals are numbered: list[i] has the number first+i.
type arrivals struct {
	list  []arrival
	first int64
	begin int64           // submit time of list[0]
	of    map[int64]int64 // numbers of the arrivals that have not ended, by job
}

// submitted adds a job that is submitted now. limit is the limit that the twin plans with.
func (a *arrivals) submitted(j *workload.Job, limit int64) {
	came := arrival{job: j.ID, request: j.Request, submit: j.Since()}
	came.request.Limit = limit
	if last := len(a.list) - 1; last >= 0 {
		came.submit = max(came.submit, a.list[last].submit)
	} else {
		a.begin, a.of = came.submit, make(map[int64]int64)
	}
	a.list = append(a.list, came)
	if old := len(a.list) / 2; len(a.list) > mostArrivals || old > 0 && a.list[old].submit < came.submit-(weeks+1)*week {
		a.drop(max(1, old))
	}
	a.of[j.ID] = a.first + int64(len(a.list)) - 1
}

// drop removes the n oldest arrivals.
func (a *arrivals) drop(n int) {
	for i := range a.list[:n] {
		if job := a.list[i].job; a.of[job] == a.first+int64(i) {
			delete(a.of, job)
		}
	}
	a.list = slices.Delete(a.list, 0, n)
	a.first += int64(n)
	a.begin = a.list[0].submit
}

// ended records the end of a job. A job without a start was cancelled.
func (a *arrivals) ended(j *workload.Job) {
	number, ok := a.of[j.ID]
	if !ok {
		return
	}
	delete(a.of, j.ID)
	came := &a.list[number-a.first]
	if came.cancelled = j.Start == 0; !came.cancelled {
		came.run = max(1, min(j.End-j.Start, came.request.Limit))
	}
}

// draw appends tasks that arrive after now and up to until, at the machine of s. For each
// period of length together they are the arrivals of a random past period.
func (a *arrivals) draw(now, until int64, rng *rand.Rand, t *twin.Twin, s *twin.Snapshot, to []rollout.Task) []rollout.Task {
	for from := now; from < until; from += together {
		end := min(from+together, until)
		period, most := int64(week), int64(weeks)
		if now-a.begin < week {
			period, most = day, 7
		}
		newest, oldest := max(1, (end+about-now+period-1)/period), min(most, (from-about-a.begin)/period)
		if oldest < newest || len(a.list) == 0 {
			continue
		}
		back := (newest+rng.Int64N(oldest-newest+1))*period + rng.Int64N(2*about+1) - about
		i := sort.Search(len(a.list), func(i int) bool { return a.list[i].submit > from-back })
		for ; i < len(a.list) && a.list[i].submit <= end-back; i++ {
			came := &a.list[i]
			if came.cancelled || !s.Serves(came.request.Place()) {
				continue
			}
			task := t.Task(&came.request, came.submit+back)
			if came.run > 0 {
				task.Run = came.run
			}
			to = append(to, task)
		}
	}
	return to
}
