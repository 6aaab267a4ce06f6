package keeper

import (
	"context"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/groups"
)

// fakeHomes reaches one home, called home, as a peer.
type fakeHomes struct {
	*groups.Groups
	down  error
	lie   func(*api.GateAnswer) // changes its answer, if not nil
	asked int                   // for states
}

func (h *fakeHomes) Knows(home string) bool { return home == "home" }

func (h *fakeHomes) Claim(ctx context.Context, _ string, c api.GroupClaim) (api.GateAnswer, error) {
	if h.down != nil {
		return api.GateAnswer{}, h.down
	}
	answer, err := h.ClaimGroup(ctx, "varq", c)
	if h.lie != nil {
		h.lie(&answer)
	}
	return answer, err
}

func (h *fakeHomes) States(ctx context.Context, _ string, q api.GroupsQuery) ([]api.GroupState, error) {
	h.asked++
	if h.down != nil {
		return nil, h.down
	}
	states, err := h.GroupStates(ctx, "varq", q)
	if h.lie != nil {
		var a api.GateAnswer
		h.lie(&a)
		for i := range states {
			s := &states[i]
			s.Open, s.At, s.Why = a.Answer == api.GateWait, a.At, a.Why
			if s.Winners = nil; a.Answer == api.GateGo {
				s.Winners = []string{q.Promises[0].Plan, q.Promises[len(q.Promises)-1].Plan}
			}
		}
	}
	return states, err
}

// lies are the answers that a hostile home may give.
var lies = map[string]func(*api.GateAnswer){
	"none":     nil,
	"huge":     func(a *api.GateAnswer) { *a = api.GateAnswer{Answer: api.GateLost, Why: strings.Repeat("x", 1<<20)} },
	"escapes":  func(a *api.GateAnswer) { *a = api.GateAnswer{Answer: api.GateLost, Why: "\x1b[31mred\nvarq: \u202eno"} },
	"far":      func(a *api.GateAnswer) { *a = api.GateAnswer{Answer: api.GateGo, At: 1 << 40} },
	"past":     func(a *api.GateAnswer) { *a = api.GateAnswer{Answer: api.GateGo, At: -1 << 62} },
	"nonsense": func(a *api.GateAnswer) { *a = api.GateAnswer{Answer: strings.Repeat("maybe", 1<<20)} },
}
