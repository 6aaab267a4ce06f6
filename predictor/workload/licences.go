package workload

import (
	"iter"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Licences are those licences of Slurm's that a job needs and that can run out, each with its
// number, in the order of their names: "ansys:1,matlab:2". A job without any has the empty text.
type Licences string

// LicencesOf returns the Licences with some numbers by name.
func LicencesOf(numbers map[string]int64) Licences {
	items := make([]string, 0, len(numbers))
	for name, n := range numbers {
		items = append(items, name+":"+strconv.FormatInt(n, 10))
	}
	slices.Sort(items)
	return Licences(strings.Join(items, ","))
}

// All yields the licences: the name of each, and how many.
func (l Licences) All() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		if l == "" {
			return
		}
		for item := range strings.SplitSeq(string(l), ",") {
			name, number, _ := strings.Cut(item, ":")
			if n, err := strconv.ParseInt(number, 10, 64); err == nil && !yield(name, n) {
				return
			}
		}
	}
}

// Of returns how many there are of a name.
func (l Licences) Of(name string) int64 {
	for each, n := range l.All() {
		if each == name {
			return n
		}
	}
	return 0
}

// Times returns n times the licences; a number is at most the greatest int32.
func (l Licences) Times(n int32) Licences {
	return l.each(func(one int64) int64 { return min(int64(n)*one, math.MaxInt32) })
}

// Like returns the licences with each number rounded up to a power of two. Jobs for which that is
// the same wait alike for their licences.
func (l Licences) Like() Licences {
	return l.each(func(n int64) int64 { return 1 << bits.Len64(uint64(max(1, n)-1)) })
}

// each returns the licences with other numbers.
func (l Licences) each(number func(int64) int64) Licences {
	if l == "" {
		return ""
	}
	numbers := map[string]int64{}
	for name, n := range l.All() {
		numbers[name] = number(n)
	}
	return LicencesOf(numbers)
}
