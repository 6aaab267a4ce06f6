package broker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

// probed is a site that notes the probabilities for which it is asked. It has one slot, which it
// promises with a probability of up to most.
type probed struct {
	*scripted
	most float64

	turn  sync.Mutex
	asked []float64
}

func (s *probed) Probe(_ context.Context, r api.ProbeRequest) (api.ProbeAnswer, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.asked = append(s.asked, r.Prob)
	if r.Prob > s.most {
		return api.ProbeAnswer{}, errors.New("too much")
	}
	slot := slotAt(1000)
	slot.Prob = r.Prob
	return api.ProbeAnswer{Slots: []api.Slot{slot}}, nil
}

// Of two parts each needs the root of what both need together, and two alternatives share that,
// where none can carry it alone: they are asked for the whole, for their share and for what is
// between.
func TestLevels(t *testing.T) {
	t.Parallel()
	alone := &probed{scripted: &scripted{name: "alpha"}, most: 1}
	one, other := &probed{scripted: &scripted{name: "beta"}, most: .8}, &probed{scripted: &scripted{name: "gamma"}}
	r := Request{Kind: api.GroupAll, Prob: .81, Parts: [][]string{{"alpha"}, {"beta", "gamma"}}}
	asked := r.levelled([]Site{alone, one, other})
	var answers []api.ProbeAnswer
	var errs []error
	for _, s := range asked {
		a, err := s.Probe(t.Context(), r.Probe)
		answers, errs = append(answers, a), append(errs, err)
	}
	slices.Sort(one.asked)
	if len(alone.asked) != 1 || !near(alone.asked[0], .9) {
		t.Errorf("a part of one site is asked for %v", alone.asked)
	}
	share := 1 - .31622776601683794 // of the failures that both may have
	if len(one.asked) != 3 || !near(one.asked[0], share) || !near(one.asked[1], (.9+share)/2) || !near(one.asked[2], .9) || !near(r.Probe.Prob, share) {
		t.Errorf("an alternative is asked for %v, and the least is %v", one.asked, r.Probe.Prob)
	}
	if errs[1] != nil || len(answers[1].Slots) != 1 || !near(answers[1].Slots[0].Prob, (.9+share)/2) {
		t.Errorf("of one slot the best that can be promised: %+v, %v", answers[1].Slots, errs[1])
	}
	if errs[2] == nil {
		t.Error("a site that promises nothing has no error")
	}
}

func near(a, b float64) bool { return max(a-b, b-a) < 1e-9 }
