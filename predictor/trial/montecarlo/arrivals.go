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
	// weeks is how far back the jobs to come are drawn from. They come as jobs came at
	// the same hour of one of the last weeks, or of the last days as long as there has
	// been no whole week.
	weeks = 4
	// together is how long jobs come as they came together. Users submit many jobs at a
	// time, which makes arrivals burstier than chance.
	together = hour
	// about is by how much an hour may be earlier or later than the same one. The same
	// hours of a few weeks alone would be too few to draw from.
	about = 2 * hour
	// mostArrivals bounds the arrivals that are kept.
	mostArrivals = 1 << 17
)

// arrival is a job that came.
type arrival struct {
	job       int64
	request   workload.Request // with the limit that it was planned for
	submit    int64
	run       int64 // seconds; 0 as long as the job has not ended
	cancelled bool
}

// arrivals are the jobs that came in the last weeks, in the order of time. The zero
// arrivals are ready to use.
type arrivals struct {
	list  []arrival
	first int64           // number of the first in the list; every arrival has the next number
	begin int64           // when the first in the list, or of all, came
	of    map[int64]int64 // arrivals by job, of those that have not ended
}

// submitted takes in a job that comes and is planned for a limit.
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

// drop drops the n oldest arrivals.
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

// ended takes in that a job ended, or was cancelled if it has no start.
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

// draw appends the jobs that come to the machine of a snapshot after now and until a
// time. For each hour they are those of a past hour drawn at random.
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
			if came.cancelled || !s.Serves(came.request.Partition) {
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
