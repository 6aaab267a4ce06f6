package study

import "github.com/varq-project/varq/predictor/trial/scenario"

// ValuesOf returns the values of a scenario's result. Every result has
//
//	wait           seconds, mean over the jobs that never ask for a reservation
//	utilisation    share, from the first submission to the last
//	lost, held     shares of the machine
//
// A result with hard reservations also has
//
//	offset         seconds, mean distance from the time asked for
//	exact          share that got the time asked for
//
// A result with VARQ's reservations also has
//
//	promised       number of promises
//	granted        promises / requests
//	cost           processor time used / processor time of the work
//	prob           mean forecast of the promises
//	kept           share of the promises that were kept
func ValuesOf(r *scenario.Result) Values {
	v := Values{
		"wait":        r.Others.Mean,
		"utilisation": r.Utilisation,
		"lost":        r.Lost,
		"held":        r.Held,
	}
	if h := r.Hard; h != nil && h.Jobs > 0 {
		v["offset"] = h.Offset
		v["exact"] = float64(h.Exact) / float64(h.Jobs)
	}
	if q := r.VARQ; q != nil && q.Asked > 0 {
		v["promised"] = float64(q.Promised)
		v["granted"] = float64(q.Promised) / float64(q.Asked)
		v["cost"] = 1 + q.Overhead
		if q.Promised > 0 {
			v["prob"] = q.Prob
			v["kept"] = float64(q.Kept) / float64(q.Promised)
			v["kept low"], v["kept high"] = q.KeptLow, q.KeptHigh
		}
	}
	return v
}
