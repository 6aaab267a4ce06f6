package twin

import (
	"math/rand/v2"
	"slices"
	"sort"
)

const (
	hour = 3600
	day  = 24 * hour
	week = 7 * day
)

const (
	// weeks is how far back jobs to come are looked for: they come as they came at
	// the same hour of one of the last weeks, or, before there has been a
	// whole one, of the last days.
	weeks = 4
	// together is for how long they come as they came together: as users submit many
	// jobs at a time, what comes is more uneven than chance.
	together = hour
	// about is by how much an hour may be earlier or later than the same one. Few weeks
	// alone would be too few hours to choose from.
	about = 2 * hour
	// remembered is how many past arrivals are kept at most.
	remembered = 1 << 17
)

// arrival is a job that has come.
type arrival struct {
	submit, limit, run int64 // run is 0 as long as the job has not ended
	procs              int32 // 0 if it was cancelled
	partition          *partition
	class              *class
}

// arrivals are the jobs that came in the last weeks, in the order of time.
type arrivals struct {
	list  []arrival
	first int64 // number of the first in the list, of all that ever came
	begin int64 // when the first of all came
}

// add takes in a job that has come, and returns its number.
func (a *arrivals) add(came arrival) int64 {
	if a.first == 0 && len(a.list) == 0 {
		a.begin = came.submit
	}
	if last := len(a.list) - 1; last >= 0 {
		came.submit = max(came.submit, a.list[last].submit)
	}
	a.list = append(a.list, came)
	if old := len(a.list) / 2; len(a.list) > remembered || old > 0 && a.list[old].submit < came.submit-(weeks+1)*week {
		a.list = slices.Delete(a.list, 0, max(1, old))
		a.first += int64(max(1, old))
		a.begin = a.list[0].submit
	}
	return a.first + int64(len(a.list)) - 1
}

// get returns an arrival by its number, or nil if it is forgotten, or -1.
func (a *arrivals) get(number int64) *arrival {
	if number < a.first {
		return nil
	}
	return &a.list[number-a.first]
}

// draw appends the jobs that come to a machine after now and until a time: those of a
// past hour, drawn for each hour anew.
func (a *arrivals) draw(now, until int64, r *rand.Rand, here func(*partition) bool, to []task) []task {
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
		back := (newest+r.Int64N(oldest-newest+1))*period + r.Int64N(2*about+1) - about
		i := sort.Search(len(a.list), func(i int) bool { return a.list[i].submit > from-back })
		for ; i < len(a.list) && a.list[i].submit <= end-back; i++ {
			came := &a.list[i]
			if came.procs == 0 || !here(came.partition) {
				continue
			}
			t := task{submit: came.submit + back, limit: came.limit, run: came.run, procs: came.procs, rank: came.class.rank()}
			if t.run == 0 {
				t.run = t.limit
			}
			to = append(to, t)
		}
	}
	return to
}
