package plot

import (
	"fmt"
	"time"

	"github.com/varq-project/varq/predictor/plot/axes"
)

// mostTicks is the largest number of labels below a picture.
const mostTicks = 13

// tickSteps has the distances between labelled times below a day, in minutes. Longer
// distances are whole days.
var tickSteps = []int{1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720}

// clockTicks labels an axis of Unix seconds with round times of the local clock,
// and with the deadline at its end.
type clockTicks struct {
	deadline int64
	loc      *time.Location
}

// Ticks returns the deadline, and the round times between low and high that are not too near
// the deadline. The first time and midnight have the date too.
func (c clockTicks) Ticks(low, high float64) []axes.Tick {
	from, to := int64(low), int64(high)
	step, days := 0, 0
	for _, s := range tickSteps {
		if (to-from)/int64(60*s) < mostTicks {
			step = s
			break
		}
	}
	if step == 0 {
		days = 1 + int((to-from)/(86400*mostTicks))
	}
	ticks := []axes.Tick{{Value: float64(c.deadline), Label: clock(c.deadline, c.loc) + "\ndeadline"}}
	room := (to - from) / mostTicks
	first := time.Unix(from, 0).In(c.loc)
	day := time.Date(first.Year(), first.Month(), first.Day(), 0, 0, 0, 0, c.loc)
	for minute := 0; ; minute += step {
		// By the calendar, so that ticks stay round when the clocks change.
		at := time.Date(day.Year(), day.Month(), day.Day(), 0, minute, 0, 0, c.loc)
		if at.Unix() > c.deadline-room {
			return ticks
		}
		// A time that the clocks skip equals a later one.
		if at.Unix() >= from && float64(at.Unix()) != ticks[len(ticks)-1].Value {
			label := at.Format("15:04") + "\n "
			if len(ticks) == 1 || at.Hour() == 0 && at.Minute() == 0 {
				label = at.Format("15:04\nMon 2 Jan")
			}
			ticks = append(ticks, axes.Tick{Value: float64(at.Unix()), Label: label})
		}
		if step == 0 {
			day = day.AddDate(0, 0, days)
		}
	}
}

// percentTicks labels probabilities every 20 %.
type percentTicks struct{}

// Ticks returns the six labels whatever the range.
func (percentTicks) Ticks(float64, float64) []axes.Tick {
	var ticks []axes.Tick
	for n := 0; n <= 100; n += 20 {
		ticks = append(ticks, axes.Tick{Value: float64(n) / 100, Label: fmt.Sprintf("%d %%", n)})
	}
	return ticks
}

// clock writes the time of the day.
func clock(t int64, loc *time.Location) string { return time.Unix(t, 0).In(loc).Format("15:04") }
