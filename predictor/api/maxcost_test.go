package api

import (
	"math"
	"testing"
)

func TestMaxCost(t *testing.T) {
	for text, want := range map[string]MaxCost{
		"0.5": {MaxNodeSeconds: 1800}, "12": {MaxNodeSeconds: 43200}, "1x": {MaxTimes: 1}, "1.5x": {MaxTimes: 1.5}, "1000x": {MaxTimes: 1000},
	} {
		got, err := ParseMaxCost(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: %+v, %v; as text %q", text, got, err, got.String())
		}
	}
	for _, text := range []string{"", "x", "0", "-1", "0.5x", "1001x", "NaN", "Inf", "1e30", "two", "2 x"} {
		if got, err := ParseMaxCost(text); err == nil {
			t.Errorf("%q passes for %+v", text, got)
		}
	}
}

// A value that is read is within the bounds, and its text is read as the same value.
func FuzzMaxCost(f *testing.F) {
	for _, text := range []string{"0.5", "2x", "1e3", "-0", "0x1p-2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseMaxCost(text)
		if err != nil {
			return
		}
		if again, err := ParseMaxCost(c.String()); err != nil || math.Abs(again.MaxNodeSeconds-c.MaxNodeSeconds) > 1e-9*c.MaxNodeSeconds || again.MaxTimes != c.MaxTimes {
			t.Errorf("%q: %+v, then %q: %+v, %v", text, c, c.String(), again, err)
		}
		if (c.MaxNodeSeconds > 0) == (c.MaxTimes > 0) || c.MaxNodeSeconds > 3600*MaxNodeHours || c.MaxTimes > MaxMultiple {
			t.Errorf("%q passes for %+v", text, c)
		}
	})
}
