package twin

import (
	"math"
	"slices"
	"sort"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// future is one future of a machine without the job that is asked about, written
// down such that any job can be put into it.
//
// A job that waits behind others and is passed by changes nothing for anybody until
// it starts. So it starts at the first moment at which the backfilling would have let
// it, or, at the latest, once all ahead of it have started and enough of them
// have ended. With jobs to come behind it this is not quite so, as they take
// at a moment what the asked job, if it is not first, would have been offered before
// them, and as by ending early others make room that they have taken already: both
// are small, and one shows the job too late, the other too early.
type future struct {
	procs   int32
	tasks   []task // in the order of the queue
	starts  []int64
	arrival []int32  // places of the tasks, by submission
	ends    []finish // by time, as far as it matters
	moments []moment
}

// finish is the end of a job.
type finish struct {
	at    int64
	procs int32
	place int32 // in the queue that it waited in, or -1
}

// moment is what is left from a moment on, until the next, to a job that waits
// behind all others: processors that are free now, and of them those that may stay
// taken when at the time shadow the first of the queue starts.
type moment struct {
	at, shadow  int64
	free, extra int32
}

// note takes down a moment.
func (f *future) note(c *cluster) {
	if c.backfill == sched.NoBackfill {
		return
	}
	m := moment{c.now, c.shadow, c.free, c.extra}
	if last := len(f.moments) - 1; last >= 0 && f.moments[last].at == c.now {
		f.moments[last] = m
		return
	}
	f.moments = append(f.moments, m)
}

// lived takes down the rest, after the cluster has lived for as long as it matters.
func (f *future) lived(c *cluster, procs int32, arrival []int32) {
	f.procs = procs
	for _, o := range c.running {
		f.ends = append(f.ends, finish{o.end, o.procs, o.place})
	}
	f.tasks = append(f.tasks[:0], c.tasks...)
	f.starts = append(f.starts[:0], c.starts...)
	f.arrival = append(f.arrival[:0], arrival...)
}

// clear makes the future empty. Its memory is kept.
func (f *future) clear() { f.ends, f.moments = f.ends[:0], f.moments[:0] }

// turn returns when a job of procs processors will be the first of the queue that
// was submitted at a time and has a place before which all are ahead of it, and
// will have enough of the processors that those ahead of it hold by then.
func (f *future) turn(submit int64, place, procs int32) int64 {
	turn := submit
	for _, i := range f.arrival {
		t := &f.tasks[i]
		if t.submit > turn {
			break
		}
		if i < place {
			turn = max(turn, f.starts[i])
		}
	}
	if turn == sched.Never {
		return sched.Never
	}
	held := int32(0)
	for _, e := range slices.Backward(f.ends) {
		if e.at <= turn {
			break
		}
		if e.place < place && (e.place < 0 || f.starts[e.place] <= turn) {
			if held += e.procs; held > f.procs-procs {
				return e.at
			}
		}
	}
	return turn
}

// gap is a stretch of time in which jobs of some size may start that last no longer
// than span seconds.
type gap struct {
	from, to int64
	until    int64 // when what starts in it must be over
}

// gaps finds when backfilling would let jobs of procs processors start.
func (f *future) gaps(procs int32, to []gap) []gap {
	to = to[:0]
	for i, m := range f.moments {
		if m.free < procs {
			continue
		}
		g := gap{m.at, sched.Never, m.shadow}
		if i+1 < len(f.moments) {
			g.to = f.moments[i+1].at
		}
		if m.extra >= procs {
			g.until = math.MaxInt64
		}
		if last := len(to) - 1; last >= 0 && to[last].to == g.from && to[last].until == g.until {
			to[last].to = g.to
			continue
		}
		to = append(to, g)
	}
	return to
}

// filler finds the first of a number of gaps in which a job may start, for jobs that
// are asked about from the last submitted to the first.
type filler struct {
	gaps []gap
	left int
	// best are the gaps that lie ahead and allow more than all before them, the
	// nearest last.
	best []gap
}

// reset begins with new gaps.
func (f *filler) reset(gaps []gap) { f.gaps, f.left, f.best = gaps, len(gaps), f.best[:0] }

// start returns when a job submitted at a time may start that is planned for limit
// seconds, or Never.
func (f *filler) start(submit, limit int64) int64 {
	for f.left > 0 && f.gaps[f.left-1].from >= submit {
		f.left--
		g := f.gaps[f.left]
		for len(f.best) > 0 && f.best[len(f.best)-1].span() <= g.span() {
			f.best = f.best[:len(f.best)-1]
		}
		f.best = append(f.best, g)
	}
	if f.left > 0 {
		if g := f.gaps[f.left-1]; g.to > submit && limit <= g.until-submit {
			return submit
		}
	}
	n := len(f.best)
	i := sort.Search(n, func(i int) bool { return f.best[n-1-i].span() >= limit })
	if i == n {
		return sched.Never
	}
	return f.best[n-1-i].from
}

// span is the longest limit of a job that starts when the gap begins.
func (g gap) span() int64 { return g.until - g.from }
