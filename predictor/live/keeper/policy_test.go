package keeper

import (
	"sync"
	"testing"

	"github.com/varq-project/varq/predictor/promise/policy"
)

// Requests that come at once do not exceed a limit together.
func TestLimitsHoldAtOnce(t *testing.T) {
	s := newSite(t)
	const most = 3
	s.Policy = policy.Rules{{Name: "three", PerUser: policy.Limits{Open: most}}}
	var wg sync.WaitGroup
	var mu sync.Mutex
	granted, refused := 0, 0
	s.outlook.asked = nil // the forecasts need not be counted
	for range 20 {
		wg.Go(func() {
			a, err := s.Plan(t.Context(), "alice", request(epoch+7200), true)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				t.Error(err)
			case a.Plan != nil:
				granted++
			case a.Refusal.Rule == "three":
				refused++
			}
		})
	}
	wg.Wait()
	if granted != most || refused != 17 {
		t.Errorf("%d granted, %d refused", granted, refused)
	}
}
