package desk

import (
	"time"

	"github.com/varq-project/varq/predictor/promise/tariff"
)

// Site has the properties by which users compare the cluster with others.
type Site struct {
	// Power is the power of its processors, in a unit on which the sites have agreed, or 0 if it is
	// not known.
	Power float64
	// Tariff is the price of a billing unit of Slurm's, and Unit is the currency. Without a Tariff,
	// New makes a billing-hour cost 1.
	Tariff *tariff.Tariff
	Unit   string
}

// withDefaults returns s with a Tariff: if it has none, a billing-hour costs 1.
func (s Site) withDefaults() Site {
	if s.Tariff == nil {
		hour, _ := tariff.ParseWeek(nil)
		s.Tariff, _ = tariff.New(tariff.Config{UnitCost: 1, UnitSeconds: 3600, Scale: hour, Zone: time.UTC})
		s.Unit = "billing-hours"
	}
	return s
}

// period is a time from one moment to another, Unix seconds.
type period struct{ from, to int64 }

// atMost returns the greatest cost of an account's units during used, idle nodes included. With
// best effort, work of this length may begin at any time in starts. Then the dearest time counts.
func (s *Site) atMost(units float64, account string, starts, used period, bestEffort bool) float64 {
	if !bestEffort {
		return s.Tariff.Cost(units, used.from, used.to, account)
	}
	// Prices change at full hours, and are repeated after a week. So the dearest work begins or
	// ends at such a moment.
	const hour, week = 3600, 7 * 24 * 3600
	length := used.to - used.from
	most := 0.
	at := func(start int64) {
		if starts.from <= start && start <= starts.to {
			most = max(most, s.Tariff.Cost(units, start, start+length, account))
		}
	}
	at(starts.from)
	at(starts.to)
	// time zones differ by quarters of an hour
	for full := starts.from - starts.from%(hour/4); full <= min(starts.to, starts.from+week)+length%week; full += hour / 4 {
		at(full)
		at(full - length%week)
	}
	return most
}
