package esr

// Methods are the names of the methods, in the paper's order.
const (
	MethodStatic  = "static"
	MethodHistory = "history"
	MethodLoad    = "load"
)

// Knowledge is what the methods go by at a site, or in one of its partitions.
type Knowledge struct {
	Now int64 // Unix seconds
	// Scale is h of Static, in seconds.
	Scale float64
	// Idle are the idle nodes of the past; nil if nobody has recorded them.
	Idle *History
	// Ends is when the known workload ends, a Unix time; see Load.End.
	Ends float64
}

// Rates are the success rates of one reservation.
type Rates struct {
	Static, Load float64
	// History is only known if idle nodes were recorded at these times of day.
	History  float64
	Recorded bool
}

// Rates returns the success rates of a reservation of nodes from start to end, Unix seconds.
func (k *Knowledge) Rates(nodes int32, start, end int64) Rates {
	r := Rates{Static: Static(start-k.Now, k.Scale)}
	if float64(start) >= k.Ends {
		r.Load = 1
	}
	if k.Idle != nil {
		if idle, ok := k.Idle.Idle(start, end); ok {
			r.History, r.Recorded = Rate(nodes, idle), true
		}
	}
	return r
}

// Of returns the rate by a method. It reports false if the method knows too little.
func (r *Rates) Of(method string) (rate float64, ok bool) {
	switch method {
	case MethodStatic:
		return r.Static, true
	case MethodHistory:
		return r.History, r.Recorded
	}
	return r.Load, true
}
