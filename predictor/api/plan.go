package api

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// PlanRequest asks for a reservation. The connection or the credential proves who asks.
// Job.User is empty or the same user.
type PlanRequest struct {
	// Job is what the work needs. Its Limit is the time limit of the work alone, without
	// time for idle nodes before the work. Empty fields take Slurm's defaults. Its Partition, Account
	// and QOS may each name several ("a,b"), of which varqd chooses one.
	Job workload.Request `json:"job"`
	// Others are further partitions in which Slurm may start the job. varqd fills them in from a
	// Job.Partition that names several ("a,b").
	Others []string `json:"-"`
	// Of is the request of which this is one of several ways or sizes; nil otherwise. Only varqd has
	// it.
	Of *PlanRequest `json:"-"`
	// Needs say on which nodes the job may run, and what else must be free for it. nil
	// stands for any nodes of the partition, and nothing else.
	Needs *workload.Needs `json:"needs,omitempty"`
	// Array is the job array of which Job is a task. Tasks is how many of its tasks are to run by the
	// deadline at the same time; 0 stands for as many as may. They are those that start first. A
	// request about the end is about all, and Tasks is 0.
	Array Array `json:"array,omitzero"`
	Tasks int32 `json:"tasks,omitempty"`
	// Sizes, if not empty, are the sizes of which the job is to have one, and Prefer says which,
	// as package elastic reads preferences; empty stands for its default. Job has then no size and
	// no limit of its own. At most MaxProbeSizes.
	Sizes  []Size `json:"sizes,omitempty"`
	Prefer string `json:"prefer,omitempty"`
	// Dependency is what the job waits for, as of sbatch --dependency. Name is its name, which counts
	// for the dependency "singleton".
	Dependency string `json:"dependency,omitempty"`
	Name       string `json:"name,omitempty"`
	// BeginBy is the deadline: the latest start of the job. It is 0 in a request about the job's
	// end.
	BeginBy int64 `json:"begin_by,omitempty"`
	// FinishBy is the latest end of the job, if that is what is to be promised.
	FinishBy int64 `json:"finish_by,omitempty"`
	// Prob is the probability asked for. 0 stands for the site's default.
	Prob float64 `json:"prob,omitempty"`
	// Risk, if not 0, is the least probability of an end for which the user takes the earliest
	// deadline that can be promised, if that is not FinishBy, or FinishBy is 0.
	Risk float64 `json:"risk,omitempty"`
	// BeginAfter, if not 0, lets the work start from that time on, and not only at
	// BeginBy (a window).
	BeginAfter int64 `json:"begin_after,omitempty"`
	// BestEffort lets the work start as soon as the job does.
	BestEffort bool `json:"best_effort,omitempty"`
	// OnMiss says what becomes of a job that has not started by the deadline: OnMissRun (the
	// default) or OnMissCancel.
	OnMiss string `json:"on_miss,omitempty"`
	// MaxCost bounds the cost of the idle nodes before the work.
	MaxCost MaxCost `json:"max_cost,omitzero"`
	// RiskyNodes says whether the job may be kept off nodes that are likely to fail: RiskyAvoid or
	// RiskyAllow. Empty stands for the site's default.
	RiskyNodes string `json:"risky_nodes,omitempty"`
	// CheckpointInterval is the time between the checkpoints of a job that goes on from its last
	// one after a failure, in seconds of its run; 0 if it begins anew. Only a request about the
	// job's end has it.
	CheckpointInterval int64 `json:"checkpoint_interval,omitempty"`
	// Tentative, if not 0, asks for a promise that ends unless it is confirmed within so many
	// seconds.
	Tentative int64 `json:"tentative,omitempty"`
	// Group makes the promise that of a member of a group, which the site Home keeps; an empty Home
	// is this site. Such a promise is tentative.
	Group string `json:"group,omitempty"`
	Home  string `json:"home,omitempty"`
	// GroupProb is the probability that the group as a whole is to have, beside Prob, which is the
	// member's own. The site's policy bounds the larger of the two.
	GroupProb float64 `json:"group_prob,omitempty"`
	// Trajectory asks for the whole probability trajectory in the answer.
	Trajectory bool `json:"trajectory,omitempty"`
	// Advisory asks what is likely of a job that starts as soon as it can, and of which nothing is
	// promised: what promises allow for does not count, nor what is promised or offered to others
	// that wait. Only a quote may be that.
	Advisory bool `json:"advisory,omitempty"`
}

// The values of PlanRequest.RiskyNodes.
const (
	RiskyAvoid = "avoid" // it is, as far as it can spare them
	RiskyAllow = "allow" // it is not
)

