package api

import (
	"math"
	"testing"
)

func TestMaxCost(t *testing.T) {
	for text, want := range map[string]MaxCost{
		"0.5": {NodeSeconds: 1800}, "12": {NodeSeconds: 43200}, "1x": {Times: 1}, "1.5x": {Times: 1.5}, "1000x": {Times: 1000},
	} {
		got, err := ParseMaxCost(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: %+v, %v; as text %q", text, got, err, got.String())
		}
	}
	for _, text := range []string{"0.0001", "0.00001", "0.07", "0.1833", "33.3", "10000000"} {
		if got, err := ParseMaxCost(text); err != nil || got.String() != text {
			t.Errorf("%s: %v; as text %q", text, err, got.String())
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
		if again, err := ParseMaxCost(c.String()); err != nil || math.Abs(again.NodeSeconds-c.NodeSeconds) > 1e-9*c.NodeSeconds || again.Times != c.Times {
			t.Errorf("%q: %+v, then %q: %+v, %v", text, c, c.String(), again, err)
		}
		if (c.NodeSeconds > 0) == (c.Times > 0) || c.NodeSeconds > 3600*MaxNodeHours || c.Times > MaxMultiple {
			t.Errorf("%q passes for %+v", text, c)
		}
	})
}
