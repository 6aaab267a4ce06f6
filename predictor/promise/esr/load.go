package esr

import (
	"cmp"
	"math"
	"slices"
)

// Load is what a site knows of its workload. Its times are Unix seconds. Nodes may be counted or
// processors, as long as it is the same of all.
type Load struct {
	Now   int64
	Nodes int32 // of the site (np_site)
	// Running are the jobs that run outside of reservations, with the time until their limits
	// (j_ret), and Waiting those that wait, with their limits (j_wt).
	Running, Waiting []Job
	Reservations     []Reservation
	// RunningShare and WaitingShare are how much of these times jobs use (acc_r, acc_w).
	RunningShare, WaitingShare float64
}

// Job is a job of a Load.
type Job struct {
	Nodes   int32
	Seconds float64
}

// Reservation is one that a site has already.
type Reservation struct {
	Start, End int64
	Nodes      int32
}

// PaperShare is the paper's accuracy of limits (section 4).
const PaperShare = .5

// End returns the approximate time at which the known workload ends, a Unix time (T_wkl): when the
// running jobs end on average, later by the work of the waiting ones on all nodes, and by that of
// each reservation that starts before; these are counted in the order of their starts. On a site
// without nodes it never ends.
func (l *Load) End() float64 {
	if l.Nodes < 1 {
		return math.Inf(1)
	}
	var nodes, work float64
	for _, j := range l.Running {
		nodes += float64(j.Nodes)
		work += float64(j.Nodes) * j.Seconds * l.RunningShare
	}
	end := float64(l.Now)
	if nodes > 0 {
		end += work / nodes
	}
	site := float64(l.Nodes)
	for _, j := range l.Waiting {
		end += float64(j.Nodes) * j.Seconds * l.WaitingShare / site
	}
	ordered := slices.SortedFunc(slices.Values(l.Reservations), func(a, b Reservation) int {
		// sums depend on the order
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Nodes, b.Nodes))
	})
	for _, r := range ordered {
		if float64(r.Start) >= end {
			break
		}
		if left := r.End - max(r.Start, l.Now); left > 0 {
			end += float64(r.Nodes) * float64(left) / site
		}
	}
	return end
}

// Rate returns the success rate of a reservation by when it starts and when the known workload
// ends: 1 or 0.
func (l *Load) Rate(start int64) float64 {
	if float64(start) >= l.End() {
		return 1
	}
	return 0
}
