package limits

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

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
		// Start is of another second than now
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

// floating returns the reservation that floats, and that bounds the time limit of a job of some
// nodes of a partition: that job has too few nodes outside of it and of those that are less far
// ahead. Each counts as having its nodes whole. floating returns nil if there is none.
func (c *Cluster) floating(partition string, nodes int32) *Reservation {
	var floats []*Reservation
	for i := range c.Reservations {
		if v := &c.Reservations[i]; v.Floats {
			floats = append(floats, v)
		}
	}
	if len(floats) == 0 {
		return nil
	}
	slices.SortStableFunc(floats, func(a, b *Reservation) int { return cmp.Compare(a.Ahead, b.Ahead) })
	outside := c.index(partition, func(string) bool { return true })
	for _, v := range floats {
		for _, name := range v.Nodes {
			delete(outside, name)
		}
		if len(outside) < int(nodes) {
			return v
		}
	}
	return nil
}

// times returns each time at which the reservation has its nodes, in order, and without overlaps.
// One that floats has none.
func (v *Reservation) times() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		over := int64(0)
		for i := 0; i < 1+len(v.Again) && !v.Floats; i++ {
			s := Span{v.Start, v.End}
			if i > 0 {
				s = v.Again[i-1]
			}
			if s.Start = max(s.Start, over); s.Start >= s.End {
				continue
			}
			if over = s.End; !yield(s) {
				return
			}
		}
	}
}
