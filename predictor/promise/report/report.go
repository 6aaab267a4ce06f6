// Package report compares what was promised with what was kept. It compares the share of promises
// kept with the probability promised (the VARQ paper's Table 2), and the node-seconds that the
// reservations cost with those that their work needed (Table 3). It does not judge promises:
// package course decides whether a promise was kept. Times are Unix seconds.
package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/stats"
)

// Outcome is the state of a promise.
type Outcome uint8

// The outcomes.
const (
	Open Outcome = iota // not settled yet
	Kept
	Missed
	Cancelled // neither kept nor missed, and in no share
)

// Promise is the part of a reservation that a report needs.
type Promise struct {
	User, Account, Partition string
	Outcome                  Outcome
	Prob, Estimate           float64 // the probability promised, and the one forecast then
	Deadline                 int64
	Work                     float64 // node-seconds that were asked for
	HoldUntil                int64   // the time from which the work may start
	// Start and End are the job's start and end. WorkStart is when its work began. A
	// time not known is 0.
	Start, WorkStart, End int64
	// HeldBefore is for how many seconds the nodes idled in runs of the job before that.
	HeldBefore int64
	// WorkedBefore is for how many seconds the job worked in runs before that, which ended before
	// its work was done, and Evicted is true if the last run did, too.
	WorkedBefore int64
	Evicted      bool
	Nodes        int32
	// Member is true if the promise is one of a group at several sites. What was promised is the
	// group's probability: that is a Promise of its own, of which only the site knows that keeps
	// the group. So of a Member only what its job cost counts.
	Member bool
}

// Row sums up a group of promises.
type Row struct {
	Group                                   string
	Promises, Kept, Missed, Cancelled, Open int
	// Promised and Estimated are the means of Prob and Estimate, and Delivered is Kept /
	// (Kept + Missed). All three are over the promises kept or missed.
	Promised, Estimated, Delivered float64
	// Low and High are the ends of Delivered's confidence interval, with the level
	// score.Confidence. The interval is a block bootstrap's whose blocks are the weeks
	// of the deadlines. If there are too few weeks, it is Clopper and Pearson's
	// interval, for which the promises are independent of one another.
	Low, High float64
	// Required is the node-seconds that the work took, Used the node-seconds for which
	// the jobs had their nodes, and Ratio is Used / Required. They are over the jobs
	// that have ended, including those of cancelled promises.
	Required, Used, Ratio float64
	// QoS is the sum over the promises kept of their work times the probability promised, divided
	// by the work of all promises kept or missed, as asked for (Oliner et al. 2005, equation 2).
	// Goodput is the node-seconds that the work of the promises kept took, divided by Used.
	QoS, Goodput float64
	// Lost is the node-seconds of work in runs that failed nodes, or Slurm, ended before it was
	// done: what is lost without checkpoints. Of a job that was promised to begin, only its last
	// run counts.
	Lost float64
}

// Make groups promises by "user", "account", "partition" or "month" (the month of the deadline in
// loc). If by is "", all promises are one group. There is one row for each group, in the order of
// the groups' names. Of more than mostRows groups those with the fewest promises are one, Others.
// Any other by is an error.
func Make(by string, all []Promise, loc *time.Location) ([]Row, error) {
	group, err := grouping(by, loc)
	if err != nil {
		return nil, err
	}
	sums := map[string]*sum{}
	own := rowsOfTheirOwn(all, group)
	for i := range all {
		name := group(&all[i])
		if own != nil && !own[name] {
			name = Others
		}
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

const (
	// mostRows bounds a report: names of accounts may be whatever users make up.
	mostRows = 10_000
	// Others is the group of all that have no row of their own.
	Others = "(others)"
)

// rowsOfTheirOwn returns the groups with the most promises, if there are more than mostRows; else
// nil.
func rowsOfTheirOwn(all []Promise, group func(*Promise) string) map[string]bool {
	counts := map[string]int{}
	for i := range all {
		counts[group(&all[i])]++
	}
	if len(counts) <= mostRows {
		return nil
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	own := map[string]bool{}
	for _, name := range names[:mostRows-1] {
		own[name] = true
	}
	return own
}

// grouping returns the function that returns the name of a promise's group.
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
		return func(p *Promise) string { return time.Unix(p.Deadline, 0).In(loc).Format("2006-01") }, nil
	}
	return nil, fmt.Errorf("cannot group a report by %q: only by user, account, partition or month", by)
}

// sum adds up a group's row. Until method row divides them, Promised, Estimated, QoS and Goodput
// are sums.
type sum struct {
	Row
	work   float64      // of the promises kept or missed
	weekly score.Weekly // of the promises kept or missed, by the week of the deadline
}

func (s *sum) add(p *Promise) {
	if !p.Member {
		s.count(p)
	}
	if p.Outcome == Open {
		return
	}
	// A job that was cancelled while its nodes idled has been charged for them.
	required, used, lost := Charged(p)
	s.Lost += lost
	s.Required += required
	s.Used += used
	if p.Outcome == Kept {
		s.Goodput += required
	}
}

// count counts what became of a promise.
func (s *sum) count(p *Promise) {
	s.Promises++
	kept := p.Outcome == Kept
	switch p.Outcome {
	case Open:
		s.Open++
		return
	case Cancelled:
		s.Cancelled++
		return
	case Kept:
		s.Kept++
		s.QoS += p.Work * p.Prob
	case Missed:
		s.Missed++
	}
	s.work += p.Work
	s.Promised += p.Prob
	s.Estimated += p.Estimate
	s.weekly.At(score.Week(score.Day(p.Deadline))).Add(kept)
}

// Charged returns the node-seconds of the work, those of the whole job, with all its runs, and
// those of work lost. If the start of the work is not known, it is taken to be HoldUntil. A run
// that has not ended has none.
func Charged(p *Promise) (required, used, lost float64) {
	before := float64(p.Nodes) * float64(p.HeldBefore+p.WorkedBefore)
	lost = float64(p.Nodes) * float64(p.WorkedBefore)
	if p.Start == 0 || p.End < p.Start {
		return 0, before, lost
	}
	work := p.WorkStart
	if work == 0 {
		work = p.HoldUntil
	}
	work = min(max(work, p.Start), p.End)
	nodes := float64(p.Nodes)
	required = nodes * float64(p.End-work)
	if p.Evicted {
		lost += required
	}
	return required, nodes*float64(p.End-p.Start) + before, lost
}

func (s *sum) row(group string) Row {
	row := s.Row
	row.Group = group
	settled := s.Kept + s.Missed
	if settled > 0 {
		n := float64(settled)
		row.Promised, row.Estimated = s.Promised/n, s.Estimated/n
	}
	row.Delivered, row.Low, row.High = delivered(s.Kept, s.Missed, &s.weekly)
	if s.Required > 0 {
		row.Ratio = s.Used / s.Required
	}
	if s.work > 0 {
		row.QoS = s.QoS / s.work
	}
	if s.Used > 0 {
		row.Goodput = s.Goodput / s.Used
	}
	return row
}

// delivered returns the share of the promises kept among those kept or missed, 0 without any,
// and the ends of its interval as in Row.
func delivered(kept, missed int, weekly *score.Weekly) (share, low, high float64) {
	settled := kept + missed
	if settled > 0 {
		share = float64(kept) / float64(settled)
	}
	low, high, ok := weekly.Interval()
	if !ok {
		low, high = stats.ProportionInterval(kept, settled, score.Confidence)
	}
	return share, low, high
}
