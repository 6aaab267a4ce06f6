package simulate

import (
	"fmt"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/trial/scenario"
)

// chart is a picture of bars.
type chart struct {
	Title, Note string
	Bars        []bar
}

// bar is a bar of a chart, for one kind of reservations.
type bar struct {
	Name, Value string
	Kind        string  // none, hard or varq: its colour
	Length      float64 // percentage of the longest possible bar
	Mark        float64 // percentage at which a mark stands, or 0
}

// charts returns the charts of the page that have any bars.
func (c *comparison) charts() []chart {
	var charts []chart
	for _, chart := range []chart{c.keptChart(), c.grantChart(), c.costChart(), c.waitChart(), c.busyChart()} {
		if len(chart.Bars) > 0 {
			charts = append(charts, chart)
		}
	}
	return charts
}

func (c *comparison) waitChart() chart {
	chart := chart{Title: "What it costs all others", Note: "The mean wait of the jobs that never reserve, the same jobs in every bar; how much more that is than without reservations, and between what that lies with 95 % confidence."}
	longest := 0.
	for _, r := range c.Trials {
		longest = max(longest, r.Others.Mean)
	}
	for _, r := range c.Trials {
		value := cli.Rounded(r.Others.Mean)
		if r.Change != nil {
			value += fmt.Sprintf(" (%s", signed(r.Change.Wait))
			if within := r.Change.WaitWithin; within != nil {
				value += fmt.Sprintf("; %s to %s", signed(&within.Low), signed(&within.High))
			}
			value += ")"
		}
		chart.Bars = append(chart.Bars, r.bar(value, r.Others.Mean/max(1, longest)))
	}
	return chart
}

func (c *comparison) keptChart() chart {
	chart := chart{Title: "What it gives: promises kept", Note: "Of the promises that varq made. The mark is what was promised. Beside it how many of the same jobs start by their deadline if they are simply submitted, and how many in its last quarter of an hour."}
	for _, r := range c.Trials[1:] {
		if v := r.VARQ; v != nil && v.Promised > 0 {
			value := fmt.Sprintf("%s of %s: %s (%s promised)", cli.Thousands(v.Kept), cli.Thousands(v.Promised), cli.Percent(delivered(v)), r.level())
			if p := r.Plain; p != nil && p.Promised > 0 {
				value += fmt.Sprintf("; simply submitted %s by then, %s in its last quarter of an hour", cli.Percent(p.inTime()), cli.Percent(p.atTime()))
			}
			b := r.bar(value, delivered(v))
			b.Mark = 100 * r.kind.VARQ.Prob
			chart.Bars = append(chart.Bars, b)
		}
	}
	return chart
}

func (c *comparison) grantChart() chart {
	chart := chart{Title: "Who gets what was asked for", Note: "Of the jobs that ask: with varq those that get a promise for one of four deadlines a day, with fixed times those that start at the very time they asked for. All others with fixed times start at another one."}
	for _, r := range c.Trials[1:] {
		asked, got := r.asked()
		if asked > 0 {
			share := float64(got) / float64(asked)
			value := fmt.Sprintf("%s of %s: %s", cli.Thousands(got), cli.Thousands(asked), cli.Percent(share))
			if v := r.VARQ; v != nil && v.Offers != nil {
				value += fmt.Sprintf(", and %s for a deadline at most a day later", cli.Thousands(v.Offers.Later))
			}
			chart.Bars = append(chart.Bars, r.bar(value, share))
		}
	}
	return chart
}

// asked returns how many jobs asked for a reservation, and how many got what they asked for.
func (r compared) asked() (asked, got int) {
	switch {
	case r.Hard != nil:
		return r.Hard.Jobs, r.Hard.Exact
	case r.VARQ != nil:
		return r.VARQ.Asked, r.VARQ.Promised
	default:
		return 0, 0
	}
}

func (c *comparison) costChart() chart {
	chart := chart{Title: "What it costs its user", Note: fmt.Sprintf("The processor time that jobs with promises used, idle processors included, as a multiple of what their work took (the mark). The last bar is what hard reservations cost for the jobs of the first, where a site charges %.4g times the booked time, without refund.", hardPrice)}
	dearest := 0.
	promising := func(yield func(compared, *scenario.VARQResult) bool) {
		for _, r := range c.Trials[1:] {
			if r.VARQ != nil && r.VARQ.Promised > 0 && !yield(r, r.VARQ) {
				return
			}
		}
	}
	for _, v := range promising {
		dearest = max(dearest, 1+v.Overhead, hardCost(v))
	}
	for r, v := range promising {
		b := r.bar(ratio(v)+" times", (1+v.Overhead)/dearest)
		b.Mark = 100 / dearest
		chart.Bars = append(chart.Bars, b)
	}
	for _, v := range promising {
		length := hardCost(v) / dearest
		chart.Bars = append(chart.Bars, bar{Name: "hard reservations", Value: hardRatio(v) + " times", Kind: "hard", Length: 100 * length, Mark: 100 / dearest})
		break
	}
	return chart
}

func (c *comparison) busyChart() chart {
	chart := chart{Title: "How busy the cluster is", Note: "Until the last job came. Processors that wait idle for the work of varq's jobs count as busy."}
	for _, r := range c.Trials {
		chart.Bars = append(chart.Bars, r.bar(cli.Percent(r.Utilisation), r.Utilisation))
	}
	return chart
}

// bar returns a bar that shows value, with a length from 0 to 1.
func (r compared) bar(value string, length float64) bar {
	kind := "none"
	switch {
	case r.kind.Hard != nil:
		kind = "hard"
	case r.kind.VARQ != nil:
		kind = "varq"
	}
	return bar{Name: r.name(), Value: value, Kind: kind, Length: 100 * length}
}
