package synthetic

import "math/rand/v2"

// byHour is how busy each hour of a working day is (UTC). The busiest has 1.
var byHour = [24]float64{
	.5, .45, .4, .4, .4, .45, .5, .65, .8, .95, 1, .95,
	.85, .9, 1, 1, .95, .9, .8, .75, .7, .65, .6, .55,
}

// weekend is how busy a Saturday or Sunday is, compared to a working day.
const weekend = .8

// arrival draws a time of submission.
func (c Config) arrival(rng *rand.Rand) int64 {
	for {
		at := c.End - 1 - rng.Int64N(int64(c.Days)*day)
		busy := byHour[at%day/hour]
		if weekday := (at/day + 4) % 7; weekday == 0 || weekday == 6 { // day 0 was a Thursday
			busy *= weekend
		}
		if rng.Float64() < busy {
			return at
		}
	}
}
