// Package report compares what was promised with what was kept: how often work
// started by its deadline against the probability promised (the VARQ paper's
// Table 2), and what the reservations cost against what their work needed
// (Table 3).
package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/stats"
)

// confidence is the level of the interval of the delivered fraction.
const confidence = .95

// Make groups reservations by one of api.Groupings (the month is that of the
// deadline, in loc), or puts them into one row when by is "". Rows come in the
// order of their groups. The error says that by is none of these.
func Make(by string, all []api.Reservation, loc *time.Location) (api.Report, error) {
	group, err := grouping(by, loc)
	if err != nil {
		return api.Report{}, err
	}
	sums := map[string]*sum{}
	for i := range all {
		name := group(&all[i])
		if sums[name] == nil {
			sums[name] = &sum{}
		}
		sums[name].add(&all[i])
	}
	if by == "" && len(sums) == 0 {
		sums[""] = &sum{}
	}
	r := api.Report{By: by, Rows: []api.ReportRow{}}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		r.Rows = append(r.Rows, sums[name].row(name))
	}
	return r, nil
}

// grouping returns the function that names a reservation's group.
func grouping(by string, loc *time.Location) (func(*api.Reservation) string, error) {
	switch by {
	case "":
		return func(*api.Reservation) string { return "" }, nil
	case "user":
		return func(r *api.Reservation) string { return r.User }, nil
	case "account":
		return func(r *api.Reservation) string { return r.Account }, nil
	case "partition":
		return func(r *api.Reservation) string { return r.Partition }, nil
	case "month":
		return func(r *api.Reservation) string { return time.Unix(r.BeginBy, 0).In(loc).Format("2006-01") }, nil
	}
	return nil, fmt.Errorf("cannot group a report by %q: only by %s", by, strings.Join(api.Groupings, ", "))
}

// sum is a group's row in the making.
type sum struct {
	kept, missed, cancelled, open int
	promised, estimated           float64 // of the kept and the missed
	required, used                float64 // node-seconds, of all that ended
}

func (s *sum) add(r *api.Reservation) {
	switch r.State {
	case api.StateKept:
		s.kept++
		s.promised += r.Prob
		s.estimated += r.Estimate
	case api.StateMissed:
		s.missed++
		s.promised += r.Prob
		s.estimated += r.Estimate
	case api.StateCancelled:
		s.cancelled++
	default:
		s.open++
		return
	}
	// A job cancelled while it held its nodes has been charged for them.
	required, used := charged(r)
	s.required += required
	s.used += used
}

// charged returns the node-seconds that the work took and those that the whole
// job took. Where the start of the work is not known, it is when it was meant to
// start. A job that never ran or has not ended counts for nothing.
func charged(r *api.Reservation) (required, used float64) {
	if r.Start == 0 || r.End < r.Start {
		return 0, 0
	}
	work := r.WorkStart
	if work == 0 {
		work = r.HoldUntil
	}
	work = min(max(work, r.Start), r.End)
	nodes := float64(r.Nodes)
	return nodes * float64(r.End-work), nodes * float64(r.End-r.Start)
}

func (s *sum) row(group string) api.ReportRow {
	settled := s.kept + s.missed
	row := api.ReportRow{
		Group:     group,
		Promises:  settled + s.cancelled + s.open,
		Kept:      s.kept,
		Missed:    s.missed,
		Cancelled: s.cancelled,
		Open:      s.open,
		Required:  s.required,
		Used:      s.used,
	}
	if settled > 0 {
		n := float64(settled)
		row.Promised, row.Estimated, row.Delivered = s.promised/n, s.estimated/n, float64(s.kept)/n
	}
	row.Low, row.High = stats.ProportionInterval(s.kept, settled, confidence)
	if s.required > 0 {
		row.Ratio = s.used / s.required
	}
	return row
}
