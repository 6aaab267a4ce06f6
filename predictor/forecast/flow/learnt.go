package flow

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/varq-project/varq/predictor/stats"
)

// Learnt is what outcomes have taught of the starts of jobs that wait for others: how often they
// came by the quantiles of their courses. The longer the path of waits, the more of the courses
// are too long, although those of single waits are not. So it is learnt by how many waits there
// are; see Class.
type Learnt [len(classes)]stats.Platt

// classes are the classes of jobs by the number of waits: 1, 2, 3 or 4, 5 to 8, and more.
var classes = [...]string{"1 wait", "2 waits", "3 or 4 waits", "5 to 8 waits", "more waits"}

// doubt is stats.Platt.Doubt of what is learnt. It was chosen on the logs KTH and CTC, with flows
// in a simulated queue.
const doubt = 2

// NewLearnt returns a Learnt that has seen no outcome.
func NewLearnt() *Learnt {
	var l Learnt
	for i := range l {
		l[i].Doubt = doubt
	}
	return &l
}

// classOf returns the index of the class of jobs with so many waits, at least 1.
func classOf(waits int) int { return min(bits.Len(uint(max(0, waits-1))), len(classes)-1) }

// Class returns the name of the class of jobs with so many waits on the longest path to their
// start, at least 1; see Flow.Waits.
func Class(waits int) string { return classes[classOf(waits)] }

// LearnRank takes in an outcome of a job with so many waits; see stats.Platt.LearnRank.
func (l *Learnt) LearnRank(waits int, rank float64, now int64) {
	l[classOf(waits)].LearnRank(rank, now)
}

// OfClass returns what has been learnt of a class, or nil if there is no such class.
func (l *Learnt) OfClass(name string) *stats.Platt {
	i := slices.Index(classes[:], name)
	if i < 0 {
		return nil
	}
	return &l[i]
}

// Check returns an error if no outcomes can have led to l.
func (l *Learnt) Check() error {
	for i := range l {
		if err := l[i].Check(); err != nil {
			return fmt.Errorf("%s: %w", classes[i], err)
		}
	}
	return nil
}

// correct returns the courses of a job as they are told, from those that were drawn. Each start and
// each end is replaced by the quantile that came true as often as the one it is of. No quantile of
// the start is before that of when the job becomes eligible, and none of the end before that of the
// start. What never happens still does not.
func (f *Flow) correct(j *Job, drawn *Courses, waits int) Courses {
	if f.learnt == nil || len(j.Conditions) == 0 || j.AsDrawn {
		return *drawn
	}
	told, times := *drawn, make([]int64, 0, len(j.Conditions))
	told.Eligible = make([]int64, Draws)
	for d := range Draws {
		told.Eligible[d], _ = j.eligible(f.courses, d, times)
	}
	learnt := &f.learnt[classOf(waits)]
	told.Start = f.replace(learnt, drawn.Start, told.Eligible)
	told.End = f.replace(learnt, drawn.End, told.Start)
	return told
}

// replace returns times with the quantiles that came true as often as those that were drawn. None
// is before that of other times.
func (f *Flow) replace(learnt *stats.Platt, drawn, before []int64) []int64 {
	order := make([]int, Draws)
	for d := range order {
		order[d] = d
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(drawn[a], drawn[b]) })
	ever, _ := slices.BinarySearchFunc(order, Never, func(d int, at int64) int { return cmp.Compare(drawn[d], at) })
	least, told := slices.Sorted(slices.Values(before)), make([]int64, Draws)
	for rank, d := range order {
		if told[d] = Never; rank < ever {
			share := learnt.Before((float64(rank)+.5)/float64(ever), f.now)
			told[d] = max(least[rank], drawn[order[min(ever-1, int(share*float64(ever)))]])
		}
	}
	return told
}
