package slurm

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MaxTasks is the greatest number of tasks that CountTasks counts. Slurm allows no array
// with more.
const MaxTasks = 4_000_001

// CountTasks returns how many tasks an array_task_string names, and how many of them may
// run at once, or 0 if as many as there is room for. Such a string is "3", "1-9,20-29",
// "0-100:4" (every fourth), or any of these with "%5" (5 at once).
//
// slurmrestd shortens strings to about 64 characters: "1-9,20-29,...%5". Then there are more
// tasks than CountTasks knows of. With SLURM_BITSTR_LEN=0 in its environment slurmrestd does
// not shorten them. What is not a list of tasks counts as one task.
func CountTasks(list string) (tasks, atOnce int32) {
	list, limit, _ := strings.Cut(list, "%")
	if n, err := strconv.ParseInt(limit, 10, 32); err == nil && n > 0 {
		atOnce = int32(n)
	}
	ranges := rangesOf(list)
	sum, next, overlap := int64(0), int64(0), false
	for _, r := range ranges {
		overlap = overlap || r.from < next
		next = max(next, r.to+1)
		sum = min(sum+r.below(r.to+1), MaxTasks)
	}
	if overlap && next <= MaxTasks { // which lists of Slurm's own never do
		sum = distinct(ranges, next)
	}
	return int32(max(1, sum)), atOnce
}

// distinct returns how many different numbers, below a bound, ranges name. It takes O(bound)
// memory.
func distinct(ranges []taskRange, bound int64) (n int64) {
	seen := make([]bool, bound)
	for _, r := range ranges {
		for i := r.from; i <= r.to; i += r.by {
			if !seen[i] {
				seen[i] = true
				n++
			}
		}
	}
	return n
}

// CommonTasks returns the tasks of a list that another list names, too, as a list, or "" if there
// are none. Of the tasks of the list, before is how many come before the first of these, and
// through how many up to the last. Both lists are as CountTasks reads them.
func CommonTasks(list, other string) (common string, before, through int32) {
	ranges, others := rangesOf(list), rangesOf(other)
	var shared []string
	first, last := int64(math.MaxInt32), int64(-1)
	for _, r := range ranges {
		for _, o := range others {
			if both, ok := r.and(o); ok {
				shared = append(shared, both.String())
				first, last = min(first, both.from), max(last, both.to)
			}
		}
	}
	if len(shared) == 0 {
		return "", 0, 0
	}
	count := func(below int64) (n int64) {
		for _, r := range ranges {
			n = min(n+r.below(below), MaxTasks)
		}
		return n
	}
	return strings.Join(shared, ","), int32(count(first)), int32(count(last + 1))
}

// IsTasks reports whether a list names tasks as sbatch --array takes them. With %0 there is no
// limit on how many run at once.
func IsTasks(list string) bool {
	list, limit, limited := strings.Cut(list, "%")
	if n, err := strconv.ParseInt(limit, 10, 32); limited && (err != nil || n < 0) {
		return false
	}
	for item := range strings.SplitSeq(list, ",") {
		if _, ok := readRange(item); !ok {
			return false
		}
	}
	return true
}

// taskRange is each by-th task from one to another.
type taskRange struct{ from, to, by int64 }

// rangesOf returns the ranges of a list of tasks, without what cannot be read.
func rangesOf(list string) (ranges []taskRange) {
	list, _, _ = strings.Cut(list, "%")
	for item := range strings.SplitSeq(list, ",") {
		if r, ok := readRange(item); ok {
			ranges = append(ranges, r)
		}
	}
	return ranges
}

// readRange reads "7", "1-9" or "0-100:4". ok is false for anything else.
func readRange(item string) (r taskRange, ok bool) {
	item, step, stepped := strings.Cut(item, ":")
	first, last, isRange := strings.Cut(item, "-")
	if !isRange {
		last = first
	}
	if !stepped {
		step = "1"
	}
	from, err1 := strconv.ParseInt(first, 10, 32)
	to, err2 := strconv.ParseInt(last, 10, 32)
	by, err3 := strconv.ParseInt(step, 10, 32)
	return taskRange{from, to, by}, err1 == nil && err2 == nil && err3 == nil && from >= 0 && to >= from && by >= 1
}

// below returns how many tasks of the range come before one.
func (r taskRange) below(task int64) int64 {
	return max(0, (min(r.to, task-1)-r.from+r.by)/r.by)
}

// and returns the tasks that two ranges have in common. It reports false if there are none.
func (r taskRange) and(o taskRange) (both taskRange, ok bool) {
	to := min(r.to, o.to)
	common := func(from int64) int64 {
		for from <= to && (from-o.from)%o.by != 0 {
			from += r.by
		}
		return from
	}
	from := common(r.from + r.by*r.below(o.from))
	if from > to {
		return both, false
	}
	by := common(from+r.by) - from
	return taskRange{from, to - (to-from)%by, by}, true
}

// String writes the range as readRange reads it.
func (r taskRange) String() string {
	switch {
	case r.from == r.to:
		return strconv.FormatInt(r.from, 10)
	case r.by == 1:
		return fmt.Sprintf("%d-%d", r.from, r.to)
	}
	return fmt.Sprintf("%d-%d:%d", r.from, r.to, r.by)
}
