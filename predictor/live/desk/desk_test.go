package desk

import (
	"sync"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
)

// site is a desk with a fake Slurm, a fake Outlook and a real ledger.
type site struct {
	refused *api.Refusal // the last of offeredTo
	*desktest.Site
	desk *Desk
}

// newSite returns a site where jobs wait for ten minutes.
func newSite(t *testing.T) *site {
	s := &site{Site: desktest.NewSite(t)}
	s.desk = New(Options{
		Premises: s.Premises, Ledger: s.Ledger, Outlook: s.Outlook, Health: s.Outlook, Job: s.Slurm.Job, Ended: s.Slurm.Ended, Now: s.Now, Zone: time.UTC,
		Prob: .9, Confidence: .95, Horizon: 86400, Log: s.Log,
	})
	return s
}

// predicted predicts the q-quantile of the wait of alice's job.
func (s *site) predicted(q float64) api.Prediction {
	s.T.Helper()
	p, err := s.desk.Predict(s.T.Context(), "alice", &api.PredictRequest{Quantiles: []float64{q}})
	if err != nil {
		s.T.Fatal(err)
	}
	return p
}

// askAtOnce makes alice ask for 20 promises at the same time. It returns how many she gets, and the
// refusals of the others.
func (s *site) askAtOnce() (granted int, refusals []*api.Refusal) {
	s.Outlook.Asked = nil // the forecasts need not be counted
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range 20 {
		wg.Go(func() {
			a, err := s.desk.Plan(s.T.Context(), "alice", desktest.Request(desktest.Epoch+7200), true)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				s.T.Error(err)
			case a.Plan != nil:
				granted++
			default:
				refusals = append(refusals, a.Refusal)
			}
		})
	}
	wg.Wait()
	return granted, refusals
}