// MaxCheckpointInterval is the longest CheckpointInterval, in seconds: a year.
const MaxCheckpointInterval = 366 * 24 * 3600

// ParseCheckpointInterval reads a CheckpointInterval: as 90s or 12m, or as Slurm reads time limits.
func ParseCheckpointInterval(text string) (seconds int64, err error) {
	seconds, err = slurmtime.ParseSpan(text)
	if err == nil && (seconds <= 0 || seconds > MaxCheckpointInterval) {
		err = fmt.Errorf("%.40q is not between a second and a year", text)
	}
	return seconds, err
}

// Finishes reports whether the request is about the job's end, and not its start.
func (r *PlanRequest) Finishes() bool { return r.FinishBy != 0 || r.Risk != 0 }

// The values of PlanRequest.OnMiss.
const (
	OnMissRun    = "run"    // the job stays in the queue
	OnMissCancel = "cancel" // varqd cancels the job
)

// PlanAnswer is a plan with its ceiling, or a refusal: exactly one of the two is set.
type PlanAnswer struct {
	Plan *Plan `json:"plan,omitempty"`
	// Ceiling is the cost of idle nodes that no revision of Plan exceeds, as its AtMost returns it.
	Ceiling *Cost    `json:"ceiling,omitempty"`
	Refusal *Refusal `json:"refusal,omitempty"`
	// MayChange is true if plugins of the site may change the job while it is submitted. Whether Plan
	// holds for it is known once the job is bound.
	MayChange  bool    `json:"may_change,omitempty"`
	Trajectory []Point `json:"trajectory,omitempty"`
	// Eligible is when the jobs that the request's job is to wait for are forecast to have done what
	// it needs, or nil if it waits for none. Lost is the probability that they do not.
	Eligible *Forecast `json:"eligible,omitempty"`
	Lost     float64   `json:"lost,omitempty"`
	// Offers are other deadlines, beside that of Plan, by which the job's end can be promised.
	Offers []Offer `json:"offers,omitempty"`
	// Account and QOS are those with which the job is to be submitted, if the request's Job names
	// several.
	Account string `json:"account,omitempty"`
	QOS     string `json:"qos,omitempty"`
	// AsOf is when the queue was read on which the answer rests, Unix seconds; 0 if it was not.
	AsOf int64 `json:"as_of,omitempty"`
	// RunnerUp is what the user prefers next to Plan, if the request has several sizes and more
	// than one can be promised.
	RunnerUp *Slot `json:"runner_up,omitempty"`
	// LeftOut says beside Plan which sizes of the request cannot be promised, and why: clauses
	// without a full stop, such as "16 nodes: partition main has 8 nodes".
	LeftOut []string `json:"left_out,omitempty"`
}

// Awaits says how long the request's job waits for others, with times in a zone: a clause, or "" if
// it waits for none.
func (a *PlanAnswer) Awaits(zone *time.Location) string {
	e := a.Eligible
	switch {
	case e == nil:
		return ""
	case e.Median == 0:
		return fmt.Sprintf("it waits for other jobs, which do not do what it needs with probability %.2f", a.Lost)
	}
	text := "it waits for other jobs, as likely as not until " + slurmtime.Stamp(e.Median, zone)
	if e.Late != 0 {
		text += ", and in nine cases of ten until " + slurmtime.Stamp(e.Late, zone)
	}
	if a.Lost > 0 {
		text += fmt.Sprintf("; they do not do what it needs with probability %.2f", a.Lost)
	}
	return text
}

