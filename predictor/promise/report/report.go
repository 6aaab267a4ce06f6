// Package report compares what was promised with what was kept: how often work
// started by its deadline against the probability promised (the VARQ paper's
// Table 2), and what the reservations cost against what their work needed
// (Table 3). Times are Unix seconds.
package report

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/stats"
)

// Outcome is what became of a promise.
type Outcome uint8

// The outcomes.
const (
	Open Outcome = iota // not known yet
	Kept
	Missed
	Cancelled
)

// Promise is one reservation, as far as it is reported.
type Promise struct {
	User, Account, Partition string
	Outcome                  Outcome
	Prob, Estimate           float64 // promised, and forecast when it was promised
	BeginBy                  int64   // the deadline
	HoldUntil                int64   // when the work may start
	// Start and End are the job's, WorkStart that of the work in it; 0 where unknown.
	Start, WorkStart, End int64
	Nodes                 int32
}

// Row sums up a group of promises.
type Row struct {
	Group                                   string
	Promises, Kept, Missed, Cancelled, Open int
	// Promised and Estimated are the means of Prob and Estimate, and Delivered is the
	// share kept; all over the kept and the missed.
	Promised, Estimated, Delivered float64
	// Low and High are the ends of the interval of Delivered, of score.Confidence. Its
	// blocks are the weeks of the deadlines; with deadlines in too few weeks, promises
	// are taken for independent of one another (Clopper and Pearson's interval).
	Low, High float64
	// Required node-seconds, which the work took; Used ones, for which the jobs had
	// their nodes; and Used / Required. All over the jobs that have ended.
	Required, Used, Ratio float64
}

// Make groups promises by "user", "account", "partition" or "month", which is that of
// the deadline in loc, or puts them into one row when by is "". Rows come in the
// order of their groups. The error says that by is none of these.
func Make(by string, all []Promise, loc *time.Location) ([]Row, error) {
	group, err := grouping(by, loc)
	if err != nil {
		return nil, err
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
	rows := []Row{}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		rows = append(rows, sums[name].row(name))
	}
	return rows, nil
}

// grouping returns the function that names a promise's group.
func grouping(by string, loc *time.Location) (func(*Promise) string, error) {
	switch by {
	case "":
		return func(*Promise) string { return "" }, nil
	case "user":
		return func(p *Promise) string { return p.User }, nil
	case "account":
		return func(p *Promise) string { return p.Account }, nil
	case "partition":
		return func(p *Promise) string { return p.Partition }, nil
	case "month":
		return func(p *Promise) string { return time.Unix(p.BeginBy, 0).In(loc).Format("2006-01") }, nil
	}
	return nil, fmt.Errorf("cannot group a report by %q: only by user, account, partition or month", by)
}

// sum is a group's row in the making, with sums for means.
type sum struct {
	Row
	weekly score.Weekly // of the kept and the missed, by the week of the deadline
}

func (s *sum) add(p *Promise) {
	s.Promises++
	switch p.Outcome {
	case Kept, Missed:
		kept := p.Outcome == Kept
		if kept {
			s.Kept++
		} else {
			s.Missed++
		}
		s.Promised += p.Prob
		s.Estimated += p.Estimate
		s.weekly.At(score.Week(score.Day(p.BeginBy))).Add(kept)
	case Cancelled:
		s.Cancelled++
	default:
		s.Open++
		return
	}
	// A job cancelled while it held its nodes has been charged for them.
	required, used := charged(p)
	s.Required += required
	s.Used += used
}

// charged returns the node-seconds that the work took and those that the whole
// job took. Where the start of the work is not known, it is when it was meant to
// start. A job that never ran or has not ended counts for nothing.
func charged(p *Promise) (required, used float64) {
	if p.Start == 0 || p.End < p.Start {
		return 0, 0
	}
	work := p.WorkStart
	if work == 0 {
		work = p.HoldUntil
	}
	work = min(max(work, p.Start), p.End)
	nodes := float64(p.Nodes)
	return nodes * float64(p.End-work), nodes * float64(p.End-p.Start)
}

func (s *sum) row(group string) Row {
	row := s.Row
	row.Group = group
	settled := s.Kept + s.Missed
	if settled > 0 {
		n := float64(settled)
		row.Promised, row.Estimated, row.Delivered = s.Promised/n, s.Estimated/n, float64(s.Kept)/n
	}
	var ok bool
	if row.Low, row.High, ok = s.weekly.Interval(); !ok {
		row.Low, row.High = stats.ProportionInterval(s.Kept, settled, score.Confidence)
	}
	if s.Required > 0 {
		row.Ratio = s.Used / s.Required
	}
	return row
}
