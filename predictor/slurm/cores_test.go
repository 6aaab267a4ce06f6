package slurm

import "testing"

func TestCountCores(t *testing.T) {
	for ids, want := range map[string]int64{"0": 1, "0-3": 4, "0-1,3,6-7": 5} {
		if got, err := CountCores(ids); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", ids, got, err, want)
		}
	}
	for _, ids := range []string{"", "a", "3-1", "0]", "0-99999999"} {
		if got, err := CountCores(ids); err == nil {
			t.Errorf("%q: %d cores", ids, got)
		}
	}
}