// Plan says how to submit the job so that the promise holds.
type Plan struct {
	// ID identifies the promise in the ledger. It is empty in a quote.
	ID string `json:"id,omitempty"`
	// BeginTime is when the job is to become eligible (sbatch --begin).
	BeginTime int64 `json:"begin_time"`
	// TimeLimit is the enlarged time limit: WorkLimit and, if BeginTime is before
	// HoldUntil, the time between the two. It is a whole number of minutes.
	TimeLimit int64 `json:"time_limit"`
	// BeginBy is the deadline. HoldUntil is the time from which the work may start:
	// BeginBy (strict), BeginAfter (window) or 0 (best effort).
	BeginBy   int64 `json:"begin_by"`
	HoldUntil int64 `json:"hold_until"`
	// FinishBy is the deadline if it is the job's end that is promised. BeginBy and HoldUntil are
	// then 0.
	FinishBy int64 `json:"finish_by,omitempty"`
	// TimeOut is the probability that the job is stopped at its time limit, and Lost by how much
	// failures of nodes lower Estimate. Only a plan with FinishBy has them.
	TimeOut float64 `json:"time_out,omitempty"`
	Lost    float64 `json:"lost,omitempty"`
	// CheckpointInterval is that of the request.
	CheckpointInterval int64 `json:"checkpoint_interval,omitempty"`
	// Exclude are nodes that the job leaves out (sbatch --exclude), as they are likely to fail
	// while it works, and Safer is by how much that lowers the probability that one of its nodes
	// fails then.
	Exclude []string `json:"exclude,omitempty"`
	Safer   float64  `json:"safer,omitempty"`
	// Preempted is what Slurm does to the job once it runs, if a job of a partition of a higher
	// tier needs its nodes, as Slurm's PreemptMode has it ("REQUEUE"). Estimate does not allow for
	// that. It is empty if no job may take its nodes.
	Preempted string `json:"preempted,omitempty"`
	// Cluster is the promise's cluster, which has to be named (sbatch --clusters) if it is in a
	// federation: another one would start the job as soon as it could. It is empty if there is no
	// other.
	Cluster string `json:"cluster,omitempty"`
	// Slot is when the work is to begin, as there was room for it then when it was promised. If it
	// is the job's end that is promised, it is when the work will as likely have begun as not.
	Slot int64 `json:"slot"`
	// Tentative is until when a tentative promise can be confirmed; 0 for a promise that holds as
	// it is.
	Tentative int64 `json:"tentative,omitempty"`
	// Group is the group of which the job is a member, and Home the site that keeps it; see
	// GroupRequest.
	Group string `json:"group,omitempty"`
	Home  string `json:"home,omitempty"`
	// GroupProb is the probability with which this site lets the group be promised: that of the
	// request or, without one, its default. Prob is then what the member needs for that, and no
	// promise by itself.
	GroupProb float64 `json:"group_prob,omitempty"`
	// WorkLimit is the time limit of the work alone.
	WorkLimit int64 `json:"work_limit"`
	// Dependency is that of the request.
	Dependency string `json:"dependency,omitempty"`
	// Array is that of the request, and Tasks how many of its tasks the promise is about: those that
	// start first. The costs are those of as many tasks. Tasks is 0 for a job that is no array.
	Array Array `json:"array,omitzero"`
	Tasks int32 `json:"tasks,omitempty"`
	// AtOnce is how many of the tasks run at the same time, if the promise is about the end of all:
	// as many as the array, Slurm's limits and the partition have room for. Else it is 0.
	AtOnce int32 `json:"at_once,omitempty"`
	// SizeNodes is the number of nodes of the size that was chosen, if the request has several.
	SizeNodes int32 `json:"size_nodes,omitempty"`
	// Earliest is the ceiling on the cost of idle nodes, as a time: varqd does not let the
	// job become eligible before it. 0 stands for no ceiling.
	Earliest int64 `json:"earliest"`
	// Prob is the probability asked for. Estimate is the probability that can be promised (>= Prob),
	// and Forecast the one that is forecast. Careful says why a promise is much more careful than
	// the forecast: a clause without a full stop, or "". The ledger keeps neither Forecast nor
	// Careful.
	Prob     float64 `json:"prob"`
	Estimate float64 `json:"estimate"`
	Forecast float64 `json:"forecast,omitempty"`
	Careful  string  `json:"careful,omitempty"`
	// Offered is when the plan was offered, if the forecast has fallen below Prob since; 0 otherwise.
	// Estimate is then the one of that time. The ledger does not keep Offered.
	Offered int64  `json:"offered,omitempty"`
	OnMiss  string `json:"on_miss"`
	// Work is the cost of the work itself. Worst and Expected are the costs of the idle
	// nodes before the work, at most and on average.
	Work     Cost `json:"work"`
	Worst    Cost `json:"worst"`
	Expected Cost `json:"expected"`
	Evidence
	// Comment is to be added to the job's comment. varqd finds the job by it.
	Comment string `json:"comment"`
}

// Deadline returns BeginBy or FinishBy, whichever is promised.
func (p *Plan) Deadline() int64 { return max(p.BeginBy, p.FinishBy) }

// LeavesOut says, part of a sentence, which nodes the job leaves out and what that gains; "" if
// none.
func (p *Plan) LeavesOut() string {
	if len(p.Exclude) == 0 {
		return ""
	}
	const named = 5
	names := strings.Join(p.Exclude[:min(named, len(p.Exclude))], ", ")
	if more := len(p.Exclude) - named; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("leaves out %s: without, a failure of a node during the work is less probable by %.3f", names, p.Safer)
}

