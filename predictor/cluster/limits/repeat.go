package limits

import "time"

// Repeats is how often a reservation of Slurm's comes again. Slurm tells of the next time only: it
// moves the reservation on when one is over.
type Repeats uint8

// How often a reservation comes again: Slurm's flags HOURLY, DAILY, WEEKDAY, WEEKEND and WEEKLY.
const (
	Never Repeats = iota
	Hourly
	Daily
	Weekdays
	Weekends
	Weekly
)

// next returns when a reservation comes again. Its start and its end move by days of the local
// time, so that both keep their time of day. For some, Slurm goes by the day of the week on which
// the reservation is over.
func (r Repeats) next(s Span, zone *time.Location) Span {
	if r == Hourly {
		return Span{s.Start + 3600, s.End + 3600}
	}
	days, over := 1, time.Unix(s.End, 0).In(zone).Weekday()
	switch {
	case r == Weekly:
		days = 7
	case r == Weekdays && over == time.Friday:
		days = 3
	case r == Weekdays && over == time.Saturday:
		days = 2
	case r == Weekends && over == time.Sunday:
		days = 6
	case r == Weekends && over != time.Saturday:
		days = int(time.Saturday - over)
	}
	move := func(t int64) int64 { return time.Unix(t, 0).In(zone).AddDate(0, 0, days).Unix() }
	return Span{move(s.Start), move(s.End)}
}

// Bounds of Reservation.Again: of all reservations together, and of how far ahead they start
// (seconds). No deadline is farther ahead.
const (
	mostRepetitions = 1000
	farthest        = 366 * 24 * 3600
)

// Repeat finds out when reservations come again, or how far ahead they float, as of now. Each has
// an equal part of mostRepetitions, which for a single one that comes hourly are 41 days. zone is
// that of Slurm's controller.
func (c *Cluster) Repeat(now int64, zone *time.Location) {
	c.Zone = zone
	repeating := 0
	for i := range c.Reservations {
		if c.Reservations[i].Repeats != Never {
			repeating++
		}
	}
	for i := range c.Reservations {
		v := &c.Reservations[i]
		// Slurm counts the Start of one that floats from the second of its answer, which is not now.
		// So it is rounded to minutes.
		v.Again, v.Ahead = nil, max(0, (v.Start-now+30)/60*60)
		if v.Floats || v.Repeats == Never || v.Start >= v.End {
			continue
		}
		for at := v.Repeats.next(Span{v.Start, v.End}, zone); at.Start <= now+farthest && len(v.Again) < mostRepetitions/repeating; {
			v.Again = append(v.Again, at)
			at = v.Repeats.next(at, zone)
		}
	}
}
