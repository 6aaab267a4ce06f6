package chaos

import (
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/thorough"
)

// TestCampaign is a short campaign: a minute of submissions and faults, and two until the last
// promise is settled.
func TestCampaign(t *testing.T) {
	thorough.Only(t)
	cluster.NeedSlurm(t)
	o := Options{Seed: 14, Submissions: 60, Pace: 1200 * time.Millisecond, Pause: 9 * time.Second, Nodes: 8, Version: cluster.Chosen(), Evidence: t.ArtifactDir(), Progress: t.Output()}
	report, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := report.Write(&text); err != nil {
		t.Fatal(err)
	}
	t.Log(text.String())
	if len(report.Violations) > 0 {
		t.Errorf("%d violations", len(report.Violations))
	}
	if report.Submissions != o.Submissions || report.Promises == 0 || total(report.Faults) == 0 || report.Tampered == 0 {
		t.Error("not much of a campaign")
	}
}
