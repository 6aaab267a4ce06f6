package qbets

import (
	"math/bits"
	"sort"

	"github.com/varq-project/varq/predictor/workload"
)

// limitSteps are the upper ends of the ranges of limits, in seconds. The last range has no
// end.
var limitSteps = [...]int64{
	5 * minute, 15 * minute, 30 * minute,
	1 * hour, 2 * hour, 4 * hour, 8 * hour, 12 * hour, 18 * hour, 24 * hour, 36 * hour, 48 * hour, 96 * hour,
}

const (
	minute = 60
	hour   = 60 * minute
)

// Cell returns the class that a request belongs to before anything is learnt. Cells divide
// requests by partition, by QOS, by size in doublings, and by time limit in the steps that
// sites and users like to choose. Each request belongs to exactly one cell.
func Cell(r *workload.Request) Class {
	unit, amount := size(&r.Size)
	return Class{Partition: r.Queue(), QOS: r.QOS, Unit: unit, Size: doubling(amount), Limit: step(r.Limit)}
}

// size returns the unit of a job and how much of it the job asks for, at least 1.
func size(s *workload.Size) (Unit, int64) {
	switch {
	case s.GPUs > 0:
		return GPUs, int64(s.GPUs)
	case s.Nodes > 1:
		return Nodes, int64(s.Nodes)
	}
	return CPUs, max(1, int64(s.CPUs))
}

// doubling returns the range that n >= 1 is in: (0,1], (1,2], (2,4], (4,8] and so on.
func doubling(n int64) Range {
	through := int64(1) << bits.Len64(uint64(n-1))
	if through == 1 {
		return Range{0, 1}
	}
	return Range{through / 2, through}
}

// step returns the range of limitSteps that a time limit is in.
func step(limit int64) Range {
	i := sort.Search(len(limitSteps), func(i int) bool { return limitSteps[i] >= limit })
	var r Range
	if i > 0 {
		r.Above = limitSteps[i-1]
	}
	if i < len(limitSteps) {
		r.Through = limitSteps[i]
	}
	return r
}
