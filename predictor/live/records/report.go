package records

import (
	"cmp"
	"context"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/groups"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/promise/report"
)

// Report compares what was promised with what was kept, for the promises that q selects and user
// may see. What no job has taken up is none of them. It returns api.ErrForbidden if user may not
// see the promises of the user that q names.
func (r *Records) Report(ctx context.Context, user string, q api.ReportQuery) (api.Report, error) {
	whose, err := r.whose(user, q.User, false)
	if err != nil {
		return api.Report{}, err
	}
	list, err := r.list(ctx, ledger.Query{User: whose, Selection: q.Selection})
	if err != nil {
		return api.Report{}, err
	}
	promises, err := r.groupPromises(ctx, whose, q.Selection)
	if err != nil {
		return api.Report{}, err
	}
	for i := range list {
		if v := &list[i]; !v.Unused() {
			promises = append(promises, Promise(v))
		}
	}
	rows, err := report.Make(q.By, promises, r.Zone)
	if err != nil {
		return api.Report{}, err
	}
	answer := api.Report{By: q.By, Rows: make([]api.ReportRow, len(rows))}
	for i, row := range rows {
		answer.Rows[i] = api.ReportRow(row)
	}
	return answer, nil
}

// Promise translates a reservation for package report.
func Promise(v *api.Reservation) report.Promise {
	return report.Promise{
		User: v.User, Account: v.Account, Partition: v.Partition, Outcome: reportOutcomes[v.State],
		Prob: v.Prob, Estimate: v.Estimate, Deadline: v.Deadline(), Work: v.Work.NodeSeconds, HoldUntil: v.HoldUntil,
		Start: v.Start, WorkStart: v.WorkStart, End: v.End, HeldBefore: v.HeldBefore, WorkedBefore: v.WorkedBefore, Evicted: v.Evicted, Nodes: v.Has(),
		Member: v.Group != "",
	}
}

// groupPromises returns the promises that groups are, of which this site is the home, of a user or
// of all. Those of which no site has a job are left out. A group is of the account and partition of
// its first job here; one without a job here has the partition of its first job, and no account.
func (r *Records) groupPromises(ctx context.Context, user string, q api.Selection) ([]report.Promise, error) {
	kept, err := r.Ledger.GroupsOf(ctx, user, q.Start, q.End)
	if err != nil || len(kept) == 0 {
		return nil, err
	}
	local := map[string][]api.Reservation{} // the members here of any state, by group
	members, err := r.list(ctx, ledger.Query{User: user, Grouped: true})
	if err != nil {
		return nil, err
	}
	for _, v := range slices.DeleteFunc(members, func(v api.Reservation) bool { return v.Unused() }) {
		local[v.Group] = append(local[v.Group], v)
	}
	var promises []report.Promise
	for i := range kept {
		g := &kept[i]
		if some, _ := g.Vouched(); !some {
			continue
		}
		p := report.Promise{User: g.User, Partition: g.Members[0].Partition, Prob: g.Prob, Estimate: g.Estimate, Deadline: g.Deadline}
		name := ""
		if here := local[g.ID]; len(here) > 0 {
			first := slices.MinFunc(here, func(a, b api.Reservation) int { return cmp.Compare(a.Job, b.Job) })
			p.Account, p.Partition, p.Work, name = first.Account, first.Partition, first.Work.NodeSeconds, first.Name
		}
		state := groups.State(g, r.Now())
		p.Outcome = reportOutcomes[state]
		if selects(q.Accounts, p.Account) && selects(q.Partitions, p.Partition) && selects(q.Names, name) && selects(q.States, state) {
			promises = append(promises, p)
		}
	}
	return promises, nil
}

// selects reports whether a list of a Selection selects a value.
func selects(list []string, value string) bool { return len(list) == 0 || slices.Contains(list, value) }

// reportOutcomes has the outcome for each state of a settled reservation. All other states
// are report.Open.
var reportOutcomes = map[string]report.Outcome{
	api.StateKept: report.Kept, api.StateMissed: report.Missed, api.StateCancelled: report.Cancelled,
}
