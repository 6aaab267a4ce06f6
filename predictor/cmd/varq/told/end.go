package told

import (
	"fmt"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// End tells of a plan for the end of a job, at the time now and with times in zone, when the job
// runs and what may come between.
func End(p *api.Plan, now int64, zone *time.Location) []Line {
	var lines []Line
	line := func(name, format string, args ...any) {
		lines = append(lines, Line{name, fmt.Sprintf(format, args...)})
	}
	eligible := "it is submitted at once"
	if p.BeginTime > now {
		eligible = fmt.Sprintf("it becomes eligible at %s, as it is in the way of promises made before until then", cli.Moment(p.BeginTime, zone))
	}
	line("Starts", "as likely as not by %s; %s", cli.Moment(p.Slot, zone), eligible)
	line("Time limit", "%s", slurmtime.FormatDuration(p.TimeLimit))
	if p.TimeOut > api.TimesOutOften {
		line("", "%s", p.StoppedOften())
	}
	if p.OnMiss == api.OnMissCancel {
		line("If missed", "the job is cancelled if it still waits")
	} else {
		line("If missed", "the job goes on")
	}
	line("Work costs", "%s, and nothing more", p.Work)
	const much = .0005
	if p.Lost > much {
		line("Failures", "of nodes lower the probability by %.3f", p.Lost)
	}
	if left := p.LeavesOut(); left != "" {
		line("Nodes", "%s", left)
	}
	return append(lines, forecast(p, now, zone)...)
}
