package recalibration

import "testing"

func TestBins(t *testing.T) {
	for i := range bins {
		low, high := edges[i], edges[i+1]
		if !(low < high) || bin(low) != i && i < half || bin((low+high)/2) != i {
			t.Errorf("bin %d from %v to %v: %d, %d", i, low, high, bin(low), bin((low+high)/2))
		}
	}
	if edges[0] != 0 || edges[half] != .5 || edges[bins] != 1 || bin(1) != bins-1 || bin(-1) != 0 {
		t.Errorf("edges %v, %v, %v; bins %d, %d", edges[0], edges[half], edges[bins], bin(1), bin(-1))
	}
}
