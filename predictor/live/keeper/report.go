package keeper

import (
	"context"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/promise/report"
)

// Report compares what was promised with what was kept, for the promises that q selects
// and user may see. It returns api.ErrForbidden if user may not see the promises of the
// user that q names.
func (k *Keeper) Report(ctx context.Context, user string, q api.ReportQuery) (api.Report, error) {
	whose, err := k.whose(user, q.User, false)
	if err != nil {
		return api.Report{}, err
	}
	list, err := k.list(ctx, ledger.Query{User: whose, Selection: q.Selection})
	if err != nil {
		return api.Report{}, err
	}
	promises := make([]report.Promise, len(list))
	for i := range list {
		promises[i] = reportPromise(&list[i])
	}
	rows, err := report.Make(q.By, promises, k.Zone)
	if err != nil {
		return api.Report{}, err
	}
	answer := api.Report{By: q.By, Rows: make([]api.ReportRow, len(rows))}
	for i, row := range rows {
		answer.Rows[i] = api.ReportRow(row)
	}
	return answer, nil
}

// reportPromise translates a reservation for package report.
func reportPromise(r *api.Reservation) report.Promise {
	return report.Promise{
		User: r.User, Account: r.Account, Partition: r.Partition, Outcome: reportOutcomes[r.State],
		Prob: r.Prob, Estimate: r.Estimate, Deadline: r.Deadline(), Work: r.Work.NodeSeconds, HoldUntil: r.HoldUntil,
		Start: r.Start, WorkStart: r.WorkStart, End: r.End, HeldBefore: r.HeldBefore, WorkedBefore: r.WorkedBefore, Evicted: r.Evicted, Nodes: r.Has(),
	}
}

// reportOutcomes has the outcome for each state of a settled reservation. All other states
// are report.Open.
var reportOutcomes = map[string]report.Outcome{
	api.StateKept: report.Kept, api.StateMissed: report.Missed, api.StateCancelled: report.Cancelled,
}
