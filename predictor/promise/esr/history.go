package esr

import "time"

// bins is how many intervals of recorded times there are a day.
const bins = 288

// Interval is how long an interval is, in seconds (delta).
const Interval = 86400 / bins

// History is what has been recorded of the idle nodes, by the time of day on the site's clock (H
// and its daily pattern dp).
type History struct {
	Zone  *time.Location
	sums  [bins]float64
	count [bins]int64
}

// Record adds how many nodes were idle at a time, the begin of an Interval.
func (h *History) Record(at int64, idle float64) {
	i := h.bin(at)
	h.sums[i] += idle
	h.count[i]++
}

// bin returns the interval of the day of a time.
func (h *History) bin(at int64) int { return int(h.clock(at) / Interval) }

// clock returns how many seconds of the day the site's clock shows.
func (h *History) clock(at int64) int64 {
	_, offset := time.Unix(at, 0).In(h.Zone).Zone()
	return ((at+int64(offset))%86400 + 86400) % 86400
}

// Idle returns how many nodes were idle on average at the times of day from start to end (aip). It
// reports false if none of them has been recorded.
func (h *History) Idle(start, end int64) (nodes float64, ok bool) {
	count := int64(0)
	begin := h.clock(start)
	first, last := begin/Interval, (begin+end-start-1)/Interval
	for i := first; i <= min(last, first+bins-1); i++ {
		nodes += h.sums[i%bins]
		count += h.count[i%bins]
	}
	if count == 0 {
		return 0, false
	}
	return nodes / float64(count), true
}

// Rate returns the success rate of a reservation of nodes by how many are idle on average: 1 if
// that is twice as many, 0 if it is fewer.
func Rate(nodes int32, idle float64) float64 {
	need := float64(nodes)
	switch {
	case 2*need <= idle:
		return 1
	case need <= idle:
		return 2 - 2*need/idle
	}
	return 0
}
