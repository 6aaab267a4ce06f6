package score

import "testing"

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		low, high, promised float64
		want                Verdict
	}{
		{.91, .99, .95, AsPromised},
		{.95, .99, .95, AsPromised},
		{.91, .95, .95, AsPromised},
		{.91, .94, .95, LessThanPromised},
		{.96, .99, .95, MoreThanPromised},
		{.6, .9, .75, TooLittle},
		{0, 1, .9, TooLittle},
		{.1, .6, .9, LessThanPromised}, // a wide interval without what was promised tells that
		{.5, 1, .25, MoreThanPromised},
	} {
		if got := Judge(c.low, c.high, c.promised); got != c.want {
			t.Errorf("%v promised, %v to %v kept: %q, want %q", c.promised, c.low, c.high, got, c.want)
		}
	}
}
