package api

import (
	"math"
	"testing"
)

// Of an array the nodes of all tasks that may run at once idle before the work.
func TestIdleOfArray(t *testing.T) {
	for _, c := range []struct {
		array         Array
		tasks, atOnce int32
		nodeSeconds   float64
	}{
		{Array{}, 0, 0, 100}, {Array{Tasks: 20}, 20, 0, 100}, {Array{Tasks: 20}, 1, 0, 2000}, {Array{Tasks: 20, AtOnce: 5}, 1, 0, 500},
		{Array{Tasks: 20, AtOnce: 5}, 20, 5, 100}, // a promise about the end of all
	} {
		p := Plan{Array: c.array, Tasks: c.tasks, AtOnce: c.atOnce, WorkLimit: 600, HoldUntil: 1000, Earliest: 900, Work: Cost{NodeSeconds: 600}}
		if got := p.AtMost().NodeSeconds; math.Abs(got-c.nodeSeconds) > 1e-9 {
			t.Errorf("%+v, of which %d: %v node-seconds at most", c.array, c.tasks, got)
		}
	}
}
