package score

import (
	"fmt"
	"math"
	"time"
)

// Daily is what became of one forecaster's forecasts of one day.
type Daily struct {
	Day int64
	Sums
	Unscored
}

// Unscored is how many forecasts are of jobs that still wait.
type Unscored struct {
	Open int // all of them
	// Overdue is how many wait for longer than the quantile of the last of Levels,
	// and so of each: what they will say of the coverage is known.
	Overdue int
}

// Drift is what Watch found.
type Drift struct {
	// Found is whether the forecaster has drifted and has not come back. The other
	// fields are zero otherwise.
	Found bool
	Since int64   // the day with which it began
	Level float64 // one of Levels, at which it shows most clearly
	// Covered of Of waits were within that quantile since then.
	Covered, Of int
}

// String tells a drift in a sentence without a full stop, or returns "".
func (d Drift) String() string {
	if !d.Found {
		return ""
	}
	share := float64(d.Covered) / float64(d.Of)
	what := "promises too much"
	if share > d.Level {
		what = "is too cautious"
	}
	return fmt.Sprintf("%s since %s: %.2f of %d waits were within the %v quantile",
		what, time.Unix(d.Since*86400, 0).UTC().Format(time.DateOnly), share, d.Of, d.Level)
}

// AlarmEvery is the mean number of blocks of days, at least, from one false alarm
// of Watch to the next.
const AlarmEvery = 365

const (
	// enough forecasts make a block: days with fewer are joined with those after
	// them.
	enough = 20
	// settled is the share of a day's forecasts whose coverage must be known before
	// the day is judged, and patience the number of days after which it is anyway.
	settled  = .99
	patience = 7
	// fortnight is how many blocks must look better before a drift is over.
	fortnight = 14
)

// Watch tells whether a forecaster has drifted, by its days in their order, of which
// those before today are over.
//
// For each of Levels, q, and for each direction there is a bet. A block of days in
// which a share c of the waits was within the quantile multiplies the stake by
//
//	e = 1 + (q - c) / (2 (1 - q))  on promises that are too high, and
//	e = 1 + (c - q) / (2 q)        on promises that are too low,
//
// which is half of what can be staked without ruin. A stake below 1 is filled up to
// 1, so that what was long ago matters no more; and the alarm is given when the mean
// of all stakes reaches AlarmEvery. For as long as each forecast is calibrated given
// what was known when it was made, E[e] = 1 given the past: the sum over all earlier
// blocks, each with a stake of 1 put in anew, less the number of blocks, is then a
// martingale, which is no less than the stakes here; so at the alarm the expected
// number of blocks is AlarmEvery or more (the e-detector of Shin, Ramdas and Rinaldo,
// 2023). How the waits within a block depend on one another does not matter: an
// afternoon on which everybody waited is one observation. That is what a binomial
// test gets wrong, for which a hundred jobs of one array are a hundred.
//
// The limits of this: how many jobs a block has is taken not to depend on how they
// fare, and what a block says to be known when the next one begins, whereas a wait
// can be longer than a day. And the price: a forecaster cannot be told to have
// drifted within a few blocks. If .8 of the waits are within the .95 quantile, each
// block multiplies that stake by 2.5, and the alarm takes 9 blocks.
//
// A drift is over once the coverage of the last 14 blocks is twice as near to the
// level as to what gave the alarm.
func Watch(days []Daily, today int64) Drift {
	w := watcher{}
	w.restart()
	var b block
	for i := range days {
		d := &days[i]
		all := d.Forecasts + d.Open
		if d.Day >= today || float64(d.Open-d.Overdue) > (1-settled)*float64(all) && d.Day+patience > today {
			break
		}
		b.add(d)
		if b.of >= enough {
			w.judge(b)
			b = block{}
		}
	}
	return w.found
}

// block is some days that follow one another.
type block struct {
	first   int64
	of      int
	covered [len(Levels)]int
}

func (b *block) add(d *Daily) {
	if b.of == 0 {
		b.first = d.Day
	}
	b.of += d.Forecasts + d.Overdue
	for i := range b.covered {
		b.covered[i] += d.Levels[i].Covered
	}
}

// share returns the coverage at the i-th of Levels.
func (b *block) share(i int) float64 { return float64(b.covered[i]) / float64(b.of) }

// watcher holds the bets, and what they have found.
type watcher struct {
	stakes [2 * len(Levels)]stake // too high and too low, by level
	found  Drift
	level  int     // its level, by index
	alarm  float64 // the coverage that gave it
	blocks []block // since it began
}

// stake is that of one bet.
type stake struct {
	worth  float64
	blocks []block // since it was last filled up
}

func (w *watcher) restart() {
	for i := range w.stakes {
		w.stakes[i] = stake{worth: 1}
	}
}

func (w *watcher) judge(b block) {
	if w.found.Found {
		w.follow(b)
		return
	}
	sum, best := 0., 0
	for i := range w.stakes {
		q, c := Levels[i/2], b.share(i/2)
		e := 1 + (q-c)/(2*(1-q))
		if i%2 == 1 {
			e = 1 + (c-q)/(2*q)
		}
		s := &w.stakes[i]
		if s.worth <= 1 {
			s.worth, s.blocks = 1, s.blocks[:0]
		}
		s.worth *= e
		s.blocks = append(s.blocks, b)
		sum += s.worth
		if s.worth > w.stakes[best].worth {
			best = i
		}
	}
	if sum < AlarmEvery*float64(len(w.stakes)) {
		return
	}
	w.level = best / 2
	w.blocks = changed(w.stakes[best].blocks, w.level)
	w.found = Drift{Found: true, Since: w.blocks[0].first, Level: Levels[w.level]}
	w.found.Covered, w.found.Of = coverage(w.blocks, w.level)
	w.alarm = float64(w.found.Covered) / float64(w.found.Of)
	w.restart()
}

// changed returns the last of some blocks that differ most from the i-th of Levels:
// those for which the sum of the differences, squared, divided by their number is
// greatest, as is most likely if each block's were of a normal distribution whose
// mean had been 0 and changed.
func changed(blocks []block, i int) []block {
	first, most, sum := 0, 0., 0.
	for k := len(blocks) - 1; k >= 0; k-- {
		sum += Levels[i] - blocks[k].share(i)
		if square := sum * sum / float64(len(blocks)-k); square > most {
			first, most = k, square
		}
	}
	return blocks[first:]
}

// follow looks whether the drift that was found goes on.
func (w *watcher) follow(b block) {
	w.blocks = append(w.blocks, b)
	covered, of := coverage(w.blocks[max(0, len(w.blocks)-fortnight):], w.level)
	now := float64(covered) / float64(of)
	if 2*math.Abs(now-w.found.Level) < math.Abs(now-w.alarm) {
		w.found = Drift{}
		return
	}
	w.found.Covered, w.found.Of = coverage(w.blocks, w.level)
}

// coverage sums up some blocks at the i-th of Levels.
func coverage(blocks []block, i int) (covered, of int) {
	for _, b := range blocks {
		covered += b.covered[i]
		of += b.of
	}
	return covered, of
}
