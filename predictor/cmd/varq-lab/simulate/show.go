package simulate

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/trial/scenario"
)

// inWords explains the names of policies and of kinds of backfilling.
var inWords = map[string]string{
	sched.FCFS().Name:           "first come, first served",
	sched.LWF().Name:            "least work first",
	sched.NoBackfill.String():   "no backfilling",
	sched.EASY.String():         "EASY backfilling",
	sched.Conservative.String(): "conservative backfilling",
}

// showTrial writes the result of a trial.
func showTrial(out io.Writer, s setting, t *trial) error {
	l := cli.Listing{Width: 12}
	fmt.Fprintf(&l, "%s jobs of %s\n\n", cli.Thousands(t.Jobs), s)
	l.Line("Time", "%s until the last job came, %s until the last had ended", seconds(t.Last-t.First), seconds(t.End-t.First))
	l.Line("Utilisation", "%s until the last job came, %s until the last had ended", cli.Percent(t.Utilisation), cli.Percent(t.UtilisationToEnd))
	w := t.Others
	whose := "all jobs"
	if t.Hard != nil || t.VARQ != nil {
		whose = fmt.Sprintf("the %s jobs that do not reserve", cli.Thousands(w.Jobs))
	}
	l.Line("Wait", "of %s: mean %s, median %s,", whose, cli.Rounded(w.Mean), seconds(w.Median))
	l.Line("", "95th percentile %s, longest %s", seconds(w.P95), seconds(w.Max))
	l.Line("Slowdown", "bounded, mean: %.2f", w.Slowdown)
	if h := t.Hard; h != nil {
		l.Line("Reserved", "%s by %s jobs, %s of them for the very time asked for", t.Reservations, cli.Thousands(h.Jobs), cli.Thousands(h.Exact))
		l.Line("Offset", "from the time asked for: mean %s, median %s", cli.Rounded(h.Offset), seconds(h.Median))
	}
	if v := t.VARQ; v != nil {
		l.Line("Reserved", "%s by %s jobs, %s of them with a promise", t.Reservations, cli.Thousands(v.Asked), cli.Thousands(v.Promised))
		if v.Promised > 0 {
			l.Line("Forecast", "probability %s on average", cli.Share(v.Prob))
			l.Line("Kept", "%s: %s (%s to %s with 95 %% confidence)", cli.Thousands(v.Kept), cli.Share(delivered(v)), cli.Share(v.KeptLow), cli.Share(v.KeptHigh))
			l.Line("Used", "%s times what the work took", ratio(v))
		}
	}
	if t.VARQ != nil && t.VARQ.Offers != nil {
		o := t.VARQ.Offers
		l.Line("Offers", "for %s of %s without a promise, of which %s took a deadline at most a day later", cli.Thousands(o.Offered), cli.Thousands(o.Refused), cli.Thousands(o.Later))
		if o.Later > 0 {
			l.Line("", "%s of these kept: %s (%s to %s with 95 %% confidence)", cli.Thousands(o.Kept), cli.Share(keptOffers(o)), cli.Share(o.KeptLow), cli.Share(o.KeptHigh))
		}
	}
	if t.VARQ != nil && t.VARQ.Down > 0 {
		l.Line("Refused", "%s while nothing could be promised to anybody, the last as", cli.Thousands(t.VARQ.Down))
		l.Line("", "%s", t.VARQ.Why)
	}
	l.Line("Simulated", "%s", s.speed())
	_, err := io.WriteString(out, l.String())
	return err
}

// String describes the setting.
func (s setting) String() string {
	text := fmt.Sprintf("%s on %s processors, %s, %s", s.Source, cli.Thousands(int(s.Procs)), inWords[s.Policy], inWords[s.Backfill])
	if s.Outage != "" {
		text += ", outage " + s.Outage
	}
	return text
}

// speed describes how long the simulation took.
func (s setting) speed() string {
	return fmt.Sprintf("in %.3f s: %s jobs/s", s.Seconds, cli.Thousands(int(s.JobsPerSecond)))
}

// delivered returns the share of promises that were kept. There must be a promise.
func delivered(v *scenario.VARQResult) float64 { return float64(v.Kept) / float64(v.Promised) }

// ratio writes the processor time that jobs with promises used, divided by that of their
// work.
func ratio(v *scenario.VARQResult) string { return strconv.FormatFloat(1+v.Overhead, 'f', 2, 64) }

// keptOffers returns the share of the offers taken that were kept. There must be one.
func keptOffers(o *scenario.OffersResult) float64 { return float64(o.Kept) / float64(o.Later) }

// hardPrice is what some sites charge for a hard reservation, in times of the time that is booked.
// It is to be booked 60 hours ahead, and nothing is given back of what the job does not use.
const hardPrice = 1.5

// hardCost returns what hard reservations for the jobs with promises would cost by hardPrice, in
// times of what their work takes. Users book what they ask for as time limits. There must be a
// promise.
func hardCost(v *scenario.VARQResult) float64 { return hardPrice * v.Booked / v.Work }

// hardRatio writes the hardCost of jobs with promises.
func hardRatio(v *scenario.VARQResult) string { return strconv.FormatFloat(hardCost(v), 'f', 2, 64) }

// spoken shows a duration as one says it.
func spoken(d float64) string {
	for _, unit := range []struct {
		seconds float64
		one     string
		many    string
	}{{24 * 3600, "day", "days"}, {3600, "hour", "hours"}, {60, "minute", "minutes"}} {
		if n := strconv.FormatFloat(d/unit.seconds, 'f', 1, 64); d >= 2*unit.seconds {
			return strings.TrimSuffix(n, ".0") + " " + unit.many
		} else if d >= unit.seconds && n == "1.0" {
			return "1 " + unit.one
		}
	}
	return cli.Count(int(math.Round(d)), "second", "seconds")
}

// seconds shows a duration.
func seconds(d int64) string { return slurmtime.FormatDuration(d) }

// signed writes a relative change in per cent with its sign, or cli.None if it is nil.
func signed(x *float64) string {
	if x == nil {
		return cli.None
	}
	return fmt.Sprintf("%+.1f %%", 100**x)
}
