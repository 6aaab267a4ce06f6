package command

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/trial/scenario"
)

// inWords says what the names of policies and of kinds of backfilling mean.
var inWords = map[string]string{
	sched.FCFS().Name:           "first come, first served",
	sched.LWF().Name:            "least work first",
	sched.NoBackfill.String():   "no backfilling",
	sched.EASY.String():         "EASY backfilling",
	sched.Conservative.String(): "conservative backfilling",
}

// showTrial shows what one trial came to.
func (e *Env) showTrial(s setting, t *trial) error {
	l := listing{width: 12}
	fmt.Fprintf(&l, "%s jobs of %s\n\n", thousands(t.Jobs), s)
	l.line("Time", "%s until the last job came, %s until the last had ended", seconds(t.Last-t.First), seconds(t.End-t.First))
	l.line("Utilisation", "%s until the last job came, %s until the last had ended", percent(t.Utilisation), percent(t.UtilisationToEnd))
	w := t.Others
	whose := "all jobs"
	if t.Hard != nil || t.VARQ != nil {
		whose = fmt.Sprintf("the %s jobs that do not reserve", thousands(w.Jobs))
	}
	l.line("Wait", "of %s: mean %s, median %s,", whose, rounded(w.Mean), seconds(w.Median))
	l.line("", "95th percentile %s, longest %s", seconds(w.P95), seconds(w.Max))
	l.line("Slowdown", "bounded, mean: %.2f", w.Slowdown)
	if h := t.Hard; h != nil {
		l.line("Reserved", "%s by %s jobs, %s of them for the very time asked for", t.Reservations, thousands(h.Jobs), thousands(h.Exact))
		l.line("Offset", "from the time asked for: mean %s, median %s", rounded(h.Offset), seconds(h.Median))
	}
	if v := t.VARQ; v != nil {
		l.line("Reserved", "%s by %s jobs, %s of them with a promise", t.Reservations, thousands(v.Asked), thousands(v.Promised))
		if v.Promised > 0 {
			l.line("Forecast", "probability %s on average", share(v.Prob))
			l.line("Kept", "%s: %s (%s to %s with 95 %% confidence)", thousands(v.Kept), share(delivered(v)), share(v.KeptLow), share(v.KeptHigh))
			l.line("Used", "%s times what the work took", ratio(v))
		}
	}
	if t.VARQ != nil && t.VARQ.Down > 0 {
		l.line("Refused", "%s while nothing could be promised to anybody, the last as", thousands(t.VARQ.Down))
		l.line("", "%s", t.VARQ.Why)
	}
	l.line("Simulated", "%s", s.speed())
	_, err := io.WriteString(e.Stdout, l.String())
	return err
}

// String says what is simulated.
func (s setting) String() string {
	text := fmt.Sprintf("%s on %s processors, %s, %s", s.Source, thousands(int(s.Procs)), inWords[s.Policy], inWords[s.Backfill])
	if s.Outage != "" {
		text += ", outage " + s.Outage
	}
	return text
}

// speed says how long it took.
func (s setting) speed() string {
	return fmt.Sprintf("in %.3f s: %s jobs/s", s.Seconds, thousands(int(s.JobsPerSecond)))
}

// delivered is the share of the promises that were kept; there must be some.
func delivered(v *scenario.VARQResult) float64 { return float64(v.Kept) / float64(v.Promised) }

// ratio shows what jobs with promises used, in parts of what their work took.
func ratio(v *scenario.VARQResult) string { return strconv.FormatFloat(1+v.Overhead, 'f', 2, 64) }

// seconds shows a duration.
func seconds(d int64) string { return slurmtime.FormatDuration(d) }

// rounded shows a mean of durations.
func rounded(d float64) string { return seconds(int64(math.Round(d))) }

// percent shows a share.
func percent(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) + " %" }

// signed shows a change, if there is one to show.
func signed(x *float64) string {
	if x == nil {
		return none
	}
	return fmt.Sprintf("%+.1f %%", 100**x)
}

// thousands shows a count with its thousands apart.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
