package told

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// JobID returns a job's number, of an array with the tasks that are meant, as squeue shows it.
// array may be 0.
func JobID(job, array int64, tasks string) string {
	array = cmp.Or(array, job)
	switch {
	case tasks == "":
		return strconv.FormatInt(job, 10)
	case isOne(tasks):
		return fmt.Sprintf("%d_%s", array, tasks)
	}
	return fmt.Sprintf("%d_[%s]", array, tasks)
}

// isOne reports whether a list of tasks names one.
func isOne(tasks string) bool { return tasks != "" && !strings.ContainsAny(tasks, ",-%") }

// Waiting tells of a job that waits, at the time now and with times in zone, all that is known of
// when it starts and ends, and why it waits.
func Waiting(w *api.Waiting, now int64, zone *time.Location) []Line {
	var story []Line
	line := func(name, format string, args ...any) {
		story = append(story, Line{name, fmt.Sprintf(format, args...)})
	}
	moment := func(at int64) string { return cli.Moment(at, zone) }
	line("Job", "%s %s, of %s, in partition %s: %s for up to %s", JobID(w.Job, w.Array, w.Tasks), w.Name, w.User, w.Partition, nodes(w.Nodes), slurmtime.FormatDuration(w.Limit))
	if w.Since > now {
		line("Waits", "from %s on", moment(w.Since))
	} else if w.Since != 0 {
		line("Waits", "since %s", moment(w.Since))
	}
	if w.About != "" && w.About != w.Partition {
		line("About", "partition %s; Slurm may start the job in another of these sooner", w.About)
	}
	line("Because", "%s", Because(w))
	if w.Ahead > 0 {
		line("Ahead", "%s first in partition %s, with up to %.1f node-hours", cli.Count(w.Ahead, "job goes", "jobs go"), cmp.Or(w.About, w.Partition), float64(w.AheadNodes)/3600)
	}
	for i := range w.After {
		if i == MostAfter && len(w.After) > MostAfter+1 {
			line("", "and %d more jobs", len(w.After)-i)
			break
		}
		line(map[bool]string{true: "After"}[i == 0], "%s", after(&w.After[i], w.AfterAny, zone))
	}
	if h := w.Holders; h != nil && h.Jobs > 0 {
		line("Running", "%s", holders(h, zone))
	}
	for _, more := range w.Why {
		line("", "%s", slurmtime.InZone(more, zone))
	}
	if w.Unknown != "" {
		line("Start", "not forecast: %s", slurmtime.InZone(w.Unknown, zone))
	} else {
		first, all := "", ""
		if w.Tasks != "" && !isOne(w.Tasks) {
			first, all = "the first of these tasks ", "all of these tasks "
		}
		line("Start", "%s%s", first, Likely(w.Start, zone))
		for _, by := range w.By {
			line("", "by %s with probability %s", moment(by.At), prob.Format(by.Prob))
		}
		if w.Lost > 0 {
			line("", "never with probability %s, as what it waits for does not end as it needs", prob.Format(w.Lost))
		}
		if w.End == nil {
			line("End", "not told: something is promised about this job, so that its work may begin later")
		} else {
			line("End", "%s%s", all, Likely(w.End, zone))
		}
		line("Forecast", "from %s; it is not a promise", Evidence(&w.Evidence, now))
	}
	if w.Expected != 0 {
		line("Slurm", "expects to start it at %s", moment(w.Expected))
	}
	switch {
	case w.BeginBy != 0:
		line("Promised", "to run by %s with probability %s (varq status %d)", moment(w.BeginBy), prob.Format(w.Prob), w.Job)
	case w.FinishBy != 0:
		line("Promised", "to have ended by %s with probability %s (varq status %d)", moment(w.FinishBy), prob.Format(w.Prob), w.Job)
	}
	for _, h := range w.Help {
		if h.Limit != 0 {
			line("Sooner", "with --time=%s: as likely as not by %s (scontrol update jobid=%d timelimit=%s)", slurmtime.FormatDuration(h.Limit), moment(h.Start.Median), w.Job, slurmtime.FormatDuration(h.Limit))
		} else {
			line("Sooner", "on %s: as likely as not by %s, if its work fits", nodes(h.Nodes), moment(h.Start.Median))
		}
	}
	if w.Help != nil && len(w.Help) == 0 {
		line("Sooner", "%s", noHelp(w.Nodes))
	}
	return story
}

// holders tells which jobs have the nodes of a partition.
func holders(h *api.Holders, zone *time.Location) string {
	s := fmt.Sprintf("%s %d of the %s there", cli.Count(h.Jobs, "job has", "jobs have"), h.Nodes, nodes(int32(h.Of)))
	if h.Until != 0 {
		s += fmt.Sprintf("; the first of them ends by %s at the latest", cli.Moment(h.Until, zone))
	}
	if h.First != 0 {
		s += fmt.Sprintf(" (job %d)", h.First)
	}
	return s
}

// noHelp says that nothing would help a job on so many nodes.
func noHelp(nodes int32) string {
	if nodes > 1 {
		return "neither a shorter time limit nor half of the nodes would start it much sooner"
	}
	return "a shorter time limit would not start it much sooner"
}

// MostAfter is of how many jobs that another waits for each is told.
const MostAfter = 5

// conditions are what a job has to do for another that waits for it, by Slurm's names.
var conditions = map[string]string{
	"after":            "has to start",
	"afterany":         "has to end",
	"afterok":          "has to end with exit code 0",
	"afternotok":       "has to fail",
	"aftercorr":        "has to end with exit code 0, task by task",
	"singleton":        "has to end first, as it has the same name",
	"afterburstbuffer": "has to end, and its data have to be staged out",
}

// after tells of a job that another waits for.
func after(a *api.Awaited, either bool, zone *time.Location) string {
	s := fmt.Sprintf("job %s %s", JobID(a.Job, a.Array, a.Tasks), conditions[a.Kind])
	if a.Delay != 0 {
		s += fmt.Sprintf(" %s before", slurmtime.FormatDuration(a.Delay))
	}
	if a.Prob < 1 {
		s += fmt.Sprintf(" (probability %s)", prob.Format(a.Prob))
	}
	if s += ": " + Likely(a.By, zone); either {
		s += "; one of these is enough"
	}
	return s
}

// reasons are Slurm's most frequent reasons in words.
var reasons = map[string]string{
	"Priority":  "other jobs go first",
	"Resources": "it is next, and waits for its nodes",
	"BeginTime": "its begin time has not come",
	"None":      "Slurm has not looked at it yet",
	"Licenses":  "it waits for licences",
}

// Because says why a job waits, as Slurm does and in words.
func Because(w *api.Waiting) string {
	if words, ok := reasons[w.Reason]; ok {
		return w.Reason + ": " + words
	}
	return w.Reason
}

// Likely says when something happens, as it is forecast. f is nil if that is not known.
func Likely(f *api.Forecast, zone *time.Location) string {
	switch {
	case f == nil || f.Median == 0:
		return "later than can be forecast"
	case f.Late == 0:
		return fmt.Sprintf("as likely as not by %s; how much later is not known", cli.Moment(f.Median, zone))
	}
	return fmt.Sprintf("as likely as not by %s; in nine cases of ten by %s", cli.Moment(f.Median, zone), cli.Moment(f.Late, zone))
}

func nodes(n int32) string { return cli.Count(int(n), "node", "nodes") }
