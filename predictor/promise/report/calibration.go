package report

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/score"
)

// Forecasts are what has become of forecasts, by day and forecaster, and by
// partition or class if they are to be told apart.
type Forecasts struct {
	Scored   score.Table
	Unscored map[score.Key]score.Unscored
}

// Calibration tells how far forecasters are to be believed, grouped by one of
// api.CalibrationGroupings or only by forecaster when by is "". The rows, which come
// in the order of forecasters and then of groups, are about the days since from;
// whether a forecaster drifts today is told by all the days there are.
func Calibration(by string, f Forecasts, from, today int64) api.Calibration {
	type group struct{ forecaster, name string }
	sums := map[group]*score.Sums{}
	days := map[group]map[int64]*score.Daily{}
	for k := range keys(f) {
		g := group{k.Forecaster, groupOf(by, k)}
		if days[g] == nil {
			sums[g], days[g] = &score.Sums{}, map[int64]*score.Daily{}
		}
		d := days[g][k.Day]
		if d == nil {
			d = &score.Daily{Day: k.Day}
			days[g][k.Day] = d
		}
		if s := f.Scored[k]; s != nil {
			d.Plus(s)
			if k.Day >= from {
				sums[g].Plus(s)
			}
		}
		u := f.Unscored[k]
		d.Open += u.Open
		d.Overdue += u.Overdue
	}
	c := api.Calibration{By: by, Rows: []api.CalibrationRow{}}
	for _, g := range slices.SortedFunc(maps.Keys(sums), func(a, b group) int {
		return cmp.Or(cmp.Compare(a.forecaster, b.forecaster), cmp.Compare(a.name, b.name))
	}) {
		if sums[g].Forecasts == 0 {
			continue
		}
		row := calibrationRow(sums[g])
		row.Forecaster, row.Group = g.forecaster, g.name
		if by != "month" {
			row.Drift = score.Watch(inOrder(days[g]), today).String()
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}

// keys returns those of the forecasts, scored or not.
func keys(f Forecasts) map[score.Key]bool {
	all := make(map[score.Key]bool, len(f.Scored)+len(f.Unscored))
	for k := range f.Scored {
		all[k] = true
	}
	for k := range f.Unscored {
		all[k] = true
	}
	return all
}

func groupOf(by string, k score.Key) string {
	switch by {
	case "partition":
		return k.Partition
	case "class":
		return k.Class
	case "month":
		return time.Unix(k.Day*86400, 0).UTC().Format("2006-01")
	}
	return ""
}

func inOrder(days map[int64]*score.Daily) []score.Daily {
	list := make([]score.Daily, 0, len(days))
	for _, day := range slices.Sorted(maps.Keys(days)) {
		list = append(list, *days[day])
	}
	return list
}

func calibrationRow(s *score.Sums) api.CalibrationRow {
	row := api.CalibrationRow{Forecasts: s.Forecasts, CalibrationError: s.Error(), Brier: s.Brier(), Reliability: []api.ReliabilityBin{}}
	for i, q := range score.Levels {
		covered, low, high := s.Coverage(i)
		row.Quantiles = append(row.Quantiles, api.QuantileCoverage{Quantile: q, Covered: covered, Low: low, High: high, Pinball: s.Pinball(i)})
	}
	for _, b := range s.Bins {
		if b.N > 0 {
			n := float64(b.N)
			row.Reliability = append(row.Reliability, api.ReliabilityBin{Count: b.N, Mean: b.Predicted / n, True: float64(b.True) / n})
		}
	}
	return row
}
