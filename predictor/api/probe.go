package api

import (
	"fmt"

	"github.com/varq-project/varq/predictor/workload"
)

// Bounds of a ProbeRequest.
const (
	MaxProbeSizes      = 64
	MaxProbePartitions = 16
	MaxProbeSlots      = 1000 // of one size in one partition
	MaxPower           = 1e12 // of a processor
)

// ProbeRequest asks when a job that can have several sizes could begin in a window of time, with
// what probability, and at what cost. Nothing is promised.
type ProbeRequest struct {
	// Job is what is common to all sizes: its account and QOS. What Sizes and Partitions say is
	// theirs.
	Job workload.Request `json:"job"`
	// Needs say on which nodes the job may run; nil if on any. It has all the nodes of its size,
	// and no more.
	Needs *workload.Needs `json:"needs,omitempty"`
	// Sizes are the sizes that the job can have, 1 to MaxProbeSizes.
	Sizes []Size `json:"sizes"`
	// Power is that of the processors for which the limits hold, in any unit in which sites tell
	// their own. 0 stands for those of the site.
	Power float64 `json:"power,omitempty"`
	// Partitions are where it may run, at most MaxProbePartitions; empty stands for the default.
	Partitions []string `json:"partitions,omitempty"`
	// Earliest is when the work may begin at the earliest, 0 for now. Latest is when it begins at
	// the latest, and FinishBy when it has ended at the latest; one of the two may be 0.
	Earliest int64 `json:"earliest,omitempty"`
	Latest   int64 `json:"latest,omitempty"`
	FinishBy int64 `json:"finish_by,omitempty"`
	// Prob is the least probability of a slot; 0 stands for the site's default.
	Prob float64 `json:"prob,omitempty"`
	// GroupProb is that of PlanRequest, if the slot is to be that of a member of a group and the
	// user has named one.
	GroupProb float64 `json:"group_prob,omitempty"`
	// BestEffort lets the work start as soon as the job does, and not at the start of the slot.
	BestEffort bool `json:"best_effort,omitempty"`
	// MaxCost bounds the cost of the idle nodes of each slot; see PlanRequest.
	MaxCost MaxCost `json:"max_cost,omitzero"`
	// Slots is how many slots of each size in each partition are asked for, 1 to MaxProbeSlots, and
	// Gap how many seconds lie between the starts of two of them at least.
	Slots int   `json:"slots"`
	Gap   int64 `json:"gap,omitempty"`
	// ESR asks for the success rates of each slot, too.
	ESR bool `json:"esr,omitempty"`
	// Site asks about another cluster, by its name in this one's varq.yaml, which has no varqd.
	Site string `json:"site,omitempty"`
}

// Ends returns by when work of a number of seconds has ended at the latest.
func (r *ProbeRequest) Ends(seconds int64) int64 {
	switch {
	case r.Latest == 0:
		return r.FinishBy
	case r.FinishBy == 0:
		return r.Latest + seconds
	}
	return min(r.FinishBy, r.Latest+seconds)
}

// Size is one of the sizes that a job can have, and the limit of its work then.
type Size struct {
	workload.Size
	Limit int64 `json:"limit"` // time limit of the work alone, in seconds
}

// ProbeAnswer is the answer to a ProbeRequest.
type ProbeAnswer struct {
	// Slots are in no particular order. What could be promised now may be gone when it is asked
	// for.
	Slots []Slot `json:"slots"`
	// Unit is that of the slots' Cost, such as billing-hours.
	Unit string `json:"unit"`
	// Reasons are why sizes in partitions have no slot at all: sentences without a full stop, each
	// once.
	Reasons []string `json:"reasons,omitempty"`
	// Final is true if Slurm takes no job of the user's in these partitions, with this account and
	// QOS: there are no slots, and there are none of another window, size or probability.
	Final bool `json:"final,omitempty"`
	// Young is true if there are no slots because too few past waits of such jobs are known.
	Young bool `json:"young,omitempty"`
	// Cut is true if there was not enough time to look at all slots.
	Cut bool `json:"cut,omitempty"`
	// Read is, of a cluster without varqd, when the queue was read by which the slots are
	// estimated, Unix seconds; and Note says so if that is not now, and whether the cluster is
	// silent since: a sentence without a full stop.
	Read int64  `json:"read,omitempty"`
	Note string `json:"note,omitempty"`
}

