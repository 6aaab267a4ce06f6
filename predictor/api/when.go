package api

import "strings"

// WhenQuery selects jobs that wait.
type WhenQuery struct {
	// User selects the jobs of one user, or of all with Everybody. If it is empty, and no jobs are
	// named, the jobs are the asker's own.
	User string `json:"user,omitempty"`
	// Jobs, if there are any, selects these alone; the number of an array stands for its tasks.
	Jobs []int64 `json:"jobs,omitempty"`
	// ArrayTasks selects tasks of arrays, beside Jobs. Each entry of it is told of by itself.
	ArrayTasks []ArrayTasks `json:"array_tasks,omitempty"`
	// Partitions selects the jobs in any of these; none selects all.
	Partitions []string `json:"partitions,omitempty"`
	// Flow asks for the end of Jobs, of those that they wait for, and of those that wait for them,
	// all together.
	Flow bool `json:"flow,omitempty"`
}

// ArrayTasks are tasks of an array, as a Waiting names them.
type ArrayTasks struct {
	Array int64  `json:"array"`
	Tasks string `json:"tasks"` // "6", "3-7,9" or "0-100:4"
}

// MostWhen is the greatest number of jobs of which one answer tells.
const MostWhen = 1000

// Check returns what is wrong with the question by itself: Mistakes, or nil.
func (q *WhenQuery) Check() error {
	var c checker
	named := len(q.Jobs) + len(q.ArrayTasks)
	c.wrong(named > MostWhen, "jobs", "%d are more than %d", named, MostWhen)
	for _, id := range q.Jobs {
		c.wrong(id <= 0, "jobs", "%d is not a job id", id)
	}
	for _, t := range q.ArrayTasks {
		c.wrong(t.Array <= 0, "array_tasks", "%d is not a job id", t.Array)
		c.name("array_tasks", t.Tasks)
		c.wrong(t.Tasks == "" || strings.Trim(t.Tasks, "0123456789,-:%") != "", "array_tasks", "%.40q is not a list of tasks", t.Tasks)
	}
	c.wrong(q.Flow && len(q.Jobs) == 0, "jobs", "a flow has jobs")
	c.names("partitions", q.Partitions)
	if q.User != "" && q.User != Everybody {
		c.name(ParamUser, q.User)
	}
	return c.err()
}

// When is the answer to a WhenQuery.
type When struct {
	// Jobs are those that go first in Slurm's order, first.
	Jobs []Waiting `json:"jobs"`
	// Flow tells of all together, if that was asked for.
	Flow *Flow `json:"flow,omitempty"`
	// More is how many more jobs were selected.
	More int `json:"more,omitempty"`
	// AsOf is the time at which varqd has read the queue. Learning says that it has learnt only the
	// newest part of the past.
	AsOf     int64 `json:"as_of"`
	Learning bool  `json:"learning,omitempty"`
}

// Waiting tells when a job that waits is forecast to start and to end. A job that is selected and
// does not wait is not told of.
type Waiting struct {
	Job int64 `json:"job"`
	// Array is the number of the array of which Tasks wait, as squeue names them; 0 for a job that
	// is not an array.
	Array     int64  `json:"array,omitempty"`
	Tasks     string `json:"tasks,omitempty"`
	Name      string `json:"name"`
	User      string `json:"user"`
	Account   string `json:"account,omitempty"`
	Partition string `json:"partition"`
	// About is the partition that the answer is about: Partition, or the first of several in it.
	// Slurm may start the job in another of these sooner.
	About  string `json:"about"`
	QOS    string `json:"qos,omitempty"`
	Nodes  int32  `json:"nodes"`
	CPUs   int32  `json:"cpus"`
	Limit  int64  `json:"limit"`  // seconds
	Since  int64  `json:"since"`  // when it began to wait or will, or 0 if nobody knows
	Reason string `json:"reason"` // why it waits, as Slurm says
	// Ahead is how many jobs, or tasks of its own array, go before it in Slurm's order in the
	// partition About, and AheadNodes for how many node-seconds at most.
	Ahead      int   `json:"ahead"`
	AheadNodes int64 `json:"ahead_node_seconds"`
	// Holders are the jobs that have nodes of About. It is nil in an answer about many jobs.
	Holders *Holders `json:"holders,omitempty"`
	// Unknown says why nothing is forecast: a clause without a full stop. Start and End are then
	// nil, and By has nothing.
	Unknown string `json:"unknown,omitempty"`
	// After are the jobs that it waits for, and Eligible is when it is forecast to become eligible
	// after these. AfterAny says that one of them is enough.
	After    []Awaited `json:"after,omitempty"`
	AfterAny bool      `json:"after_any,omitempty"`
	Eligible *Forecast `json:"eligible,omitempty"`
	// Lost is the probability that it never starts, because these do not do what it needs.
	Lost float64 `json:"lost,omitempty"`
	// Start and End are when it is forecast to start and to end; of an array, when the first of Tasks
	// starts and when all of them have ended. End is nil of a promised job of somebody else's, whose
	// work may begin later than the job.
	Start *Forecast `json:"start,omitempty"`
	End   *Forecast `json:"end,omitempty"`
	// By has the probabilities of a start by some times.
	By []StartBy `json:"by,omitempty"`
	// Expected is when Slurm itself expects to start it (squeue --start), or 0.
	Expected int64 `json:"slurm_expects,omitempty"`
	// Why says what else keeps it: sentences without a full stop.
	Why []string `json:"why,omitempty"`
	// Help are changes with which the job would start much sooner: none help if it is empty, and none
	// were tried if it is nil.
	Help []Help `json:"help,omitzero"`
	// Promised is what is promised about the job: with which probability it runs, or has ended, by
	// BeginBy or FinishBy.
	Plan     string  `json:"plan,omitempty"`
	Prob     float64 `json:"prob,omitempty"`
	BeginBy  int64   `json:"begin_by,omitempty"`
	FinishBy int64   `json:"finish_by,omitempty"`
	Evidence
}

// Holders are the jobs that have nodes of a partition.
type Holders struct {
	Jobs  int `json:"jobs"`
	Nodes int `json:"nodes"` // that they have
	Of    int `json:"of"`    // nodes of the partition
	// Until is when the first of their time limits ends, or 0 if that is not known, and First the job
	// whose limit that is, or 0 if it is not the asker's to see.
	Until int64 `json:"until,omitempty"`
	First int64 `json:"first,omitempty"`
}

// Awaited is a job that another waits for, or some tasks of an array.
type Awaited struct {
	Job   int64  `json:"job"`
	Array int64  `json:"array,omitempty"`
	Tasks string `json:"tasks,omitempty"`
	// Kind is what it has to do, as sbatch's --dependency names that, such as "afterok", and Delay
	// how many seconds have to pass after that.
	Kind  string `json:"kind"`
	Delay int64  `json:"delay,omitempty"`
	// Prob is the probability that it does that once it has started, and By when it is forecast to.
	Prob float64   `json:"prob"`
	By   *Forecast `json:"by"`
}

// Forecast is a time as it is forecast. Either is 0 if it is not within reach of the forecast.
type Forecast struct {
	Median int64 `json:"median"` // as likely before as after
	Late   int64 `json:"late"`   // before it with probability .9
}

// StartBy is the probability of a start by a time.
type StartBy struct {
	At   int64   `json:"at"`
	Prob float64 `json:"prob"`
}

// Help is a change of a waiting job, and when the job would start with it.
type Help struct {
	Limit int64    `json:"limit,omitempty"` // another time limit, seconds
	Nodes int32    `json:"nodes,omitempty"` // another number of nodes
	Start Forecast `json:"start"`
}
