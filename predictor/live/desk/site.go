package desk

import (
	"time"

	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/promise/tariff"
)

// Site is how the cluster compares with others among which users choose.
type Site struct {
	// Power is that of its processors, in a unit that the sites have agreed on; 0 if it is not
	// known.
	Power float64
	// Tariff is what a billing unit of Slurm's costs, and Unit in what. New has a billing-hour cost
	// 1 if there is none.
	Tariff *tariff.Tariff
	Unit   string
}

// withDefaults has a billing unit of an hour cost 1 if there is no tariff.
func (s Site) withDefaults() Site {
	if s.Tariff == nil {
		hour, _ := tariff.ParseWeek(nil)
		s.Tariff, _ = tariff.New(tariff.Config{UnitCost: 1, UnitSeconds: 3600, Scale: hour, Zone: time.UTC})
		s.Unit = "billing-hours"
	}
	return s
}

// scaled returns how long work takes here that takes seconds on processors of a power, 0 if it is
// the same.
func (s *Site) scaled(seconds int64, power float64) int64 {
	if power == 0 || s.Power == 0 {
		return seconds
	}
	return elastic.Scaled([]elastic.Size{{Nodes: 1, Seconds: seconds}}, power/s.Power)[0].Seconds
}

// period is a time from one moment to another, Unix seconds.
type period struct{ from, to int64 }

// atMost returns what units of an account cost that are used for a span, idle nodes included. Of
// best effort the same work may run at any time that begins in starts, and it is the dearest that
// counts.
func (s *Site) atMost(units float64, account string, starts, used period, bestEffort bool) float64 {
	if !bestEffort {
		return s.Tariff.Cost(units, used.from, used.to, account)
	}
	// Prices change at full hours, and come again after a week. So the dearest work begins or ends
	// at such a moment.
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
	// zones differ by quarters
	for full := starts.from - starts.from%(hour/4); full <= min(starts.to, starts.from+week)+length%week; full += hour / 4 {
		at(full)
		at(full - length%week)
	}
	return most
}
