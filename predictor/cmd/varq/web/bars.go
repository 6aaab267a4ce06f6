package web

import (
	"fmt"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// bars is the picture of when jobs start: one bar each, on one axis of time. Places are in the
// units of a sheet that is 480 wide.
type bars struct {
	Title  string
	Rows   []bar
	Times  []mark
	Height int // of the sheet
	// Beyond, Slurm and Promise are true if a row has what they are called by.
	Beyond, Slurm, Promise bool
	More                   int // jobs with a forecast that are not in the picture
	frame
}

// bar is one job: from where it starts as likely as not to where it starts in nine cases of ten.
type bar struct {
	Text      string
	Y, TextY  int
	From, To  float64
	Beyond    bool    // it goes on to the right of the picture
	Slurm     float64 // when Slurm expects to start it, 0 if that is not in the picture
	Deadline  float64 // by when it was promised to start, 0 if that is not in the picture
	Tip       string  // the points of the arrow of a bar that goes on
	Low, High int     // the ends of upright lines
}

// The measures of the picture.
const (
	barsLeft   = 122 // where now is; labels are to the left
	barHeight  = 24
	mostBars   = 40  // that are drawn
	mostLabel  = 14  // characters
	leastGap   = 40  // between the labels of now and of the next time
	tipLength  = 8   // of the arrow of a bar that goes on
	leastReach = 600 // seconds
)

// newBars returns the picture of jobs that wait, at the time now, or nil if nothing is forecast of
// them. It reaches from now to the last time before which one of them starts in nine cases of ten,
// but no more than twice as far as to the latest median: one job of which little is known does
// not make the bars of the others vanish.
func newBars(jobs []api.Waiting, now int64, zone *time.Location) *bars {
	var known []*api.Waiting
	median, late, beyond := now, now, false
	for i := range jobs {
		w := &jobs[i]
		if w.Start == nil || w.Start.Median == 0 {
			continue
		}
		known = append(known, w)
		median, late, beyond = max(median, w.Start.Median), max(late, w.Start.Late), beyond || w.Start.Late == 0
	}
	if len(known) == 0 {
		return nil
	}
	reach := max(leastReach, 2*(median-now))
	if !beyond {
		reach = min(reach, max(leastReach, late-now))
	}
	b := &bars{
		Title: fmt.Sprintf("When the jobs start, from %s on", slurmtime.Format(now, zone)), More: max(0, len(known)-mostBars),
		frame: frame{barsLeft, right, 12, 12 + barHeight*min(mostBars, len(known))},
	}
	b.Height = b.Bottom + 26
	x := func(at int64) float64 {
		return barsLeft + (right-barsLeft)*float64(max(now, at)-now)/float64(reach)
	}
	within := func(at int64) float64 {
		if at < now || at > now+reach {
			return 0
		}
		return x(at)
	}
	for i, w := range known[:len(known)-b.More] {
		middle := b.Top + barHeight*i + barHeight/2
		row := bar{Text: cli.Printable(shortened(told.JobID(w.Job, w.Array, w.Tasks), mostLabel)), Y: middle, TextY: middle + 4, Low: middle + 9, High: middle - 9, From: x(w.Start.Median), To: x(w.Start.Late)}
		if row.Beyond = w.Start.Late == 0 || w.Start.Late > now+reach; row.Beyond {
			row.To = right - tipLength
			row.Tip = fmt.Sprintf("%d,%d %d,%d %d,%d", right-tipLength, middle-7, right, middle, right-tipLength, middle+7)
		}
		row.Slurm, row.Deadline = within(w.Expected), within(w.BeginBy)
		b.Beyond, b.Slurm, b.Promise = b.Beyond || row.Beyond, b.Slurm || row.Slurm != 0, b.Promise || row.Deadline != 0
		b.Rows = append(b.Rows, row)
	}
	b.Times = []mark{{X: barsLeft, Text: "now"}}
	for _, m := range times(now, now+reach, zone, x) {
		if m.X > barsLeft+leastGap {
			b.Times = append(b.Times, m)
		}
	}
	return b
}

// shortened returns a text with at most so many characters.
func shortened(text string, most int) string {
	if all := []rune(text); len(all) > most {
		return string(all[:most-1]) + "…"
	}
	return text
}
