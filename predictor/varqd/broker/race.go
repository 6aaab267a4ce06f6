package broker

import (
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/elastic"
)

// leastRacer is the least probability of a job of which one is enough.
const leastRacer = .02

// race makes a request one for jobs of which the first to start runs: each starts as soon as it
// can, and is promised nothing by itself.
func (r *Request) race() {
	p := &r.Probe
	p.GroupProb, p.Prob = r.Prob, leastRacer
	p.Earliest, p.BestEffort, p.Slots = p.Latest, true, 1
}

// ChooseAny returns the slots that are to race: of each site and partition the one that its user
// prefers.
func ChooseAny(answers []Answer, prefer elastic.Preferences) (chosen []Choice) {
	ranked(answers, prefer, func(_ *elastic.Slot, c *Choice) bool {
		if !slices.ContainsFunc(chosen, func(other Choice) bool { return other.Site == c.Site && other.Partition == c.Partition }) {
			chosen = append(chosen, *c)
		}
		return len(chosen) < api.MaxGroupMembers
	})
	return chosen
}

// noRacer says why no site offers a slot.
func noRacer(answers []Answer) string {
	if !slices.ContainsFunc(answers, func(a Answer) bool { return a.Error == "" }) {
		return "no cluster has answered as it should: try again once one does (varq sites tells)"
	}
	if !slices.ContainsFunc(answers, func(a Answer) bool { return a.Error == "" && !a.Final }) {
		return "Slurm takes no such job, for the reason above"
	}
	return "no cluster offers anything: try a later --latest, or other partitions or clusters"
}
