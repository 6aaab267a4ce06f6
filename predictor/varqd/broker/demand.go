package broker

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/varq-project/varq/predictor/api"
)

// Soonest is how many seconds ahead the jobs of an api.GroupAll begin at the earliest: all of them
// have to be submitted first.
const Soonest = 30

// waiting is for how many seconds more than its work a job that begins together with others may
// have its nodes: for as long as these wait for one another.
const waiting = 60

// demand makes a request one for jobs that begin together.
func (r *Request) demand() {
	p := &r.Probe
	p.Sizes = slices.Clone(p.Sizes)
	for i := range p.Sizes {
		p.Sizes[i].Limit += waiting
	}
	p.GroupProb = r.Prob
}

// levelled returns the sites as they are asked: each for the probabilities that its part needs. The
// least of all becomes that of the request.
func (r *Request) levelled(sites []Site) []Site {
	// Each part needs as much, of which its alternatives share the burden where none can carry it
	// alone.
	each := math.Pow(r.Prob, 1/float64(len(r.Parts)))
	r.Probe.Prob = each
	asked := slices.Clone(sites)
	for _, part := range r.Parts {
		jobs := len(part)
		if r.Apart {
			jobs *= len(r.Probe.Partitions)
		}
		share := 1 - math.Pow(1-each, 1/float64(jobs))
		r.Probe.Prob = min(r.Probe.Prob, share)
		levels := []float64{each}
		if jobs > 1 {
			levels = append(levels, (each+share)/2, share)
		}
		for i, s := range sites {
			if slices.Contains(part, s.Name()) {
				asked[i] = &levelledSite{s, levels}
			}
		}
	}
	return asked
}

// levelledSite is a site that is asked for several probabilities, the best first. Of each slot the
// first counts that it can promise.
type levelledSite struct {
	Site
	levels []float64
}

// Probe asks for all probabilities at once.
func (s *levelledSite) Probe(ctx context.Context, r api.ProbeRequest) (api.ProbeAnswer, error) {
	answers, errs := make([]api.ProbeAnswer, len(s.levels)), make([]error, len(s.levels))
	var wait sync.WaitGroup
	for i, level := range s.levels {
		r := r
		r.Prob = level
		wait.Go(func() { answers[i], errs[i] = s.Site.Probe(ctx, r) })
	}
	wait.Wait()
	// of the least, which tells best why something is not to be had
	answer := answers[len(answers)-1]
	answer.Slots = nil
	for i := range answers {
		for _, slot := range answers[i].Slots {
			if !slices.ContainsFunc(answer.Slots, func(had api.Slot) bool {
				return had.Start == slot.Start && had.Nodes == slot.Nodes && had.Partition == slot.Partition
			}) {
				answer.Slots = append(answer.Slots, slot)
			}
		}
	}
	if len(answer.Slots) > 0 {
		return answer, nil
	}
	return answer, errs[len(errs)-1]
}
