package broker

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

// In JSON, for scripts, a site without slots has an empty list, and not null.
func TestNoSlotsAsJSON(t *testing.T) {
	said := func(a api.ProbeAnswer, err error) *scripted {
		return &scripted{name: "a", probe: func(context.Context) (api.ProbeAnswer, error) { return a, err }}
	}
	answers := Probe(t.Context(), []Site{said(api.ProbeAnswer{}, nil), said(api.ProbeAnswer{}, errors.New("silent")), said(api.ProbeAnswer{Slots: []api.Slot{{}}}, nil)}, api.ProbeRequest{})
	text, err := json.Marshal(answers)
	if err != nil || strings.Count(string(text), `"slots":[]`) != 3 {
		t.Errorf("%s (%v)", text, err)
	}
	if text, err := json.Marshal(Rank(answers, nil)); err != nil || string(text) != "[]" {
		t.Errorf("%s (%v)", text, err)
	}
}
