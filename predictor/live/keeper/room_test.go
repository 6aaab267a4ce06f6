package keeper

import (
	"strings"
	"sync"
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

// Requests that come at once are not promised more room than there is together.
func TestRoomHoldsAtOnce(t *testing.T) {
	s := newSite(t)
	s.outlook.asked, s.outlook.room = nil, 3
	var wg sync.WaitGroup
	var mu sync.Mutex
	granted, refused := 0, 0
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
			case strings.Contains(a.Refusal.Reason, "too little room"):
				refused++
			}
		})
	}
	wg.Wait()
	if granted != 3 || refused != 17 {
		t.Errorf("%d granted, %d refused", granted, refused)
	}
}

// A prediction is no better than the room that running jobs leave.
func TestPredictionIsBounded(t *testing.T) {
	s := newSite(t)
	predict := func() api.Prediction {
		t.Helper()
		p, err := s.Predict(t.Context(), "alice", &api.PredictRequest{Quantiles: []float64{.5}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := predict(); p.Bounds[0].Seconds == nil || p.Taken != 0 {
		t.Errorf("with room: %+v", p)
	}
	s.outlook.full = true
	if p := predict(); p.Bounds[0].Seconds != nil || p.Taken != 1 {
		t.Errorf("without room: %+v", p)
	}
}
