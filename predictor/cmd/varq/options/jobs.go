package options

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseJobs reads job ids. A task of an array stands for the array.
func ParseJobs(texts []string) ([]int64, error) {
	jobs := make([]int64, len(texts))
	for i, text := range texts {
		array, _, _ := strings.Cut(text, "_")
		id, err := strconv.ParseInt(array, 10, 64)
		if err != nil || id <= 0 {
			return nil, fmt.Errorf("%q is not a job id", text)
		}
		jobs[i] = id
	}
	return jobs, nil
}
