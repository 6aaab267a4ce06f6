package when

import (
	"io"
	"strconv"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// allColumns returns all columns.
func allColumns(env *cli.Env) []table.Column[api.Waiting] {
	type row = api.Waiting
	moment := func(f *api.Forecast, of func(*api.Forecast) int64) string {
		if f == nil {
			return cli.None
		}
		return far(env, of(f))
	}
	median := func(f *api.Forecast) int64 { return f.Median }
	late := func(f *api.Forecast) int64 { return f.Late }
	by := func(i int) func(row) string {
		return func(r row) string {
			if i >= len(r.By) {
				return cli.None
			}
			return prob.Format(r.By[i].Prob)
		}
	}
	return []table.Column[row]{
		table.Number("JobID", func(r row) string { return told.JobID(r.Job, r.Array, r.Tasks) }),
		table.Text("Partition", func(r row) string { return r.Partition }),
		{Name: "Name", Value: func(r row) string { return r.Name }, Spare: 2},
		table.Text("User", func(r row) string { return r.User }),
		table.Text("Account", func(r row) string { return r.Account }),
		table.Text("QOS", func(r row) string { return r.QOS }),
		table.Number("Nodes", func(r row) string { return strconv.Itoa(int(r.Nodes)) }),
		table.Number("CPUs", func(r row) string { return strconv.Itoa(int(r.CPUs)) }),
		table.Number("Limit", func(r row) string { return slurmtime.FormatDuration(r.Limit) }),
		table.Text("Since", func(r row) string { return env.Moment(r.Since) }),
		table.Text("Start", func(r row) string { return moment(r.Start, median) }),
		table.Text("Late", func(r row) string { return moment(r.Start, late) }),
		table.Text("End", func(r row) string { return moment(r.End, median) }),
		{Name: "EndLate", Value: func(r row) string { return moment(r.End, late) }},
		table.Number("In1h", by(0)),
		table.Number("Tonight", by(1)),
		table.Number("Morning", by(2)),
		table.Number("Ahead", func(r row) string { return strconv.Itoa(r.Ahead) }),
		{Name: "Slurm", Value: func(r row) string { return env.Moment(r.Expected) }, Spare: 1},
		table.Text("BeginBy", func(r row) string { return env.Moment(r.BeginBy) }),
		{Name: "Reason", Value: reason, Long: true},
	}
}

// reason returns why a job waits: as Slurm says, or why nothing is forecast.
func reason(w api.Waiting) string {
	if w.Unknown != "" {
		return w.Unknown
	}
	return w.Reason
}

// far returns a time, which may be beyond the reach of the forecast.
func far(env *cli.Env, at int64) string {
	if at == 0 {
		return "beyond"
	}
	return env.Moment(at)
}

// tell tells all that is known of one job.
func tell(env *cli.Env, w *api.Waiting) error {
	s := cli.Listing{Width: 12}
	for _, line := range told.Waiting(w, env.Now(), env.Zone) {
		s.Line(line.Name, "%s", line.Text)
	}
	s.WriteString("\n")
	_, err := io.WriteString(env.Stdout, s.String())
	return err
}
