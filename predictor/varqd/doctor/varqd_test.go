package doctor

import (
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

// What passes by itself, or is meant, is told as such.
func TestRemedies(t *testing.T) {
	const elsewhere = "'varqd --check --live' on varqd's host, as varqd's user, tells more"
	got := told(api.Health{
		Problems: []string{api.Loading + " (0 %)", "queue: slurmrestd is silent"},
		Notes:    []string{api.OnlyWatches + " (plan.mode: shadow)", "forecaster x is left out"},
	})
	for i, want := range []string{"wait a minute", elsewhere, "operators end that by plan.mode: live in varq.yaml", elsewhere} {
		if got[i].Remedy != want {
			t.Errorf("%+v, want %q", got[i], want)
		}
	}
}
