package backtest

import (
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/test/archive"
)

// TestBaselinesOnTraces scores the newest waits of each cell on real logs. Others have
// found, for the best of such baselines, a pinball loss of the .95 quantile of .245 (KTH) and
// .339 (SDSC-SP2) of the mean wait. Ours are to be about as hard to beat. On KTH, which
// has no queues, the whole log answers for a cell without a past; where such jobs are
// left out the loss is less.
func TestBaselinesOnTraces(t *testing.T) {
	for log, want := range map[string]float64{"KTH-SP2-1996": .30, "SDSC-SP2-1998": .33} {
		t.Run(log, func(t *testing.T) {
			var q queue.Queue
			methods := []Method{newBaseline("rolling-cell", eachCell, newRolling)}
			r, err := Run(slices.Collect(archive.Jobs(t, log)), &q, methods, Options{Quantiles: []float64{.95}})
			if err != nil {
				t.Fatal(err)
			}
			s := r.Scores[0]
			got := s.Quantiles[0]
			t.Logf("covers %.3f, relative pinball loss %.3f", got.Coverage.Share, *got.Relative)
			if *got.Relative > want || s.Answered < .999 {
				t.Errorf("a relative loss of %.3f, want %v; answers %v", *got.Relative, want, s.Answered)
			}
		})
	}
}
