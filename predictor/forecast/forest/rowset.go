package forest

import "math/bits"

// rowSet is a set of rows of cases, a bit each.
type rowSet []uint64

// take returns the different ones of rows, ascending, in list, which it overwrites. It leaves the
// set as empty as it must be before. The cost is O(n + window/64) with n rows.
func (s *rowSet) take(rows, list []int32) []int32 {
	if *s == nil {
		*s = make(rowSet, (window+63)/64)
	}
	for _, row := range rows {
		(*s)[row/64] |= 1 << (row % 64)
	}
	list = list[:0]
	for i, word := range *s {
		for ; word != 0; word &= word - 1 {
			list = append(list, int32(64*i+bits.TrailingZeros64(word)))
		}
		(*s)[i] = 0
	}
	return list
}
