package desk

import (
	"context"
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/promise/policy"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurm"
)

// Adopt plans what e promises for its job j as Slurm has accepted it: the site has given the job
// another partition, account, QOS or set of nodes. If the promise holds there, e is of that place,
// account and QOS afterwards, with the costs there. Otherwise Adopt returns the reason. The error
// is a fault of package api.
func (d *Desk) Adopt(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry) (refusal string, err error) {
	is, now := *e, d.Now()
	is.Account, is.QOS, is.NodeSet, is.Licences, is.Job = j.Account, j.QOS, j.NodeSet, j.Licences, j.ID
	is.Partition, _, _ = strings.Cut(j.Partition, ",")
	if c := d.Premises.Limits(); c != nil {
		if _, known := c.Partitions[is.Partition]; !known {
			return "partition " + is.Partition + " is not known yet", nil
		}
	}
	planner, r, ok := d.again(&is, j, now)
	if !ok {
		return "", api.Fault(api.ErrUnavailable, "nothing can be planned now")
	}
	there := planner.Cluster.Job(r.Job, nil)
	if rule := there.CheckSize(); rule != nil {
		return rule.Says, nil
	}
	if longest, rule := there.MaxLimit(); longest != limits.None && longest < j.Limit {
		return rule.Says + ", too little for the work and the time to hold it", nil
	}
	who := policy.Who{User: is.User, Account: is.Account, Partition: is.Partition, QOS: is.QOS}
	if rule := d.policy().For(who).Admit(who, e.Prob, 0, "--prob"); rule != nil {
		return rule.What, nil
	}
	if refusal, err = d.crowded(ctx, &is, j); refusal != "" || err != nil {
		return refusal, err
	}
	current := trajectory.Submission{Begin: max(j.Eligible, e.BeginTime), Limit: j.Limit}
	if revised := planner.Replan(r, current); prob.Short(revised.Prob, e.Prob) {
		if unknown := planner.Down(r, current); unknown != "" {
			return unknown, nil
		}
		return fmt.Sprintf("there it starts by the deadline with probability %s", prob.Format(revised.Prob)), nil
	}
	work, was := planner.Work(r).BillingSeconds, e.Work.BillingSeconds
	if was > 0 {
		is.Worst.BillingSeconds *= work / was
		is.Expected.BillingSeconds *= work / was
	}
	is.Work.BillingSeconds, is.Job = work, 0
	*e = is
	return "", nil
}
