package score

import (
	"fmt"
	"math"
	"time"

	"github.com/varq-project/varq/predictor/stats"
)

// Daily has the scores of one forecaster's forecasts of one day.
type Daily struct {
	Day int64
	Sums
	Unscored
}

// Unscored counts the forecasts of waits of jobs that still wait, or of ends of jobs that have not
// ended.
type Unscored struct {
	Open int // the number of these forecasts
	// Overdue is of how many of these the time already exceeds the quantile of the last
	// of Levels, and so every quantile. They count as not covered before the outcome is known.
	Overdue int
}

// Drift is the result of Watch.
type Drift struct {
	// Found says that the forecaster has drifted and has not recovered. If it is false,
	// the other fields are zero.
	Found bool
	Since int64   // the day on which the drift began
	Level float64 // the one of Levels at which the drift shows most clearly
	// Since then, Covered of Of outcomes were within the quantile of that Level.
	Covered, Of int
}

// String describes the drift in a sentence without a full stop, or returns "".
func (d Drift) String() string {
	if !d.Found {
		return ""
	}
	share := float64(d.Covered) / float64(d.Of)
	what := "promises too much"
	if share > d.Level {
		what = "is too cautious"
	}
	return fmt.Sprintf("%s since %s: %.2f of %d jobs were within the %v quantile",
		what, time.Unix(d.Since*86400, 0).UTC().Format(time.DateOnly), share, d.Of, d.Level)
}

// AlarmEvery is the least mean number of blocks of days from one false alarm of Watch to the
// next.
const AlarmEvery = 365

const (
	// leastForecasts is the least number of forecasts in a block. Days with fewer are
	// joined with the days after them.
	leastForecasts = 20
	// A day is judged once the coverage of knownShare of its forecasts is known, or after
	// patience days.
	knownShare = .99
	patience   = 7
	// fortnight is the number of newest blocks that decide whether a drift is over.
	fortnight = 14
)

// Watch judges whether a forecaster has drifted. It takes the forecaster's days in
// their order, and judges those before today.
//
// Watch bets against the forecaster. There is one bet for each level q and direction.
// A block of days in which a share c of the waits was within the q-quantile
// multiplies the stake by
//
//	e = 1 + (q - c) / (2 (1 - q))  in the bet that the quantile is too low, and
//	e = 1 + (c - q) / (2 q)        in the bet that it is too high,
//
// which bets half of what can be bet without the risk of ruin. A stake below 1 is raised
// to 1, so that the distant past does not matter. The alarm is given when the mean of all
// stakes reaches AlarmEvery.
//
// False alarms are rare (the e-detector of Shin, Ramdas and Rinaldo, 2023). As long as
// each forecast is calibrated given the past, E[e] = 1 given the past. Suppose that with
// each block a new stake of 1 were added. The sum of these stakes, minus the number of
// blocks, would be a martingale, and the sum is never less than the stake used here. So the
// expected number of blocks before a false alarm is at least AlarmEvery. How the waits
// within a block depend on one another does not matter: an afternoon on which everybody
// waited is one observation. A binomial test would count the hundred jobs of an array as a
// hundred observations.
//
// Two assumptions remain. The number of jobs in a block does not depend on their waits. And
// the outcome of a block is known when the next block begins, although a wait can be longer
// than a day. The price is that a drift is not seen within a few blocks: if
// .8 of the waits are within the .95 quantile, each block multiplies that stake by
// 2.5, and the alarm takes 9 blocks.
//
// A drift is over once the coverage of the last 14 blocks is twice as near to the level as
// to the coverage that gave the alarm.
func Watch(days []Daily, today int64) Drift {
	w := watcher{}
	w.restart()
	var b block
	for i := range days {
		d := &days[i]
		all := d.Forecasts + d.Open
		unknown := float64(d.Open - d.Overdue)
		if d.Day >= today || unknown > (1-knownShare)*float64(all) && d.Day+patience > today {
			break
		}
		b.add(d)
		if b.of >= leastForecasts {
			w.judge(b)
			b = block{}
		}
	}
	return w.found
}

// block is one day or several that follow one another.
type block struct {
	first   int64 // day
	of      int   // forecasts whose coverage is known
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

// at returns the coverage at the i-th of Levels.
func (b *block) at(i int) stats.Count { return stats.Count{N: b.covered[i], Of: b.of} }

// watcher has the bets and their result.
type watcher struct {
	stakes [2 * len(Levels)]stake // by level: on too low, and on too high
	found  Drift
	level  int     // index of found.Level
	alarm  float64 // the coverage that gave the alarm
	blocks []block // since the drift began
}

// stake is the stake of one bet.
type stake struct {
	worth  float64
	blocks []block // since worth was last raised to 1
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
		q, c := Levels[i/2], b.at(i/2).Share()
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
	w.blocks = sinceChange(w.stakes[best].blocks, w.level)
	covered := coverage(w.blocks, w.level)
	w.found = Drift{Found: true, Since: w.blocks[0].first, Level: Levels[w.level], Covered: covered.N, Of: covered.Of}
	w.alarm = covered.Share()
	w.restart()
}

// sinceChange returns the last blocks from the most likely change point on. For each block,
// the differences from the i-th of Levels since that block are summed, and the sum is
// squared and divided by their number. The change point is where the result is greatest: it
// is the likelihood ratio of a change of the mean from 0, if differences are normal.
func sinceChange(blocks []block, i int) []block {
	first, most, sum := 0, 0., 0.
	for k := len(blocks) - 1; k >= 0; k-- {
		sum += Levels[i] - blocks[k].at(i).Share()
		if square := sum * sum / float64(len(blocks)-k); square > most {
			first, most = k, square
		}
	}
	return blocks[first:]
}

// follow updates the drift that was found, or ends it.
func (w *watcher) follow(b block) {
	w.blocks = append(w.blocks, b)
	now := coverage(w.blocks[max(0, len(w.blocks)-fortnight):], w.level).Share()
	if 2*math.Abs(now-w.found.Level) < math.Abs(now-w.alarm) {
		w.found = Drift{}
		return
	}
	covered := coverage(w.blocks, w.level)
	w.found.Covered, w.found.Of = covered.N, covered.Of
}

// coverage sums up blocks at the i-th of Levels.
func coverage(blocks []block, i int) (sum stats.Count) {
	for _, b := range blocks {
		sum.Plus(b.at(i))
	}
	return sum
}
