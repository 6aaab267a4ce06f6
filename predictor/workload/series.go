package workload

import "strings"

// seriesLength is the greatest length of a series, in bytes.
const seriesLength = 48

// SeriesOf returns a job's name without what tells the jobs of a series apart: each number is "#",
// and the end of a long name is cut off. So "fold-07_of_12" and "fold-11_of_12" are both of the
// series "fold-#_of_#".
func SeriesOf(name string) string {
	var s strings.Builder
	number := false
	for _, r := range name {
		digit := '0' <= r && r <= '9'
		switch {
		case digit && number:
			continue
		case digit:
			r = '#'
		}
		if s.Len()+len(string(r)) > seriesLength {
			break
		}
		number = digit
		s.WriteRune(r)
	}
	return s.String()
}
