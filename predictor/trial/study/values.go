package study

import "github.com/varq-project/varq/predictor/trial/scenario"

// valuesOf returns the values of a scenario. With all reservations, and without any, they
// are
//
//	wait           seconds, mean over the jobs that never ask for a reservation
//	utilisation    share, from the first submission to the last
//	lost, held     shares of the machine
//
// with hard reservations also
//
//	offset         seconds, mean distance from the time asked for
//	exact          share that got the time asked for
//
// and with VARQ's
//
//	promised       number of promises
//	granted        promises / requests
//	cost           processor time used / processor time of the work
//	prob, kept     of the promises: mean forecast, share kept
func valuesOf(r *scenario.Result) Values {
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
		}
	}
	return v
}
