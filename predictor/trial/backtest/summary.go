package backtest

import (
	"math"
	"slices"
)

// IsBaseline reports whether the method of that name is a baseline.
func IsBaseline(name string) bool {
	i := slices.IndexFunc(Methods, func(m Maker) bool { return m.Name == name })
	return i >= 0 && Methods[i].Baseline
}

// Best returns the baseline with the least pinball loss at the i-th quantile, or nil if no
// baseline was scored. Of equal baselines it returns the first.
func (p *Part) Best(i int) *Score {
	var best *Score
	for k := range p.Scores {
		s := &p.Scores[k]
		if IsBaseline(s.Method) && (best == nil || s.Quantiles[i].Pinball < best.Quantiles[i].Pinball) {
			best = s
		}
	}
	return best
}

// AgainstBest returns the pinball loss of s at the i-th quantile divided by that of the
// best baseline. It returns nil if there is no baseline or its loss is 0.
func (p *Part) AgainstBest(s *Score, i int) *float64 {
	best := p.Best(i)
	if best == nil {
		return nil
	}
	return quotient(s.Quantiles[i].Pinball, best.Quantiles[i].Pinball)
}

// ByMonth returns the pinball loss of s at the i-th quantile divided by that of the best baseline
// of the whole part, month by month: the geometric mean over the months with at least BusyMonth
// jobs, so that no month of long waits decides. It returns nil if there is no baseline, or no such
// month in which both have a loss.
func (p *Part) ByMonth(s *Score, i int) *float64 {
	best := p.Best(i)
	if best == nil {
		return nil
	}
	sum, months := 0., 0.
	for k, m := range s.Months {
		if mine, its := m.Pinball[i], best.Months[k].Pinball[i]; m.Jobs >= BusyMonth && mine > 0 && its > 0 {
			sum += math.Log(mine / its)
			months++
		}
	}
	if months == 0 {
		return nil
	}
	mean := math.Exp(sum / months)
	return &mean
}

// Join returns one report with the scores of several reports on the same log. Each report
// must be about other methods. Join changes and returns the first report.
func Join(reports []*Report) *Report {
	all := reports[0]
	for _, r := range reports[1:] {
		all.Scores = append(all.Scores, r.Scores...)
		for i, p := range r.Parts {
			all.Parts[i].Scores = append(all.Parts[i].Scores, p.Scores...)
		}
	}
	return all
}

// Summary compares a method with the best baseline on several logs.
type Summary struct {
	Method    string            `json:"method"`
	Quantiles []QuantileSummary `json:"quantiles"`
}

// QuantileSummary summarises, over several logs, the pinball loss of one quantile divided
// by the loss of the best baseline. The best baseline may differ between logs.
type QuantileSummary struct {
	Quantile float64 `json:"quantile"`
	Mean     float64 `json:"mean"` // geometric, over the logs
	Worst    float64 `json:"worst"`
	// number of logs with such a quotient; if 0, Mean and Worst are 0
	Logs int `json:"logs"`
}

// Summarise returns a summary for each method. The reports must be about the same methods
// and quantiles, each on another log.
func Summarise(reports []*Report) []Summary {
	if len(reports) == 0 {
		return nil
	}
	var all []Summary
	for k, first := range reports[0].Scores {
		s := Summary{Method: first.Method}
		for i, q := range first.Quantiles {
			sum := QuantileSummary{Quantile: q.Quantile}
			logarithms := 0.
			for _, r := range reports {
				if ratio := r.AgainstBest(&r.Scores[k], i); ratio != nil {
					logarithms += math.Log(*ratio)
					sum.Worst = max(sum.Worst, *ratio)
					sum.Logs++
				}
			}
			if sum.Logs > 0 {
				sum.Mean = math.Exp(logarithms / float64(sum.Logs))
			}
			s.Quantiles = append(s.Quantiles, sum)
		}
		all = append(all, s)
	}
	return all
}
