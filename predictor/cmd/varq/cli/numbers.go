package cli

import "strconv"

// Numbers returns numbers as text, as of jobs.
func Numbers(numbers []int64) (list []string) {
	for _, n := range numbers {
		list = append(list, strconv.FormatInt(n, 10))
	}
	return list
}
