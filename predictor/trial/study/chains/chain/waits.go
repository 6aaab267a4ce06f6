package chain

import "math/bits"

// lastWaits is of how many waits MeanWait has the mean.
const lastWaits = 100

// waits has the last waits of jobs, in seconds, by their size. The numbers of processors of jobs of
// like size have as many binary digits.
type waits map[int][]int64

func (w waits) add(procs int32, wait int64) {
	size := bits.Len32(uint32(procs))
	w[size] = append(w[size][max(0, len(w[size])-lastWaits+1):], wait)
}

// mean returns the mean of the last waits of jobs of like size, in seconds, or 0 without any.
func (w waits) mean(procs int32) int64 {
	like := w[bits.Len32(uint32(procs))]
	sum := int64(0)
	for _, wait := range like {
		sum += wait
	}
	return sum / max(1, int64(len(like)))
}
