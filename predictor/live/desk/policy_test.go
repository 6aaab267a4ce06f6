package desk

import (
	"testing"

	"github.com/varq-project/varq/predictor/promise/policy"
)

// Concurrent requests do not exceed a limit together.
func TestLimitsHoldAtOnce(t *testing.T) {
	s := newSite(t)
	const most = 3
	s.desk.Policy = policy.Rules{{Name: "three", PerUser: policy.Limits{Open: most}}}
	granted, refusals := s.askAtOnce()
	refused := 0
	for _, no := range refusals {
		if no.Rule == "three" {
			refused++
		}
	}
	if granted != most || refused != 17 {
		t.Errorf("%d granted, %d refused", granted, refused)
	}
}
