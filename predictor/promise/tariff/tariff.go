// Package tariff computes what a site charges for nodes over a time. The price depends on the hour
// of the week, after equation 6 of Röblitz, Schintke and Wendler, "Elastic Grid Reservations with
// User-Defined Optimization Policies" (2005).
package tariff

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Tariff is what a site charges. New makes one from what a site has configured.
type Tariff struct {
	perSecond float64 // of a unit, where the scale is 1: BU_c / BU_d
	sums      [len(Week{}) + 1]float64
	accounts  map[string]float64
	zone      *time.Location
}

// Config is what a site says of its tariff.
type Config struct {
	// UnitCost is what one unit, such as a node or a processor, costs for UnitSeconds (BU_c, BU_d).
	UnitCost    float64
	UnitSeconds float64
	// Scale multiplies the cost by the hour of the week.
	Scale Week
	// Accounts multiplies the cost of some accounts; that of the others is multiplied by 1.
	Accounts map[string]float64
	// Zone is the time zone of the hours.
	Zone *time.Location
}

const (
	hour = 3600
	week = 7 * 24 * hour
	// monday is the first beginning of a week after 1970, in seconds: 1970 began on a Thursday.
	monday = 4 * 24 * hour
)

// maxPrice bounds each factor of a cost, so that the cost is finite.
const maxPrice = 1e12

// New returns the tariff, or an error that names the field.
func New(c Config) (*Tariff, error) {
	if !(c.UnitCost >= 0 && c.UnitCost <= maxPrice) {
		return nil, fmt.Errorf("the cost of a unit: %v is not a price", c.UnitCost)
	}
	if !(c.UnitSeconds >= 1 && c.UnitSeconds <= maxPrice) {
		return nil, fmt.Errorf("the duration of a unit: %v s is not a time of at least 1 s", c.UnitSeconds)
	}
	if c.Zone == nil {
		return nil, errors.New("the tariff has no time zone")
	}
	t := &Tariff{perSecond: c.UnitCost / c.UnitSeconds, accounts: c.Accounts, zone: c.Zone}
	for i, factor := range c.Scale {
		if !(factor >= 0 && factor <= maxPrice) {
			return nil, fmt.Errorf("the scale of %v %02d:00: %v is not a factor of at least 0", time.Weekday((i/24+1)%7), i%24, factor)
		}
		t.sums[i+1] = t.sums[i] + factor*hour
	}
	for _, account := range slices.Sorted(maps.Keys(c.Accounts)) {
		factor := c.Accounts[account]
		if !(factor >= 0 && factor <= maxPrice) {
			return nil, fmt.Errorf("account %.40q: %v is not a factor of at least 0", account, factor)
		}
	}
	return t, nil
}

// Cost returns what an account is charged for units from start to end, in Unix seconds (equation
// 6). It is exact where clocks are changed too, and takes time linear in how often they are. What
// does not end after it starts costs nothing.
func (t *Tariff) Cost(units float64, start, end int64, account string) float64 {
	factor, ok := t.accounts[account]
	if !ok {
		factor = 1
	}
	return units * t.perSecond * factor * t.integral(start, end)
}

// integral returns the integral of the scale over a time.
func (t *Tariff) integral(start, end int64) float64 {
	sum := 0.
	for start < end {
		at := time.Unix(start, 0).In(t.zone)
		_, offset := at.Zone()
		until := end
		if _, change := at.ZoneBounds(); !change.IsZero() {
			until = min(end, change.Unix())
		}
		from := ((start+int64(offset)-monday)%week + week) % week
		sum += t.upTo(from+until-start) - t.upTo(from)
		start = until
	}
	return sum
}

// upTo returns the integral of the scale from a Monday at midnight on, over a number of seconds.
func (t *Tariff) upTo(seconds int64) float64 {
	whole, rest := seconds/week, seconds%week
	i, into := rest/hour, rest%hour
	sum := float64(whole)*t.sums[len(t.sums)-1] + t.sums[i]
	if into > 0 {
		sum += (t.sums[i+1] - t.sums[i]) * float64(into) / hour
	}
	return sum
}
