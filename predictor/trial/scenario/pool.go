package scenario

import "github.com/varq-project/varq/predictor/promise/trajectory"

// Pool returns the results of runs of one scenario with several seeds as one result. Counts and
// processor seconds are sums, shares and waits those of all runs together. Only Median, P95 and
// Percentiles are means over the runs, and First, Last, End, Series and Why are those of the first.
// same says that all runs had the same jobs: what they tell of a week is then about that one week,
// and otherwise each run has weeks of its own. There must be a run.
func Pool(runs []*Result, same bool) *Result {
	first := runs[0]
	if len(runs) == 1 {
		return first
	}
	pooled := &Result{First: first.First, Last: first.Last, End: first.End, Series: first.Series}
	n := float64(len(runs))
	var weeks weeks
	for i, r := range runs {
		pooled.Jobs += r.Jobs
		pooled.Stops += r.Stops
		pooled.Utilisation += r.Utilisation / n
		pooled.UtilisationToEnd += r.UtilisationToEnd / n
		pooled.Held += r.Held / n
		pooled.Lost += r.Lost / n
		for _, w := range r.Weeks {
			if !same {
				w.Week += int64(i) * apartWeeks
			}
			weeks.numbered(w.Week).plus(w)
		}
	}
	pooled.Weeks = weeks
	pooled.All = poolWaits(runs, func(r *Result) *Waits { return &r.All })
	pooled.Others = poolWaits(runs, func(r *Result) *Waits { return &r.Others })
	if first.Hard != nil {
		pooled.Hard = poolHard(runs)
	}
	if first.VARQ != nil {
		pooled.VARQ = poolVARQ(runs, weeks)
	}
	return pooled
}

// apartWeeks is more than the weeks of a run.
const apartWeeks = 100_000

func (w *Week) plus(other Week) {
	w.Others += other.Others
	w.Wait += other.Wait
	w.Promised += other.Promised
	w.Kept += other.Kept
	w.Later += other.Later
	w.LaterKept += other.LaterKept
}

func poolWaits(runs []*Result, of func(*Result) *Waits) Waits {
	pooled := Waits{}
	for _, r := range runs {
		pooled.Jobs += of(r).Jobs
		pooled.Max = max(pooled.Max, of(r).Max)
	}
	if pooled.Jobs == 0 {
		return pooled
	}
	pooled.Percentiles = make([]int64, 101)
	some := 0.
	sums := make([]float64, len(pooled.Percentiles))
	for _, r := range runs {
		w := of(r)
		share := float64(w.Jobs) / float64(pooled.Jobs)
		pooled.Mean += share * w.Mean
		pooled.Slowdown += share * w.Slowdown
		if w.Jobs > 0 {
			some++
		}
		for p, wait := range w.Percentiles {
			sums[p] += float64(wait)
		}
	}
	for p, sum := range sums {
		pooled.Percentiles[p] = int64(sum / some)
	}
	pooled.Median, pooled.P95 = pooled.Percentiles[50], pooled.Percentiles[95]
	return pooled
}

func poolHard(runs []*Result) *HardResult {
	pooled := &HardResult{}
	median := 0.
	for _, r := range runs {
		pooled.Jobs += r.Hard.Jobs
		pooled.Exact += r.Hard.Exact
		pooled.Offset += r.Hard.Offset * float64(r.Hard.Jobs)
		median += float64(r.Hard.Median) / float64(len(runs))
	}
	pooled.Offset /= float64(max(1, pooled.Jobs))
	pooled.Median = int64(median)
	return pooled
}

func poolVARQ(runs []*Result, weeks weeks) *VARQResult {
	pooled := &VARQResult{Why: runs[0].VARQ.Why}
	prob := 0.
	for _, r := range runs {
		v := r.VARQ
		pooled.Asked += v.Asked
		pooled.Down += v.Down
		pooled.Moves = append(pooled.Moves, make([]int, max(0, len(v.Moves)-len(pooled.Moves)))...)
		for moves, n := range v.Moves {
			pooled.Moves[moves] += n
		}
		pooled.Work += v.Work
		pooled.Held += v.Held
		pooled.Booked += v.Booked
		prob += v.Prob * float64(v.Promised)
		if v.Offers != nil {
			if pooled.Offers == nil {
				pooled.Offers = &OffersResult{Kinds: make(map[trajectory.Kind]int)}
			}
			for kind, n := range v.Offers.Kinds {
				pooled.Offers.Kinds[kind] += n
			}
			pooled.Offers.Offered += v.Offers.Offered
		}
	}
	pooled.conclude(weeks, prob)
	return pooled
}
