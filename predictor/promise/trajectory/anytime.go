package trajectory

import (
	"cmp"
	"maps"
	"slices"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/workload"
)

// atOnce reports whether the work of r may begin as soon as its job has nodes.
func (r *Request) atOnce() bool { return r.HoldUntil <= r.Now }

// anyTime raises the probabilities of points of a request whose work may begin as soon as its job
// has nodes: that is to be by any time until the deadline, whatever is forecast of later ones, and
// whatever room there is then. So a later deadline has no lower probability. It raises the first
// point, and those at which a job becomes eligible that is then in the way of no promise.
func (p *Planner) anyTime(r *Request, b bounds, points []Point) {
	type way struct {
		of    int // point
		stop  *stop
		until int64 // by when its job has nodes
	}
	var ways []way
	within := *p
	if !slices.ContainsFunc(points, func(pt Point) bool { return pt.Taken > 0 }) {
		within.Room = nil
	}
	stops := within.stops(r)
	for k := range stops {
		s := &stops[k]
		for _, begin := range []int64{points[0].Begin, s.room.Free(points[0].Begin)} {
			i, _ := slices.BinarySearchFunc(points, begin, func(pt Point, at int64) int { return cmp.Compare(pt.Begin, at) })
			if i < len(points) && points[i].Begin <= s.at {
				ways = append(ways, way{i, s, s.at}, way{i, s, roomyUntil(stops[k:])})
			}
		}
	}
	slices.SortStableFunc(ways, func(x, y way) int { return cmp.Compare(x.of, y.of) })
	ways = slices.Compact(ways)
	c := make([]workload.Candidate, 0, len(ways))
	ways = slices.DeleteFunc(ways, func(w way) bool {
		if b.last = w.until; b.last == r.Deadline {
			b.last = 0
		}
		pt := &points[w.of]
		budget := b.budget(r, Submission{Begin: pt.Begin, Limit: pt.Limit})
		if budget >= 0 {
			c = append(c, workload.Candidate{Submit: pt.Begin, Limit: pt.Limit, Budget: budget, Job: r.ID})
		}
		return budget < 0
	})
	est := make([]workload.Estimate, len(c))
	p.Forecaster.Forecast(r.All(), r.Now, c, est)
	for k, w := range ways {
		one := Point{Begin: c[k].Submit, Limit: c[k].Limit, Estimate: est[k], until: c[k].Submit + c[k].Budget}
		one.bound(r, w.stop.at, &w.stop.room)
		points[w.of].orElse(one)
	}
}

// roomyUntil returns the last of some stops up to which all have as much room as the first.
func roomyUntil(stops []stop) int64 {
	first := &stops[0]
	enough, until := first.room.Within(first.at, first.at), first.at
	for i := range stops {
		if stops[i].room.Within(stops[i].at, stops[i].at) < enough {
			break
		}
		until = stops[i].at
	}
	return until
}

// stop is a time by which a job may have its nodes, and the room that there is for it from then on.
type stop struct {
	at   int64
	room workload.Room
}

// stops returns times until the deadline of a request by which its job may have its nodes,
// ascending: points of the distributions of waits, the times from which on Room says that there
// may be more, the last ones with as much room as before, and the deadline itself. It calls Room
// about 500 times at most.
func (p *Planner) stops(r *Request) (list []stop) {
	times := []int64{r.Deadline}
	for i := 0; i < delay.Points && r.Now+int64(delay.At(i)) < r.Deadline; i++ {
		times = append(times, r.Now+int64(delay.At(i)))
	}
	rooms := p.rooms(r, times, 3*delay.Points)
	for _, at := range slices.Sorted(maps.Keys(rooms)) {
		s := stop{at, rooms[at]}
		if len(list) > 0 {
			before := &list[len(list)-1]
			enough := before.room.Within(before.at, before.at)
			if s.room.Within(at, at) < enough {
				if last := p.lasts(r, before.at, at, enough) - 1; last > before.at {
					list = append(list, stop{last, p.room(r, last)})
				}
			}
		}
		list = append(list, s)
	}
	return list
}
