package backtest

import (
	"math"
	"slices"
)

// IsBaseline reports whether a method of that name is one of those that others are
// held against.
func IsBaseline(name string) bool {
	i := slices.IndexFunc(Methods, func(m Maker) bool { return m.Name == name })
	return i >= 0 && Methods[i].Baseline
}

// Best returns the baseline with the least pinball loss at the i-th quantile, the
// first of several, or nil if no baseline was scored.
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

// AgainstBest returns the pinball loss of s at the i-th quantile in parts of that of
// the best baseline, or nil if that is 0 or there is none.
func (p *Part) AgainstBest(s *Score, i int) *float64 {
	best := p.Best(i)
	if best == nil {
		return nil
	}
	return quotient(s.Quantiles[i].Pinball, best.Quantiles[i].Pinball)
}

// Join puts side by side what several runs on the same log found, each about methods
// of its own. It takes the first report to pieces.
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

// Summary is how a method did on several logs, against the best baseline of each.
type Summary struct {
	Method    string            `json:"method"`
	Quantiles []QuantileSummary `json:"quantiles"`
}

// QuantileSummary is about the pinball loss of one quantile in parts of that of the
// best baseline, which may be another one on each log.
type QuantileSummary struct {
	Quantile float64 `json:"quantile"`
	Mean     float64 `json:"mean"` // geometric, over the logs
	Worst    float64 `json:"worst"`
	Logs     int     `json:"logs"` // those with a loss to compare; if 0, so are the others
}

// Summarise sums up reports of the same methods and quantiles on several logs.
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
