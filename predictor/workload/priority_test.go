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
