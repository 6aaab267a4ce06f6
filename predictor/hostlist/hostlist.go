// Package hostlist reads and writes Slurm's lists of node names, such as
// node[1-3,07-09],gpu[0-1]-ib2.
package hostlist

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// MaxNames is the largest number of names that Expand returns. Slurm itself
// refuses longer lists.
const MaxNames = 100_000

// maxName is the longest name, in bytes.
const maxName = 256

// maxDigits is the largest number of digits in a range. Longer numbers would overflow.
const maxDigits = 18

// ErrTooMany is returned for a list of more than MaxNames names.
var ErrTooMany = fmt.Errorf("more than %d names", MaxNames)

// Expand returns the names in list, in its order, and keeps repeated names. In a name with
// several brackets the last bracket varies fastest. The empty list has no names.
func Expand(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	var names []string
	for _, pattern := range Split(list) {
		var err error
		if names, err = appendPattern(names, pattern); err != nil {
			return nil, fmt.Errorf("hostlist %s: %w", shorten(list), err)
		}
	}
	return names, nil
}

// Split cuts a list at the commas that are not in brackets.
func Split(list string) []string {
	var patterns []string
	depth, from := 0, 0
	for i := range len(list) {
		switch list[i] {
		case '[':
			depth++
		case ']':
			depth--
		case ',':
			if depth == 0 {
				patterns = append(patterns, list[from:i])
				from = i + 1
			}
		}
	}
	return append(patterns, list[from:])
}

// appendPattern appends the names of one pattern: literal parts and brackets
// in turn.
func appendPattern(names []string, pattern string) ([]string, error) {
	if pattern == "" {
		return nil, errors.New("empty name")
	}
	if strings.ContainsAny(pattern, " \t\r\n") {
		return nil, fmt.Errorf("space in name %s", shorten(pattern))
	}
	room := MaxNames - len(names)
	expanded := []string{""}
	for rest := pattern; rest != ""; {
		literal, after, bracket := strings.Cut(rest, "[")
		if strings.Contains(literal, "]") {
			return nil, fmt.Errorf("unmatched ] in %s", shorten(pattern))
		}
		// the last is no shorter than the first, and hardly longer
		if len(expanded[0])+len(literal) > maxName {
			return nil, fmt.Errorf("a name in %s is longer than %d bytes", shorten(pattern), maxName)
		}
		for i := range expanded {
			expanded[i] += literal
		}
		if !bracket {
			break
		}
		inside, after, closed := strings.Cut(after, "]")
		if !closed {
			return nil, fmt.Errorf("unmatched [ in %s", shorten(pattern))
		}
		numbers, err := expandRanges(inside, room/max(1, len(expanded)))
		if err != nil {
			return nil, err
		}
		expanded = product(expanded, numbers)
		rest = after
	}
	if len(expanded) > room {
		return nil, ErrTooMany
	}
	return append(names, expanded...), nil
}

func product(heads, tails []string) []string {
	all := make([]string, 0, len(heads)*len(tails))
	for _, head := range heads {
		for _, tail := range tails {
			all = append(all, head+tail)
		}
	}
	return all
}

// expandRanges returns the numbers of a list such as "1-3,07-09", as they are written in
// names. It fails if there are more than room numbers.
func expandRanges(list string, room int) ([]string, error) {
	var numbers []string
	for item := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(item, "-")
		if !isRange {
			last = first
		}
		lo, err := parseNumber(first)
		if err != nil {
			return nil, err
		}
		hi, err := parseNumber(last)
		if err != nil {
			return nil, err
		}
		if hi < lo {
			return nil, fmt.Errorf("range %s ends before it starts", item)
		}
		if hi-lo >= int64(room-len(numbers)) {
			return nil, ErrTooMany
		}
		for n := lo; n <= hi; n++ {
			numbers = append(numbers, pad(n, len(first)))
		}
	}
	return numbers, nil
}

func parseNumber(s string) (int64, error) {
	if s == "" || len(s) > maxDigits || strings.Trim(s, "0123456789") != "" {
		return 0, fmt.Errorf("bad number %q in a range", shorten(s))
	}
	return strconv.ParseInt(s, 10, 64)
}

// pad writes n with leading zeros to at least width digits.
func pad(n int64, width int) string {
	s := strconv.FormatInt(n, 10)
	if len(s) < width {
		s = strings.Repeat("0", width-len(s)) + s
	}
	return s
}

// shorten cuts long input for an error message.
func shorten(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}
