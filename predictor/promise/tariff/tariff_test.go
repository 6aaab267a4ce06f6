package tariff

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"
)

// naive is equation 6, second by second.
func naive(c Config, units float64, start, end int64, account string) float64 {
	sum := 0.
	for at := start; at < end; at++ {
		clock := time.Unix(at, 0).In(c.Zone)
		sum += c.Scale[(int(clock.Weekday())+6)%7*24+clock.Hour()]
	}
	factor, ok := c.Accounts[account]
	if !ok {
		factor = 1
	}
	return units * c.UnitCost / c.UnitSeconds * sum * factor
}

func TestCostAsNaive(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		c := Config{UnitCost: 2.5, UnitSeconds: 3600, Zone: zone, Accounts: map[string]float64{"physics": .5, "free": 0}}
		for i := range c.Scale {
			c.Scale[i] = float64(random.IntN(8)) / 4
		}
		tariff, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			// In 2011 most of these zones changed their clocks, and Apia left out a day.
			at := time.Date(2011, time.Month(1+random.IntN(12)), 1+random.IntN(31), 0, 0, random.IntN(86400), 0, zone)
			start := at.Unix()
			if _, change := at.ZoneBounds(); i%2 == 0 && !change.IsZero() {
				start = change.Unix() - random.Int64N(40_000)
			}
			end := start + random.Int64N(86400)
			for _, account := range []string{"", "physics", "free"} {
				want := naive(c, 3, start, end, account)
				if got := tariff.Cost(3, start, end, account); math.Abs(got-want) > 1e-9*want {
					t.Errorf("%s: %v from %d to %d, want %v", name, got, start, end, want)
				}
			}
		}
	}
}

