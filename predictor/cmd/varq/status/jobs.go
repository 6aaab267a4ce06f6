package status

import (
	"fmt"
	"strconv"
	"strings"
)

// parseJobs reads job ids.
func parseJobs(args []string) ([]int64, error) {
	jobs := make([]int64, len(args))
	for i, arg := range args {
		array, _, _ := strings.Cut(arg, "_") // of a task, that of its array
		id, err := strconv.ParseInt(array, 10, 64)
		if err != nil || id <= 0 {
			return nil, fmt.Errorf("%q is not a job id", arg)
		}
		jobs[i] = id
	}
	return jobs, nil
}
