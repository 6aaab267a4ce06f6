package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/promise/esr"
)

// Answer is what a site has said to a probe.
type Answer struct {
	Site string `json:"site"`
	api.ProbeAnswer
	// Error is why there is no answer, or how many of its slots make no sense; a sentence without a
	// full stop.
	Error string `json:"error,omitempty"`
}

// Probe asks all sites at once, and returns their answers in the same order. Of an answer only what
// is sound is left.
func Probe(ctx context.Context, sites []Site, r api.ProbeRequest) []Answer {
	answers := make([]Answer, len(sites))
	var wait sync.WaitGroup
	for i, site := range sites {
		wait.Go(func() {
			answers[i].Site, answers[i].Slots = site.Name(), []api.Slot{}
			got, err := site.Probe(ctx, r)
			if err != nil {
				// as it is told beside the name
				answers[i].Error = strings.TrimPrefix(err.Error(), "site "+site.Name()+": ")
				return
			}
			answers[i].ProbeAnswer = got
			answers[i].check(&r)
		})
	}
	wait.Wait()
	return answers
}

// check drops slots that make no sense, or that nobody has asked for.
func (a *Answer) check(r *api.ProbeRequest) {
	var wrong int
	var why error
	sound := []api.Slot{} // not null in JSON
	most := len(r.Sizes) * max(1, len(r.Partitions)) * r.Slots
	for i := range a.Slots {
		if err := accept(r, a.Site, &a.Slots[i]); err != nil {
			wrong, why = wrong+1, err
			continue
		}
		if len(sound) < most {
			sound = append(sound, a.Slots[i])
		}
	}
	a.Slots = sound
	a.Reasons = a.Reasons[:min(len(a.Reasons), elastic.MostReasons)]
	for i := range a.Reasons {
		a.Reasons[i] = short(a.Reasons[i])
	}
	a.Note = short(a.Note)
	switch {
	case wrong == 0 && len(sound) == 0 && len(a.Reasons) == 0 && !a.Cut && a.Note == "":
		a.Error = "it answers with neither slots nor a reason why it has none: see varq sites"
	case wrong > 0:
		a.Error = fmt.Sprintf("%d of its slots make no sense: %v", wrong, why)
	}
}

// short returns a text that can be shown.
func short(text string) string {
	if len(text) > mostReason {
		return strings.ToValidUTF8(text[:mostReason], "") + "..."
	}
	return text
}

// Bounds of what a site can have shown.
const (
	mostCost   = 1e12
	mostReason = 500 // bytes
)

// methods are those of Slot.Method.
var methods = []string{"", esr.MethodStatic, esr.MethodHistory, esr.MethodLoad}

// accept says why a slot of a site is not an answer to a probe.
func accept(r *api.ProbeRequest, site string, s *api.Slot) error {
	whole := slotOf(site, s)
	if err := whole.Check(); err != nil {
		return err
	}
	switch {
	case s.Cost > mostCost:
		return fmt.Errorf("%g is not a cost", s.Cost)
	case s.Start < r.Earliest || r.Latest != 0 && s.Start > r.Latest || r.FinishBy != 0 && s.End > r.FinishBy:
		return errors.New("it is not in the window")
	case !(s.Prob > 0 && s.Prob < 1):
		return fmt.Errorf("%g is not a probability below 1", s.Prob)
	case s.Prob < r.Prob:
		return errors.New("it is less probable than asked for")
	case !slices.Contains(methods, s.Method):
		return fmt.Errorf("%.20q is not a method", s.Method)
	case s.ESR != nil && !s.ESR.Sound():
		return errors.New("its success rates are none")
	}
	for i := range r.Sizes {
		if r.Sizes[i].Nodes == s.Nodes {
			return nil
		}
	}
	return fmt.Errorf("nobody asked for %d nodes", s.Nodes)
}

// slotOf translates a slot. What is preferred is what is forecast, and not what is promised.
func slotOf(site string, s *api.Slot) elastic.Slot {
	return elastic.Slot{Site: site, Partition: s.Partition, Start: s.Start, End: s.End, Nodes: s.Nodes, Limit: s.Limit, Cost: s.Cost, Prob: s.Estimate}
}