// Slot is when and on how many nodes the work could run.
type Slot struct {
	Partition string `json:"partition"`
	// Start is by when the work is running with probability Prob, and End when it ends at the
	// latest if it is.
	Start int64   `json:"start"`
	End   int64   `json:"end"`
	Nodes int32   `json:"nodes"`
	Limit int64   `json:"limit"` // of the work
	Prob  float64 `json:"prob"`  // what can be promised
	// Estimate is the probability that can be promised (>= Prob).
	Estimate float64 `json:"estimate"`
	// Work is the cost of the work, and Worst that of the idle nodes before it, at most, however
	// often the plan is revised.
	Work  Cost `json:"work"`
	Worst Cost `json:"worst"`
	// Cost is what the site charges for both by its tariff, in the answer's Unit.
	Cost float64 `json:"cost"`
	// Method is, of a cluster without varqd, the one by which Estimate was made: static, history or
	// load, as in ESR. Nobody then keeps a promise, and Prob is that estimate, of no more than .99.
	Method string `json:"method,omitempty"`
	// ESR is only there if it was asked for.
	ESR *ESR `json:"esr,omitempty"`
}

// ESR has the estimated success rates of a slot by the methods of Röblitz, Schintke and Wendler
// (2005), to compare Estimate with. They go by little, and nothing is promised by them.
type ESR struct {
	Static float64 `json:"static"` // by how far ahead the slot is
	// History goes by how many nodes were idle at these times of day; absent if that is not known.
	History *float64 `json:"history,omitempty"`
	Load    float64  `json:"load"` // by whether the known work ends before
}

// Sound reports whether the rates are probabilities.
func (r *ESR) Sound() bool {
	is := func(p float64) bool { return p >= 0 && p <= 1 }
	return is(r.Static) && is(r.Load) && (r.History == nil || is(*r.History))
}

// Check returns what is wrong with the request by itself: Mistakes, or nil.
func (r *ProbeRequest) Check() error {
	var c checker
	c.work(&r.Job, r.Needs, r.Sizes)
	c.wrong(len(r.Sizes) == 0, "sizes", "there are none")
	c.maxCost(r.MaxCost)
	r.checkSearch(&c)
	// the slot at the deadline itself is that of a job of which one of several is to start
	r.checkHeld(&c, r.Earliest != r.Latest)
	return c.err()
}

// CheckSearch is Check of what is looked for and where. It leaves out the job and its sizes, which
// whoever asks may not know yet.
func (r *ProbeRequest) CheckSearch() error {
	var c checker
	r.checkSearch(&c)
	r.checkHeld(&c, true)
	return c.err()
}

// checkHeld checks that work which has an earliest start is held until then.
func (r *ProbeRequest) checkHeld(c *checker, starts bool) {
	c.odd(starts && r.Earliest != 0 && r.BestEffort, "earliest", heldOrNot, Field("best_effort"))
}

func (r *ProbeRequest) checkSearch(c *checker) {
	c.wrong(len(r.Partitions) > MaxProbePartitions, "partitions", "%d are more than %d", len(r.Partitions), MaxProbePartitions)
	for i, partition := range r.Partitions {
		c.name(Field(fmt.Sprintf("partitions[%d]", i)), partition)
	}
	c.name("site", r.Site)
	c.time("earliest", r.Earliest)
	c.time("latest", r.Latest)
	c.time("finish_by", r.FinishBy)
	c.odd(r.Latest == 0 && r.FinishBy == 0, "latest",
		"is missing: say when the work must have begun, or with %v when it must have ended", Field("finish_by"))
	c.wrong(r.Latest > 0 && r.Latest < r.Earliest, "latest", "%v is before %v, %v", moment(r.Latest), Field("earliest"), moment(r.Earliest))
	c.wrong(r.FinishBy > 0 && r.FinishBy <= r.Earliest, "finish_by", "%v is not after %v, %v", moment(r.FinishBy), Field("earliest"), moment(r.Earliest))
	c.probability("prob", r.Prob)
	c.probability("group_prob", r.GroupProb)
	c.wrong(!(r.Power >= 0 && r.Power <= MaxPower), "power", "%v is not the power of a processor", r.Power)
	c.between("slots", int64(r.Slots), 1, MaxProbeSlots)
	c.span("gap", r.Gap, MaxSpan)
}
