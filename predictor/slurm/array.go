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
	sum := int64(0)
	for item := range strings.SplitSeq(list, ",") {
		sum = min(sum+countRange(item), MaxTasks)
	}
	return int32(max(1, sum)), atOnce
}

// IsTasks reports whether a list names tasks as sbatch --array takes them.
func IsTasks(list string) bool {
	list, limit, limited := strings.Cut(list, "%")
	if n, err := strconv.ParseInt(limit, 10, 32); limited && (err != nil || n < 1) {
		return false
	}
	for item := range strings.SplitSeq(list, ",") {
		if countRange(item) == 0 {
			return false
		}
	}
	return true
}

// countRange returns how many numbers "7", "1-9" or "0-100:4" names, at most MaxTasks, and 0
// for anything else.
func countRange(item string) int64 {
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
	if err1 != nil || err2 != nil || err3 != nil || from < 0 || to < from || by < 1 {
		return 0
	}
	return min((to-from)/by+1, MaxTasks)
}
