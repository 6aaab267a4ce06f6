package told

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// Plan tells of the plan for what was asked, at the time now and with times in zone, when the job
// runs and what it costs.
func Plan(p *api.Plan, asked *api.PlanRequest, now int64, zone *time.Location) []Line {
	var lines []Line
	line := func(name, format string, args ...any) {
		lines = append(lines, Line{name, fmt.Sprintf(format, args...)})
	}
	moment := func(at int64) string { return cli.Moment(at, zone) }
	if p.BeginTime <= now {
		line("Eligible", "now")
	} else {
		line("Eligible", "%s, %s from now", moment(p.BeginTime), slurmtime.FormatDuration(p.BeginTime-now))
	}
	if p.TimeLimit == p.WorkLimit {
		line("Time limit", "%s, all of it for the work", slurmtime.FormatDuration(p.TimeLimit))
	} else {
		line("Time limit", "%s, of which %s for the work", slurmtime.FormatDuration(p.TimeLimit), slurmtime.FormatDuration(p.WorkLimit))
	}
	switch p.HoldUntil {
	case 0:
		line("Work starts", "as soon as the job does")
	case p.BeginBy:
		line("Work starts", "at the deadline")
	default:
		line("Work starts", "from %s on", moment(p.HoldUntil))
	}
	if p.OnMiss == api.OnMissCancel {
		line("If missed", "the job is cancelled")
	} else {
		line("If missed", "the job runs as soon as it can")
	}
	line("Work costs", "%s", p.Work)
	if atMost := p.AtMost(); atMost == (api.Cost{}) {
		line("At most", "nothing more: no nodes idle before the work")
	} else {
		line("At most", "%s more, for idle nodes: %s", atMost.RoundedUp(), atMost.Share(p.Work))
		line("Expected", "%s more", p.Expected)
	}
	if others := p.OtherTasks(); others != "" {
		line("Others", "%s", others)
	}
	if spread := p.Spread(asked); spread != "" {
		line("Nodes", "%s", spread)
	}
	if limit := p.Unlimited(asked); limit != "" {
		line("No limit", "%s", limit)
	}
	if way := p.GivesWay(); way != "" {
		line("Gives way", "%s", way)
	}
	if left := p.LeavesOut(); left != "" {
		line("Nodes", "%s", left)
	}
	return append(lines, forecast(p, now, zone)...)
}

// forecast tells of the forecast of a plan, as far as it is known, what it rests on, and why a
// promise is more careful or less.
func forecast(p *api.Plan, now int64, zone *time.Location) []Line {
	text := "from " + Evidence(&p.Evidence, now)
	if p.Forecast != 0 {
		text = prob.Format(p.Forecast) + ", " + text
	}
	lines := []Line{{"Forecast", text}}
	if p.Careful != "" {
		lines = append(lines, Line{"Careful", p.Careful})
	}
	if p.Offered != 0 {
		lines = append(lines, Line{"Offered", fmt.Sprintf("at %s, with a probability of %s: it is promised as it was offered", cli.Moment(p.Offered, zone), prob.Format(p.Estimate))})
	}
	return lines
}

// Evidence says in a phrase what a forecast rests on that is told now.
func Evidence(e *api.Evidence, now int64) string { return AsOf(learnt(e), e.AsOf, now) }

// learnt says in a phrase what a forecast was learnt from.
func learnt(e *api.Evidence) string {
	if e.Sample == 0 && e.Class != "" {
		return "what runs and waits in " + e.Class
	}
	if e.Sample == 0 {
		return "no past wait: none of jobs like it is known"
	}
	text := cli.Count(e.Sample, "past wait", "past waits")
	simulated := slices.ContainsFunc(e.Components, func(c api.Component) bool { return c.Simulated != "" && c.Share > 0 })
	if simulated { // their number is then a mean over forecasters, and tells nothing of these jobs
		text = "past waits"
	}
	if e.Class != "" {
		text += fmt.Sprintf(" of jobs like it (%s)", e.Class)
	}
	if e.Learning {
		text += ", the newest: those before are still being learnt, and the answer may be otherwise in some minutes"
	}
	if simulated && e.Beyond == 0 {
		text += ", and from simulations of the queue"
	}
	if e.Beyond > 0 {
		text += " and, as more work is ahead than was ever learnt from, simulations of the queue"
	}
	if percent := math.Round(100 * e.Taken); percent > 0 {
		text += fmt.Sprintf("; with a probability of %.0f %% running jobs leave no room for it now", percent)
	}
	return text
}

// Basis says in one sentence what a prediction that is told now was computed from.
func Basis(e *api.Evidence, now int64) string {
	if e.Down != "" {
		return fmt.Sprintf("Nothing can be promised now: %s.", AsOf(e.Down, e.AsOf, now))
	}
	return fmt.Sprintf("From %s.", Evidence(e, now))
}
