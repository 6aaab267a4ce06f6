package ledger

import (
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

// promiseColumns are the columns of the table plans except open.
func promiseColumns(r *api.Reservation) sqlitefile.Columns {
	return sqlitefile.Columns{
		{Name: "id", Pointer: &r.ID},
		{Name: "user", Pointer: &r.User},
		{Name: "account", Pointer: &r.Account},
		{Name: "partition", Pointer: &r.Partition},
		{Name: "node_set", Pointer: &r.NodeSet},
		{Name: "inside", Pointer: &r.Inside},
		{Name: "qos", Pointer: &r.QOS},
		{Name: "nodes", Pointer: &r.Nodes},
		{Name: "cpus", Pointer: &r.CPUs},
		{Name: "gpus", Pointer: &r.GPUs},
		{Name: "memory", Pointer: &r.Memory},
		{Name: "licences", Pointer: &r.Licences},
		{Name: "dependency", Pointer: &r.Dependency},
		{Name: "pieces", Pointer: &r.Pieces.Count},
		{Name: "piece_cpus", Pointer: &r.Pieces.Each.CPUs},
		{Name: "piece_gpus", Pointer: &r.Pieces.Each.GPUs},
		{Name: "piece_memory", Pointer: &r.Pieces.Each.Memory},
		{Name: "exclusive", Pointer: &r.Pieces.Exclusive},
		{Name: "array_tasks", Pointer: &r.Array.Tasks},
		{Name: "array_at_once", Pointer: &r.Array.AtOnce},
		{Name: "tasks", Pointer: &r.Tasks},
		{Name: "at_once", Pointer: &r.AtOnce},
		{Name: "tasks_nodes", Pointer: &r.TasksNodes},
		{Name: "begin_time", Pointer: &r.BeginTime},
		{Name: "time_limit", Pointer: &r.TimeLimit},
		{Name: "begin_by", Pointer: &r.BeginBy},
		{Name: "hold_until", Pointer: &r.HoldUntil},
		{Name: "finish_by", Pointer: &r.FinishBy},
		{Name: "time_out", Pointer: &r.TimeOut},
		{Name: "lost", Pointer: &r.Lost},
		{Name: "checkpoint_interval", Pointer: &r.CheckpointInterval},
		{Name: "slot", Pointer: &r.Slot},
		{Name: "tentative", Pointer: &r.Tentative},
		{Name: "group_id", Pointer: &r.Group},
		{Name: "home", Pointer: &r.Home},
		{Name: "group_prob", Pointer: &r.GroupProb},
		{Name: "work_limit", Pointer: &r.WorkLimit},
		{Name: "earliest", Pointer: &r.Earliest},
		{Name: "prob", Pointer: &r.Prob},
		{Name: "estimate", Pointer: &r.Estimate},
		{Name: "best_effort", Pointer: &r.BestEffort},
		{Name: "on_miss", Pointer: &r.OnMiss},
		{Name: "work_node_seconds", Pointer: &r.Work.NodeSeconds},
		{Name: "work_billing_seconds", Pointer: &r.Work.BillingSeconds},
		{Name: "worst_node_seconds", Pointer: &r.Worst.NodeSeconds},
		{Name: "worst_billing_seconds", Pointer: &r.Worst.BillingSeconds},
		{Name: "expected_node_seconds", Pointer: &r.Expected.NodeSeconds},
		{Name: "expected_billing_seconds", Pointer: &r.Expected.BillingSeconds},
		{Name: "sample", Pointer: &r.Sample},
		{Name: "class", Pointer: &r.Class},
		{Name: "comment", Pointer: &r.Comment},
		{Name: "promised_at", Pointer: &r.Promised},
	}
}

// progressColumns are the columns of the table bindings for the progress of a job. set is a
// prefix of begin_time, time_limit and earliest: "set_" for the view reservations, in which these
// names stand for the values promised, and "" for the table.
func progressColumns(p *Progress, set string) sqlitefile.Columns {
	return sqlitefile.Columns{
		{Name: "submit", Pointer: &p.Submit},
		{Name: "state", Pointer: &p.State},
		{Name: set + "begin_time", Pointer: &p.BeginTime},
		{Name: set + "time_limit", Pointer: &p.TimeLimit},
		{Name: "was_begin", Pointer: &p.WasBegin},
		{Name: "was_limit", Pointer: &p.WasLimit},
		{Name: set + "earliest", Pointer: &p.Earliest},
		{Name: "name", Pointer: &p.Name},
		{Name: "asks", Pointer: &p.Asks},
		{Name: "held", Pointer: &p.Held},
		{Name: "yielded", Pointer: &p.Yielded},
		{Name: "late", Pointer: &p.Late},
		{Name: "interactive", Pointer: &p.Interactive},
		{Name: "stopped", Pointer: &p.Stopped},
		{Name: "interrupted", Pointer: &p.Interrupted},
		{Name: "held_before", Pointer: &p.HeldBefore},
		{Name: "worked_before", Pointer: &p.WorkedBefore},
		{Name: "confirmed", Pointer: &p.Confirmed},
		{Name: "gate", Pointer: &p.Gate},
		{Name: "gated", Pointer: &p.Gated},
		{Name: "eligible", Pointer: &p.Eligible},
		{Name: "start", Pointer: &p.Start},
		{Name: "work_start", Pointer: &p.WorkStart},
		{Name: "alloc_nodes", Pointer: &p.Nodes},
	}
}

// entryColumns are the columns of the view reservations.
func entryColumns(e *Entry) sqlitefile.Columns {
	columns := append(promiseColumns(&e.Reservation), progressColumns(&e.Progress, "set_")...)
	return append(columns, sqlitefile.Columns{
		{Name: "open", Pointer: &e.Open},
		{Name: "withdrawn", Pointer: &e.Withdrawn},
		{Name: "refused", Pointer: &e.Refused},
		{Name: "job", Pointer: &e.Job},
		{Name: "end", Pointer: &e.End},
		{Name: "run", Pointer: &e.Run},
		{Name: "started", Pointer: &e.Started},
		{Name: "evicted", Pointer: &e.Evicted},
		{Name: fmt.Sprintf("substr(note, 1, %d)", mostText), Pointer: &e.Note},
	}...)
}
