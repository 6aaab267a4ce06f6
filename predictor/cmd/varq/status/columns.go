package status

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// allColumns returns all columns of status.
func allColumns(env *cli.Env) []table.Column[api.Reservation] {
	type row = api.Reservation
	var columns []table.Column[row]
	text := func(name string, value func(row) string) {
		columns = append(columns, table.Column[row]{Name: name, Value: value})
	}
	number := func(name string, value func(row) string) {
		columns = append(columns, table.Column[row]{Name: name, Right: true, Value: value})
	}
	number("JobID", func(r row) string {
		if r.Job == 0 {
			return cli.None
		}
		return strconv.FormatInt(r.Job, 10)
	})
	text("Name", func(r row) string { return r.Name })
	text("Plan", func(r row) string { return r.ID })
	text("User", func(r row) string { return r.User })
	text("Account", func(r row) string { return r.Account })
	text("Partition", func(r row) string { return r.Partition })
	text("QOS", func(r row) string { return r.QOS })
	number("Nodes", func(r row) string { return strconv.Itoa(int(r.Has())) })
	number("CPUs", func(r row) string { return strconv.Itoa(int(r.CPUs * max(1, r.Tasks))) })
	number("Tasks", func(r row) string {
		if r.Tasks == 0 {
			return cli.None
		}
		return fmt.Sprintf("%d/%d", min(r.Started, r.Tasks), r.Tasks)
	})
	text("State", func(r row) string { return r.State })
	columns[len(columns)-1].Colour = stateColour
	text("Promised", func(r row) string { return env.Moment(r.Promised) })
	text("BeginBy", func(r row) string { return env.Moment(r.BeginBy) })
	text("FinishBy", func(r row) string { return env.Moment(r.FinishBy) })
	number("Prob", func(r row) string {
		if r.Group != "" { // what was promised is the group's, which its home knows
			return cli.None
		}
		return prob.Format(r.Prob)
	})
	number("Estimate", func(r row) string { return prob.Format(r.Estimate) })
	number("Now", func(r row) string { return told.Now(&r) })
	text("Eligible", func(r row) string { eligible, _, _ := told.Times(&r); return env.Moment(eligible) })
	number("TimeLimit", func(r row) string { return slurmtime.FormatDuration(r.Set.TimeLimit) })
	number("AtMost", func(r row) string { return api.HoursUp(r.Ceiling.NodeSeconds) })
	text("Start", func(r row) string { _, start, _ := told.Times(&r); return env.Moment(start) })
	text("WorkStart", func(r row) string { _, _, work := told.Times(&r); return env.Moment(work) })
	text("End", func(r row) string { return env.Moment(r.End) })
	number("Held", func(r row) string {
		if r.Start == 0 && r.HeldBefore == 0 {
			return cli.None
		}
		return slurmtime.FormatDuration(told.Held(&r, env.Now()))
	})
	text("Note", func(r row) string { return slurmtime.InZone(told.ListNote(&r, "varq accept"), env.Zone) })
	columns[len(columns)-1].Long = true
	for i := range columns {
		columns[i].Spare = 1 + slices.Index([]string{"Eligible", "WorkStart", "Held", "Start", "Nodes", "Partition"}, columns[i].Name)
	}
	return columns
}
