package flow

import (
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

// Of many jobs that one waits for, the first are named.
func TestAfter(t *testing.T) {
	for n, want := range map[int64]string{
		0: "", 2: "afterok:1,afterok:2", 6: "afterok:1,afterok:2,afterok:3,afterok:4,afterok:5,afterok:6",
		200: "afterok:1,afterok:2,afterok:3,afterok:4,afterok:5,and 195 more",
	} {
		var j api.FlowJob
		for id := range n {
			j.After = append(j.After, api.Awaited{Job: id + 1, Kind: "afterok"})
		}
		if got := after(j); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
