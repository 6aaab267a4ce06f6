package when

import (
	"fmt"
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
		table.Number("JobID", name),
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

// name returns a job's number, of an array with the tasks that wait.
func name(w api.Waiting) string {
	switch {
	case w.Tasks == "":
		return strconv.FormatInt(w.Job, 10)
	case w.Array == 0:
		return fmt.Sprintf("%d_[%s]", w.Job, w.Tasks)
	}
	return fmt.Sprintf("%d_[%s]", w.Array, w.Tasks)
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

// reasons are Slurm's most frequent reasons in words.
var reasons = map[string]string{
	"Priority":  "other jobs go first",
	"Resources": "it is next, and waits for its nodes",
	"BeginTime": "its begin time has not come",
	"None":      "Slurm has not looked at it yet",
	"Licenses":  "it waits for licences",
}

// tell tells all that is known of one job.
func tell(env *cli.Env, w *api.Waiting) error {
	s := cli.Listing{Width: 12}
	s.Line("Job", "%s %s, of %s, in partition %s: %s for up to %s", name(*w), w.Name, w.User, w.Partition, nodes(w.Nodes), slurmtime.FormatDuration(w.Limit))
	if w.Since > env.Now() {
		s.Line("Waits", "from %s on", env.Moment(w.Since))
	} else if w.Since != 0 {
		s.Line("Waits", "since %s", env.Moment(w.Since))
	}
	why := w.Reason
	if words, ok := reasons[w.Reason]; ok {
		why += ": " + words
	}
	s.Line("Because", "%s", why)
	if w.Ahead > 0 {
		s.Line("Ahead", "%s of the partition, with up to %.1f node-hours", cli.Count(w.Ahead, "job", "jobs"), float64(w.AheadNodes)/3600)
	}
	for _, more := range w.Why {
		s.Line("", "%s", more)
	}
	if w.Unknown != "" {
		s.Line("Start", "not forecast: %s", w.Unknown)
	} else {
		forecast(env, &s, w)
	}
	if w.Expected != 0 {
		s.Line("Slurm", "expects to start it at %s", env.Moment(w.Expected))
	}
	switch {
	case w.BeginBy != 0:
		s.Line("Promised", "to run by %s with probability %s (varq status %d)", env.Moment(w.BeginBy), prob.Format(w.Prob), w.Job)
	case w.FinishBy != 0:
		s.Line("Promised", "to have ended by %s with probability %s (varq status %d)", env.Moment(w.FinishBy), prob.Format(w.Prob), w.Job)
	}
	for _, h := range w.Help {
		if h.Limit != 0 {
			s.Line("Sooner", "with --time=%s: as likely as not by %s (scontrol update jobid=%d timelimit=%s)", slurmtime.FormatDuration(h.Limit), env.Moment(h.Start.Median), w.Job, slurmtime.FormatDuration(h.Limit))
		} else {
			s.Line("Sooner", "on %s: as likely as not by %s, if its work fits", nodes(h.Nodes), env.Moment(h.Start.Median))
		}
	}
	s.WriteString("\n")
	_, err := io.WriteString(env.Stdout, s.String())
	return err
}

// forecast adds the lines about what is forecast of a job.
func forecast(env *cli.Env, s *cli.Listing, w *api.Waiting) {
	next := ""
	if w.Tasks != "" {
		next = "the next task "
	}
	s.Line("Start", "%s%s", next, likely(env, w.Start))
	for _, by := range w.By {
		s.Line("", "by %s with probability %s", env.Moment(by.At), prob.Format(by.Prob))
	}
	s.Line("End", "%s", likely(env, w.End))
	s.Line("Forecast", "from %s; it is not a promise", told.Evidence(&w.Evidence, env.Now()))
}

// likely says when something happens, as it is forecast.
func likely(env *cli.Env, f *api.Forecast) string {
	switch {
	case f.Median == 0:
		return "later than can be forecast"
	case f.Late == 0:
		return fmt.Sprintf("as likely as not by %s; how much later is not known", env.Moment(f.Median))
	}
	return fmt.Sprintf("as likely as not by %s; in nine cases of ten by %s", env.Moment(f.Median), env.Moment(f.Late))
}

func nodes(n int32) string { return cli.Count(int(n), "node", "nodes") }