func TestCostOfNothing(t *testing.T) {
	tariff, err := New(Config{UnitCost: 1, UnitSeconds: 1, Scale: Week{1, 1}, Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	monday := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC).Unix()
	for _, c := range []struct {
		from, to int64
		want     float64
	}{{0, 0, 0}, {10, 5, 0}, {0, 3600, 3600}, {0, 1, 1}, {-5, 0, 0}, {7199, 7201, 1}, {0, week * 3, 3 * 7200}} {
		if got := tariff.Cost(1, monday+c.from, monday+c.to, ""); got != c.want {
			t.Errorf("from %d to %d: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	sound := Config{UnitCost: 1, UnitSeconds: 3600, Zone: time.UTC}
	for want, change := range map[string]func(c *Config){
		"the cost of a unit: -1 is not a price":                         func(c *Config) { c.UnitCost = -1 },
		"the cost of a unit: NaN is not a price":                        func(c *Config) { c.UnitCost = math.NaN() },
		"the duration of a unit: 0 s is not a time of at least 1 s":     func(c *Config) { c.UnitSeconds = 0 },
		"the scale of Sunday 23:00: -2 is not a factor of at least 0":   func(c *Config) { c.Scale[167] = -2 },
		"the scale of Monday 08:00: +Inf is not a factor of at least 0": func(c *Config) { c.Scale[8] = math.Inf(1) },
		// the first of those that are wrong
		`account "physics": NaN is not a factor of at least 0`: func(c *Config) {
			c.Accounts = map[string]float64{"zoology": -1, "physics": math.NaN(), "statics": -1, "radiology": -1, "quantics": -1}
		},
		"the tariff has no time zone": func(c *Config) { c.Zone = nil },
	} {
		c := sound
		change(&c)
		if _, err := New(c); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestParseWeek(t *testing.T) {
	for _, c := range []struct {
		rules string
		want  func(day, hour int) float64 // 0 is Monday
	}{
		{"", func(int, int) float64 { return 1 }},
		{"Mon-Fri 08-18: 1.5", func(day, hour int) float64 {
			if day < 5 && hour >= 8 && hour < 18 {
				return 1.5
			}
			return 1
		}},
		{": .5|sat,SUN: 0", func(day, _ int) float64 {
			if day > 4 {
				return 0
			}
			return .5
		}},
		{"22-06: .25", func(_, hour int) float64 {
			if hour >= 22 || hour < 6 {
				return .25
			}
			return 1
		}},
		{"Sun-Mon 20-4: 2", func(day, hour int) float64 {
			if day == 6 && hour >= 20 || day == 0 && (hour < 4 || hour >= 20) || day == 1 && hour < 4 {
				return 2
			}
			return 1
		}},
		{"Sat-Tue 0-24: 3", func(day, _ int) float64 {
			if day > 4 || day < 2 {
				return 3
			}
			return 1
		}},
	} {
		var rules []string
		if c.rules != "" {
			rules = strings.Split(c.rules, "|")
		}
		got, err := ParseWeek(rules)
		if err != nil {
			t.Errorf("%s: %v", c.rules, err)
		}
		for i, factor := range got {
			if want := c.want(i/24, i%24); factor != want {
				t.Errorf("%s: %v on day %d at %d h, want %v", c.rules, factor, i/24, i%24, want)
			}
		}
	}
}

func TestParseWeekRefuses(t *testing.T) {
	const try = ` (try "Mon-Fri 08-18: 1.5")`
	for rule, want := range map[string]string{
		"":                `rule "": it has no colon before its factor` + try,
		"Mon 1.5":         `rule "Mon 1.5": it has no colon before its factor` + try,
		"Mon: much":       `rule "Mon: much": "much" is not a factor of at least 0` + try,
		"Mon: -1":         `rule "Mon: -1": "-1" is not a factor of at least 0` + try,
		"Mon: NaN":        `rule "Mon: NaN": "NaN" is not a factor of at least 0` + try,
		"Mon: 1e99":       `rule "Mon: 1e99": "1e99" is not a factor of at least 0` + try,
		"Monday: 1":       `rule "Monday: 1": "Monday" is not a day: there are Mon, Tue, Wed, Thu, Fri, Sat and Sun` + try,
		"Mon-: 1":         `rule "Mon-: 1": "" is not a day: there are Mon, Tue, Wed, Thu, Fri, Sat and Sun` + try,
		"Mon 8: 1":        `rule "Mon 8: 1": "8" are not hours FROM-TO of a day` + try,
		"Mon 8-8: 1":      `rule "Mon 8-8: 1": "8-8" are not hours FROM-TO of a day` + try,
		"Mon 8-25: 1":     `rule "Mon 8-25: 1": "8-25" are not hours FROM-TO of a day` + try,
		"24-6: 1":         `rule "24-6: 1": "24-6" are not hours FROM-TO of a day` + try,
		"Mon Tue: 1":      `rule "Mon Tue: 1": "Tue" are not hours` + try,
		"8-18 Mon: 1":     `rule "8-18 Mon: 1": "8" is not a day: there are Mon, Tue, Wed, Thu, Fri, Sat and Sun` + try,
		"Mon 8-18 x: 1":   `rule "Mon 8-18 x: 1": it has more than DAYS and HOURS` + try,
		"Mon 08:00-18: 1": `rule "Mon 08:00-18: 1": "00-18: 1" is not a factor of at least 0` + try,
	} {
		if _, err := ParseWeek([]string{rule}); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if _, err := ParseWeek(make([]string, 169)); err == nil || err.Error() != "169 rules are more than a week has hours" {
		t.Error(err)
	}
}

// FuzzParseWeek: whatever is read makes a tariff.
func FuzzParseWeek(f *testing.F) {
	for _, rule := range []string{"Mon-Fri 08-18: 1.5", "sat,sun: 0", "22-06: .25", ": 1", "Mon,: 1", "-: 1"} {
		f.Add(rule)
	}
	f.Fuzz(func(t *testing.T, rule string) {
		w, err := ParseWeek([]string{rule})
		if err != nil {
			return
		}
		tariff, err := New(Config{UnitCost: 1, UnitSeconds: 1, Scale: w, Zone: time.UTC})
		if err != nil {
			t.Fatal(err)
		}
		if cost := tariff.Cost(1, 1e9, 1e9+week, ""); !(cost >= 0) || math.IsInf(cost, 0) {
			t.Errorf("%q: a week costs %v", rule, cost)
		}
	})
}

func BenchmarkCost(b *testing.B) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		b.Fatal(err)
	}
	tariff, err := New(Config{UnitCost: 1, UnitSeconds: 3600, Zone: zone})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		tariff.Cost(16, 1_800_000_000, 1_800_086_400, "physics")
	}
}
