package checkpoint

import "math"

// Rule tells whether to checkpoint at a request. The Request must pass its Check.
type Rule func(*Request) bool

// Never is the Rule of an application without checkpoints.
func Never(*Request) bool { return false }

// LookAhead is the Rule of Advise. It does without Advise where even the whole risk until the job
// is done is too small.
func LookAhead(r *Request) bool {
	if r.Left > 0 && (r.Ends == 0 || r.Left <= r.Ends) {
		fails := clamp(r.Hazard.Within(r.Left + r.Cost))
		price := newSteady(r).price
		if price*fails*r.Since < (1-fails)*r.Cost {
			return false
		}
	}
	return Advise(r).Checkpoint
}

// Equation1 is equation 1 of Oliner et al. (2005): p_f d I >= C, with d the intervals since the
// last checkpoint done, and p_f the probability of a failure before the next one would be complete.
// It weighs all of C against the risk of a single interval, so that it checkpoints rarely.
func Equation1(r *Request) bool {
	return clamp(r.Hazard.Within(r.Interval+r.Cost))*r.Since >= r.Cost
}

// Marginal checkpoints when the work that the coming interval puts at risk is worth the cost: rate
// T (T+I)/2 >= C. With a constant rate, the two intervals around the request are then long enough
// to be two.
func Marginal(r *Request) bool {
	return rateWithin(r.Hazard, r.Interval)*r.Since*(r.Since+r.Interval)/2 >= r.Cost
}

// EveryYoung checkpoints at the request nearest to Young's interval.
func EveryYoung(r *Request) bool { return r.nearest(Young(r.Cost, 1/r.Hazard.Rate())) }

// EveryDaly checkpoints at the request nearest to Daly's interval.
func EveryDaly(r *Request) bool { return r.nearest(Daly(r.Cost, 1/r.Hazard.Rate())) }

// nearest reports whether no later request is nearer to the end of an interval of work.
func (r *Request) nearest(interval float64) bool { return r.Since+r.Interval/2 >= interval }

// SCRSeconds returns the Rule of the Scalable Checkpoint/Restart library (SCR) with
// SCR_CHECKPOINT_SECONDS: checkpoints are at least that far apart. gap computes it.
func SCRSeconds(gap func(*Request) float64) Rule {
	return func(r *Request) bool { return r.Since >= gap(r) }
}

// SCROverhead returns the Rule of SCR with SCR_CHECKPOINT_OVERHEAD: a checkpoint may take less than
// that percentage of the time since the last one, itself included. percent computes it. (SCR also
// takes the first checkpoint of a run at once, to learn what it costs; here that is known.)
func SCROverhead(percent func(*Request) float64) Rule {
	return func(r *Request) bool { return 100*r.Cost < percent(r)*(r.Since+r.Cost) || r.Cost == 0 }
}

// Young returns the interval of work between checkpoints of a cost under failures with the mean
// time mtbf between them: sqrt(2 C M) (Young, "A first order approximation to the optimum
// checkpoint interval", 1974).
func Young(cost, mtbf float64) float64 { return math.Sqrt(2 * cost * mtbf) }

// Daly returns the interval of work between checkpoints by equation 37 of Daly, "A higher order
// estimate of the optimum checkpoint interval for restart dumps" (2006): sqrt(2 C M) (1 +
// sqrt(C/2M)/3 + (C/2M)/9) - C if C < 2M, else M.
func Daly(cost, mtbf float64) float64 {
	if cost >= 2*mtbf || math.IsInf(mtbf, 1) {
		return mtbf
	}
	share := cost / (2 * mtbf)
	return Young(cost, mtbf)*(1+math.Sqrt(share)/3+share/9) - cost
}

// rateWithin returns the failures per second, at a constant rate, that give the risk of the next
// seconds.
func rateWithin(h Hazard, seconds float64) float64 {
	return Failures(h, seconds) / seconds
}

// Failures returns how many failures a Hazard expects within a number of seconds, at most some
// number that makes one all but certain.
func Failures(h Hazard, seconds float64) float64 {
	return min(-math.Log1p(-clamp(h.Within(seconds))), worst)
}

// clamp returns the probability nearest to p, and 0 if p is not a number.
func clamp(p float64) float64 {
	if !(p > 0) {
		return 0
	}
	return min(p, 1)
}