// GivesWay says that other jobs may take the job's nodes; "" if none may.
func (p *Plan) GivesWay() string {
	if p.Preempted == "" {
		return ""
	}
	return fmt.Sprintf("jobs of a partition of a higher tier may take its nodes once it runs (PreemptMode=%s), for which the probability does not allow", p.Preempted)
}

// StoppedOften says of a plan about a job's end how often such jobs are stopped at their time
// limit, and what that means: a clause.
func (p *Plan) StoppedOften() string {
	if p.Array.Tasks > 1 {
		return fmt.Sprintf("each task is stopped at its time limit with probability %.2f, and has then ended", p.TimeOut)
	}
	return fmt.Sprintf("jobs like it are stopped at their time limit with probability %.2f, and then nothing is promised: --time gives it more", p.TimeOut)
}

// TimesOutOften is the probability of reaching its time limit, above which a job's user should know
// of it.
const TimesOutOften = .05

// Idle returns what the nodes cost if they idle from begin until the work starts. Of an array these
// are the nodes of all tasks that may run at once, whether they are promised or not: none of them
// begins its work before.
func (p *Plan) Idle(begin int64) Cost {
	if p.WorkLimit <= 0 {
		return Cost{}
	}
	share := float64(max(0, p.HoldUntil-begin)) / float64(p.WorkLimit)
	if p.Tasks > 0 {
		share *= float64(p.Tasks+p.Unpromised()) / float64(p.Tasks)
	}
	return Cost{NodeSeconds: share * p.Work.NodeSeconds, BillingSeconds: share * p.Work.BillingSeconds}
}

// AtMost returns the ceiling on the cost of the idle nodes before the work, which no revision of
// the plan exceeds.
func (p *Plan) AtMost() Cost {
	if p.Earliest == 0 {
		return p.Worst
	}
	return p.Idle(p.Earliest)
}

// MostNodes returns the number of nodes that the costs are of: the most that Slurm may give to the
// job, or to all of the tasks.
func (p *Plan) MostNodes() int32 {
	if p.WorkLimit <= 0 {
		return 0
	}
	return int32(math.Round(p.Work.NodeSeconds / float64(p.WorkLimit)))
}

// Spread says, if the request leaves the number of nodes open, of how many the costs are, and why.
// Otherwise it is empty.
func (p *Plan) Spread(r *PlanRequest) string {
	least, most := max(1, r.Job.Nodes), p.MostNodes()/max(1, p.Tasks)
	if p.SizeNodes != 0 || r.Needs == nil || r.Needs.MostNodes <= least || most <= least {
		return ""
	}
	what := "the job"
	if p.Tasks > 0 {
		what = "each task"
	}
	return fmt.Sprintf("the costs are those on %d nodes, over which Slurm may spread %s; --nodes says on how many it is to run", most, what)
}

// Unlimited says, if the request names no time limit, which one the work has. Otherwise it is
// empty.
func (p *Plan) Unlimited(r *PlanRequest) string {
	if r.Job.Limit != 0 || p.SizeNodes != 0 || p.WorkLimit <= 0 {
		return ""
	}
	return fmt.Sprintf("without --time the work may take %s; with a shorter --time it may start sooner", slurmtime.FormatDuration(p.WorkLimit))
}

// Share says how much c is in multiples of the cost of the work, rounded up: nothing exceeds what
// is said.
func (c Cost) Share(work Cost) string {
	times := 0.
	if work.NodeSeconds > 0 {
		times = c.NodeSeconds / work.NodeSeconds
	}
	return hundredthsUp(times) + " times the work"
}

// Evidence is what a forecast rests on.
type Evidence struct {
	// Sample is the number of past waits, weighted by the forecasters' shares.
	Sample int `json:"sample"`
	// Class names the class of jobs whose past waits were used, if there are classes.
	Class string `json:"class"`
	// Changed is when the waits of that class last changed, or 0.
	Changed int64 `json:"changed,omitempty"`
	// Beyond is how far the queue lies beyond all that was learnt from, from 0 to 1: as far
	// as that, the forecast follows simulations of the queue instead of past waits.
	Beyond float64 `json:"beyond,omitempty"`
	// AsOf is when the queue was read on which the forecast rests, Unix seconds; 0 if it was not.
	AsOf int64 `json:"as_of,omitempty"`
	// Learning is true while varqd knows only the newest part of the past: soon after its start.
	Learning bool `json:"learning,omitempty"`
	// Taken is the probability that running jobs leave no room for the job now. Only a
	// prediction has it.
	Taken float64 `json:"taken,omitempty"`
	// Down says why nothing can be promised now, as during an outage: a sentence
	// without a full stop.
	Down string `json:"down,omitempty"`
	// Calibrated is the number of recent forecasts with known outcomes by which the
	// forecast was recalibrated.
	Calibrated float64 `json:"calibrated,omitempty"`
	// Components are the forecasters whose mixture the forecast is.
	Components []Component `json:"members,omitempty"`
}

