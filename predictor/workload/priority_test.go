package workload

import "testing"

func TestGain(t *testing.T) {
	for _, c := range []struct {
		aging  Aging
		waited int64
		want   int64
	}{
		{Aging{}, 1000, 0},
		{Aging{Weight: 500}, 1000, 0},
		{Aging{Weight: 500, Max: 1000}, -1, 0},
		{Aging{Weight: 500, Max: 1000}, 0, 0},
		{Aging{Weight: 500, Max: 1000}, 500, 250},
		{Aging{Weight: 500, Max: 1000}, 1000, 500},
		{Aging{Weight: 500, Max: 1000}, 1 << 40, 500},
		{Aging{Weight: 1 << 32, Max: 1 << 32}, 1 << 31, 1 << 31}, // no overflow
	} {
		if got := c.aging.Gain(c.waited); got != c.want {
			t.Errorf("%+v after %d s: %d, want %d", c.aging, c.waited, got, c.want)
		}
	}
}

// A job that was submitted before it became eligible gains from then on, or from its submission.
func TestGainOf(t *testing.T) {
	j := Job{Submit: 1000, Eligible: 1500}
	for always, want := range map[bool]int64{false: 250, true: 500} {
		if got := (Aging{Weight: 500, Max: 1000, Always: always}).Of(&j, 2000); got != want {
			t.Errorf("always %v: %d, want %d", always, got, want)
		}
	}
	if got := (Aging{Weight: 500, Max: 1000, Always: true}).Of(&Job{Eligible: 1500}, 2000); got != 250 {
		t.Errorf("without a time of submission: %d", got)
	}
}
