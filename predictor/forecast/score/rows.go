package score

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

// Forecasts are the scores of forecasts. Keys have a day and a forecaster, and a partition
// or class if Rows is to group by that.
type Forecasts struct {
	Scored   Table
	Unscored map[Key]Unscored
}

// Row is how one forecaster did on one group of forecasts.
type Row struct {
	Forecaster, Group string
	Forecasts         int
	// of equal size that tell as much, rounded: those on which the intervals of Quantiles rest
	Weeks            int
	Quantiles        []Coverage // of Levels
	CalibrationError float64
	Brier            float64
	Reliability      []Point
	Near             []Near // of Said; without those of which there is no forecast
	Drift            Drift
}

// Coverage is how well one quantile of the wait, or of the time until the end, was forecast.
type Coverage struct {
	Quantile float64
	// Covered is the share of the times within the quantile, and Low and High are the
	// ends of its interval, as in Proportion.
	Covered, Low, High float64
	Pinball            float64 // mean loss, seconds
}

// Rows returns a row for each forecaster and group. by is "partition", "class" or "month",
// or "" for one group. Rows are in the order of forecasters and then of groups. They cover
// the days since from. Rows without a scored forecast are left out. Drift is judged by all
// days, not only by those since from; it is not judged by month.
func Rows(by string, f Forecasts, from, today int64) []Row {
	type group struct{ forecaster, name string }
	days := map[group]map[int64]*Daily{}
	for k := range keys(f) {
		g := group{k.Forecaster, groupOf(by, k)}
		if days[g] == nil {
			days[g] = map[int64]*Daily{}
		}
		d := days[g][k.Day]
		if d == nil {
			d = &Daily{Day: k.Day}
			days[g][k.Day] = d
		}
		if s := f.Scored[k]; s != nil {
			d.Plus(s)
		}
		u := f.Unscored[k]
		d.Open += u.Open
		d.Overdue += u.Overdue
	}
	var rows []Row
	for _, g := range slices.SortedFunc(maps.Keys(days), func(a, b group) int {
		return cmp.Or(cmp.Compare(a.forecaster, b.forecaster), cmp.Compare(a.name, b.name))
	}) {
		list := inOrder(days[g])
		row, ok := sumUp(list, from)
		if !ok {
			continue
		}
		row.Forecaster, row.Group = g.forecaster, g.name
		if by != "month" {
			row.Drift = Watch(list, today)
		}
		rows = append(rows, row)
	}
	return rows
}

// keys returns the keys of the forecasts, scored or not.
func keys(f Forecasts) map[Key]bool {
	all := make(map[Key]bool, len(f.Scored)+len(f.Unscored))
	for k := range f.Scored {
		all[k] = true
	}
	for k := range f.Unscored {
		all[k] = true
	}
	return all
}

func groupOf(by string, k Key) string {
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

func inOrder(days map[int64]*Daily) []Daily {
	list := make([]Daily, 0, len(days))
	for _, day := range slices.Sorted(maps.Keys(days)) {
		list = append(list, *days[day])
	}
	return list
}

// sumUp returns the scores of the days since from. It reports false if no forecast of these
// days is scored.
func sumUp(days []Daily, from int64) (Row, bool) {
	var sums Sums
	var covered [len(Levels)]Weekly
	for i := range days {
		d := &days[i]
		if d.Day < from || d.Forecasts == 0 {
			continue
		}
		sums.Plus(&d.Sums)
		for k := range covered {
			covered[k].At(Week(d.Day)).Plus(d.Coverage(k))
		}
	}
	if sums.Forecasts == 0 {
		return Row{}, false
	}
	row := Row{
		Forecasts: sums.Forecasts, Weeks: int(math.Round(covered[0].equalWeeks())),
		CalibrationError: sums.Bins.Error(), Brier: sums.Bins.Brier(),
		Reliability: sums.Bins.Diagram(),
	}
	for i, q := range Levels {
		c := covered[i].Proportion()
		row.Quantiles = append(row.Quantiles, Coverage{Quantile: q, Covered: c.Share, Low: c.Low, High: c.High, Pinball: sums.Pinball(i)})
	}
	for i, said := range Said {
		if n := &sums.Near[i]; n.Forecasts > 0 {
			row.Near = append(row.Near, n.Near(said))
		}
	}
	return row, true
}