// Component is the part that one forecaster has in a forecast.
type Component struct {
	Forecaster string  `json:"forecaster"`
	Share      float64 `json:"share"` // its mixture weight, from 0 to 1
	Sample     int     `json:"sample"`
	Class      string  `json:"class,omitempty"`
	Changed    int64   `json:"changed,omitempty"`
	// Simulated names the scheduling policy with which the forecaster simulated the
	// queue. It is empty if the forecaster does not simulate.
	Simulated string `json:"simulated,omitempty"`
}

// Cost is the cost of an allocation.
type Cost struct {
	NodeSeconds    float64 `json:"node_seconds"`
	BillingSeconds float64 `json:"billing_seconds"` // billing units x seconds
}

// String formats both costs, in hours.
func (c Cost) String() string {
	return fmt.Sprintf("%.2f node-hours, %.2f billing-hours", c.NodeSeconds/3600, c.BillingSeconds/3600)
}

// RoundedUp formats both costs, in hours, as a bound that holds.
func (c Cost) RoundedUp() string {
	return fmt.Sprintf("%s node-hours, %s billing-hours", HoursUp(c.NodeSeconds), HoursUp(c.BillingSeconds))
}

// HoursUp formats seconds as hours, rounded up to hundredths.
func HoursUp(seconds float64) string { return hundredthsUp(seconds / 3600) }

// hundredthsUp formats a number, rounded up to hundredths.
func hundredthsUp(x float64) string {
	const noise = 1e-9 // of sums of binary fractions
	return fmt.Sprintf("%.2f", max(0, math.Ceil(100*x-noise))/100)
}

// Refusal says why no promise can be made, and what can be promised instead.
type Refusal struct {
	// Reason is one sentence for the user.
	Reason string `json:"reason"`
	// Limit names the limit that is the reason, or is empty.
	Limit string `json:"limit,omitempty"`
	// Rule names the rule of the site's policy that refuses, or is empty.
	Rule   string  `json:"rule,omitempty"`
	Offers []Offer `json:"offers,omitempty"`
	// KeptUntil is until when, in Unix seconds, the room of the offers is kept for their user; 0 if
	// it is not.
	KeptUntil int64 `json:"kept_until,omitempty"`
	// KeptFromSome says that it is kept only from users who have been refused as often of late as
	// their user.
	KeptFromSome bool `json:"kept_from_some,omitempty"`
	// Unkept says that it is not, although the request was one for a promise, since as many offers
	// keep room for their user, or for all, as may at one time.
	Unkept bool `json:"unkept,omitempty"`
}

// Kept says until when, in zone, the room of the offers is kept, or that it is not although it
// might be: a sentence. It is "" if none is kept in any case.
func (r *Refusal) Kept(zone *time.Location) string {
	switch {
	case r.Unkept:
		return "The room of the offers is not kept for you: as many offers as may keep room do so now."
	case r.KeptUntil == 0:
		return ""
	}
	text := "The room of the offers is kept for you until " + slurmtime.Format(r.KeptUntil, zone)
	if r.KeptFromSome {
		text += ", but users who have asked less of late come first"
	}
	return text + "."
}

// Point is one point of a probability trajectory.
type Point struct {
	BeginTime int64   `json:"begin_time"`
	TimeLimit int64   `json:"time_limit"`
	Prob      float64 `json:"prob"`
	Class     string  `json:"class"`
}

// Binding tells varqd which job is the job of a plan. Only the plan's user may bind the
// plan, only once, and only to a job of her own.
type Binding struct {
	Plan string `json:"plan"`
	Job  int64  `json:"job"`
}

// Check returns what is wrong with the binding by itself: Mistakes, or nil.
func (b *Binding) Check() error { return checkJobOfPlan(b.Plan, b.Job) }

func checkJobOfPlan(plan string, job int64) error {
	var c checker
	c.plan(plan)
	c.jobID(job)
	return c.err()
}

// Cancellation takes a plan back that no job has taken up. Only the plan's user may take it
// back. A job that is in Slurm's queue keeps its plan; the user cancels it with scancel.
type Cancellation struct {
	Plan string `json:"plan"`
}

// Check returns what is wrong with the cancellation by itself: Mistakes, or nil.
func (r *Cancellation) Check() error {
	var c checker
	c.plan(r.Plan)
	return c.err()
}
