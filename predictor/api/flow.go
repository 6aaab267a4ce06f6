package api

// FlowRequest asks for a promise that all jobs of a flow have ended by a time: of some of the
// user's own jobs that wait or run, of those that a workflow engine has submitted for the same
// runs, and of those of hers that wait for them. They have to end by themselves. A job that waits
// for another to fail does not count, and one that never starts, as others do not end as it needs,
// breaks the promise.
type FlowRequest struct {
	// Name is what the user calls the flow, or "".
	Name string  `json:"name,omitempty"`
	Jobs []int64 `json:"jobs"`
	// FinishBy is the deadline, Unix seconds, and Prob the probability asked for; 0 stands for the
	// site's.
	FinishBy int64   `json:"finish_by"`
	Prob     float64 `json:"prob,omitempty"`
	// Released says that those of the jobs which their user holds will be released at once.
	Released bool `json:"released,omitempty"`
	// Quote asks what could be promised, and for no promise.
	Quote bool `json:"quote,omitempty"`
}

// MostFlowJobs is the greatest number of jobs of a FlowRequest.
const MostFlowJobs = 500

// Check returns what is wrong with the request by itself: Mistakes, or nil.
func (r *FlowRequest) Check() error {
	var c checker
	c.name("name", r.Name)
	c.between("jobs", int64(len(r.Jobs)), 1, MostFlowJobs)
	for _, id := range r.Jobs {
		c.jobID(id)
	}
	c.moment("finish_by", r.FinishBy)
	c.odd(r.FinishBy == 0, "finish_by", "is missing")
	if r.Prob != 0 {
		c.probability("prob", r.Prob)
	}
	return c.err()
}

// FlowAnswer is the answer to a FlowRequest: Promised or, of a Quote, what would be, or a Refusal.
type FlowAnswer struct {
	Promised *FlowPromise `json:"promised,omitempty"`
	Refusal  *Refusal     `json:"refusal,omitempty"`
	// Flow is the forecast that the answer rests on.
	Flow *Flow `json:"flow"`
	AsOf int64 `json:"as_of"`
}

// FlowPromise is a promise that all jobs of a flow have ended by FinishBy. Times are Unix seconds.
type FlowPromise struct {
	ID   string `json:"id"`
	User string `json:"user"`
	Name string `json:"name,omitempty"`
	// Jobs are the jobs that count; an array stands for its tasks.
	Jobs     []int64 `json:"jobs"`
	FinishBy int64   `json:"finish_by"`
	Prob     float64 `json:"prob"`
	// Estimate is the probability that could be promised when that was promised.
	Estimate float64 `json:"estimate"`
	Promised int64   `json:"promised"`
	// State is StatePending while a job is in the queue, then StateKept, StateMissed or
	// StateCancelled. Settled is when that was found, and Ended when the last job had ended; 0 if not
	// yet, or not known.
	State   string `json:"state"`
	Settled int64  `json:"settled,omitempty"`
	Ended   int64  `json:"ended,omitempty"`
	// Now is the forecast of the promise now, or nil if nothing is forecast.
	Now *float64 `json:"now,omitempty"`
	// Note is why it has the State: a clause without a full stop.
	Note   string  `json:"note,omitempty"`
	Events []Event `json:"events,omitempty"`
	// Flow is the forecast now of those of the jobs that are in the queue.
	Flow *Flow `json:"flow,omitempty"`
}

// FlowsQuery selects promises of flows: those that are open, and with Old those that are settled,
// too. All selects those of all users, which Slurm's operators may see.
type FlowsQuery struct {
	All bool `json:"all,omitempty"`
	Old bool `json:"old,omitempty"`
}

// Check returns nil: every FlowsQuery can be answered.
func (*FlowsQuery) Check() error { return nil }

// Flows are the promises that a FlowsQuery selects, the oldest first.
type Flows struct {
	Flows []FlowPromise `json:"flows"`
	AsOf  int64         `json:"as_of"`
}

// Flow tells when jobs of which some wait for others are forecast to have ended, all of them.
type Flow struct {
	// Jobs are in an order in which each comes after those that it waits for.
	Jobs []FlowJob `json:"jobs"`
	// Engines names the workflow engine of whose run jobs are ("Snakemake"), of several with an
	// "and". It submits each when its inputs are there: those that it has yet to submit are not among
	// Jobs.
	Engines string `json:"engines,omitempty"`
	// End is when the last of them is forecast to end. Lost is the probability that one of them never
	// starts, because others do not do what it needs.
	End  *Forecast `json:"end,omitempty"`
	Lost float64   `json:"lost,omitempty"`
	// Unknown says why End is not forecast: a clause without a full stop.
	Unknown string `json:"unknown,omitempty"`
	// Learning is true while varqd knows only the newest part of the past: soon after its start.
	Learning bool `json:"learning,omitempty"`
}

// FlowJob is a job of a flow, or some tasks of an array.
type FlowJob struct {
	Job   int64  `json:"job"`
	Array int64  `json:"array,omitempty"`
	Tasks string `json:"tasks,omitempty"`
	// Name is the job's, or what a workflow engine calls its task where the name is that of the run.
	Name  string    `json:"name"`
	User  string    `json:"user"`
	Runs  bool      `json:"runs,omitempty"`
	After []Awaited `json:"after,omitempty"`
	Start *Forecast `json:"start,omitempty"`
	End   *Forecast `json:"end,omitempty"`
	// Critical is how much sooner the whole ends on average if this job takes a second less, in
	// seconds: the probability that the whole waits for it.
	Critical float64 `json:"critical"`
	// Unknown says why nothing is forecast of it: a clause without a full stop.
	Unknown string `json:"unknown,omitempty"`
}
