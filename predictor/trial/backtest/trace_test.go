package backtest

import (
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/test/archive"
)

// TestBaselinesOnTraces scores the method rolling-cell on real logs. An independent
// evaluation found, for the best baseline of this kind, a pinball loss of the .95 quantile
// of .245 (KTH) and .339 (SDSC-SP2) times the mean wait. Ours must be about as good. On
// KTH, which has no queues, the whole log answers for a cell without waits; leaving such
// jobs out would lower the loss.
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
