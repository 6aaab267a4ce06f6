package filter

import (
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// The options that say what is to be promised: the start, or the end.
const (
	beginBy  = "begin-by"
	finishBy = "finish-by"
	risk     = "risk"

	beginAfter = "begin-after"
)

// checkpointInterval is an option of promises about the end.
const checkpointInterval = "checkpoint-interval"

// riskVariable is the environment variable that stands for --risk in a command with --finish-by
// that has neither --prob nor --risk.
const riskVariable = "VARQ_RISK"

// asked returns the option that says what is to be promised.
func (o options) asked() string {
	for _, name := range []string{beginBy, finishBy, risk} {
		if _, given := o.own(name); given {
			return name
		}
	}
	return beginBy
}

// readRisk reads the risk that the user takes by default, if the request is about the job's end and
// says nothing of its probability.
func (s *Submission) readRisk(environment []string) (err error) {
	r := &s.Request
	if r.FinishBy == 0 || r.Prob != 0 || r.Risk != 0 {
		return nil
	}
	for _, variable := range environment {
		if text, found := strings.CutPrefix(variable, riskVariable+"="); found && text != "" {
			if r.Risk, err = prob.Parse(text); err != nil {
				return fmt.Errorf("%s in the environment: %w", riskVariable, err)
			}
		}
	}
	return nil
}

// soon is how many seconds ahead a begin time may be that a job whose end is promised need not
// have.
const soon = 60

// later reports whether a job whose end is promised becomes eligible later.
func (s *Submission) later(p *api.Plan) bool { return p.BeginTime > s.now+soon }

// saysOfEnd is says of a plan about the job's end.
func (s *Submission) saysOfEnd(p *api.Plan, verb string) []string {
	lines := []string{
		fmt.Sprintf("%s: %sfinished by %s with probability %s (estimate %s)", verb, p.Subject(), s.time(p.FinishBy), prob.Format(p.Prob), prob.Format(p.Estimate)),
		fmt.Sprintf("time limit %s; the work costs %s, and nothing more", slurmtime.FormatDuration(p.TimeLimit), p.Work),
	}
	if s.later(p) {
		lines = append(lines, fmt.Sprintf("eligible from %s: until then it is in the way of promises made before", s.time(p.BeginTime)))
	}
	if p.TimeOut > api.TimesOutOften {
		lines = append(lines, p.StoppedOften())
	}
	return lines
}
