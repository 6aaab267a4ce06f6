package slurm

import (
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
	items := strings.Split(list, ",")
	sum, next, overlap := int64(0), int64(0), false
	for _, item := range items {
		if from, to, by, ok := readRange(item); ok {
			overlap = overlap || from < next
			next = max(next, to+1)
			sum = min(sum+(to-from)/by+1, MaxTasks)
		}
	}
	if overlap && next <= MaxTasks { // which lists of Slurm's own never do
		sum = distinct(items, next)
	}
	return int32(max(1, sum)), atOnce
}

// distinct returns how many different numbers, below a bound, items name. It takes O(bound) memory.
func distinct(items []string, bound int64) (n int64) {
	seen := make([]bool, bound)
	for _, item := range items {
		from, to, by, ok := readRange(item)
		for i := from; ok && i <= to; i += by {
			if !seen[i] {
				seen[i] = true
				n++
			}
		}
	}
	return n
}

// IsTasks reports whether a list names tasks as sbatch --array takes them. With %0 there is no
// limit on how many run at once.
func IsTasks(list string) bool {
	list, limit, limited := strings.Cut(list, "%")
	if n, err := strconv.ParseInt(limit, 10, 32); limited && (err != nil || n < 0) {
		return false
	}
	for item := range strings.SplitSeq(list, ",") {
		if _, _, _, ok := readRange(item); !ok {
			return false
		}
	}
	return true
}

// readRange reads "7", "1-9" or "0-100:4". ok is false for anything else.
func readRange(item string) (from, to, by int64, ok bool) {
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
	return from, to, by, err1 == nil && err2 == nil && err3 == nil && from >= 0 && to >= from && by >= 1
}
