package api

// Check returns what is wrong with the request by itself, whoever asks and whatever the cluster is:
// Mistakes, or nil.
func (r *PlanRequest) Check() error {
	var c checker
	c.work(&r.Job, r.Needs, r.Sizes)
	c.array(r.Array, r.Tasks, len(r.Sizes) > 0, r.Finishes())
	c.probability("prob", r.Prob)
	c.either("on_miss", r.OnMiss, OnMissRun, OnMissCancel)
	c.either("risky_nodes", r.RiskyNodes, RiskyAvoid, RiskyAllow)
	if r.Finishes() {
		r.checkEnd(&c)
	} else {
		r.checkStart(&c)
	}
	return c.err()
}

// checkEnd checks a request about the job's end.
func (r *PlanRequest) checkEnd(c *checker) {
	asked := Field("finish_by")
	if r.FinishBy == 0 {
		asked = "risk"
	}
	c.time("finish_by", r.FinishBy)
	c.probability("risk", r.Risk)
	c.span("checkpoint_interval", r.CheckpointInterval, MaxCheckpointInterval)
	c.odd(r.BeginBy != 0, asked, "does not go together with %v: a promise is about the job's start or about its end", Field("begin_by"))
	for _, of := range []struct {
		field Field
		given bool
	}{
		{"begin_after", r.BeginAfter != 0}, {"best_effort", r.BestEffort}, {"max_cost", r.MaxCost != MaxCost{}}, {"trajectory", r.Trajectory},
		{"tentative", r.Tentative != 0}, {"group", r.Group != ""}, {"home", r.Home != ""}, {"group_prob", r.GroupProb != 0},
	} {
		c.odd(of.given, of.field, "does not go together with %v: the job is submitted at once, and its nodes never idle", asked)
	}
	c.odd(r.Tasks != 0, "tasks", "does not go together with %v: it is promised that all tasks of the array have ended", asked)
	c.wrong(r.Array.Tasks > MostTasks, "array.tasks", "a promise is about at most %d tasks, and these are %d", MostTasks, r.Array.Tasks)
	c.odd(len(r.Sizes) > 0, "sizes", "does not go together with %v: it is the start that is promised, and how long the work may take then", asked)
	c.odd(r.Prefer != "", "prefer", "does not go together with %v: it chooses among sizes", asked)
}

// checkStart checks a request about the job's start.
func (r *PlanRequest) checkStart(c *checker) {
	r.checkDeadline(c)
	r.checkShapes(c)
	c.odd(r.CheckpointInterval != 0, "checkpoint_interval", "needs %v: failures put off the job's end, and not its start", Field("finish_by"))
	c.time("begin_after", r.BeginAfter)
	c.wrong(r.BeginBy > 0 && r.BeginAfter > r.BeginBy, "begin_after", "%v is after %v, %v", moment(r.BeginAfter), Field("begin_by"), moment(r.BeginBy))
	c.odd(r.BeginAfter != 0 && r.BestEffort, "begin_after", heldOrNot, Field("best_effort"))
	c.maxCost(r.MaxCost)
	c.between("tentative", r.Tentative, 0, MaxTentative)
	c.probability("group_prob", r.GroupProb)
	c.odd(r.GroupProb != 0 && r.Group == "", "group_prob", "needs %v", Field("group"))
	if r.Group != "" || r.Home != "" {
		c.group(r.Group)
		c.site("home", r.Home)
		c.odd(r.Array.Tasks > 0, "array", "does not go together with %v: a member of a group is one job", Field("group"))
		c.odd(r.Tentative == 0, "group", "needs %v: a member of a group is confirmed once the group is known", Field("tentative"))
	}
}

// heldOrNot is the rule that a time before which the work does not start breaks beside best effort.
const heldOrNot = "does not go together with %v: the one holds the work, the other does not"

// checkDeadline checks by when the job is to start.
func (r *PlanRequest) checkDeadline(c *checker) {
	if r.BeginBy != 0 {
		c.time("begin_by", r.BeginBy)
		return
	}
	lacking := len(c.found)
	for _, of := range []struct {
		field     Field
		given     bool
		startOnly bool
	}{
		{"prob", r.Prob != 0, false}, {"on_miss", r.OnMiss != "", false}, {"risky_nodes", r.RiskyNodes != "", false},
		{"begin_after", r.BeginAfter != 0, true}, {"best_effort", r.BestEffort, true}, {"max_cost", r.MaxCost != MaxCost{}, true}, {"sizes", len(r.Sizes) > 0, true},
	} {
		c.odd(of.given && !of.startOnly, of.field, "needs %v or %v: the time by which the job is to run or to have ended", Field("begin_by"), Field("finish_by"))
		c.odd(of.given && of.startOnly, of.field, "needs %v: the time by which the job is to run", Field("begin_by"))
	}
	c.odd(len(c.found) == lacking, "begin_by", "is missing: say when the work must be running, or with %v when it must have ended", Field("finish_by"))
}

// checkShapes checks that what the request has of one size and of several does not contradict
// itself.
func (r *PlanRequest) checkShapes(c *checker) {
	several := len(r.Sizes) > 0
	c.wrong(several && (r.Job.Nodes != 0 || r.Job.CPUs != 0 || r.Job.Limit != 0), "job", "it has no size and no limit of its own beside %v", Field("sizes"))
	c.odd(several && r.Trajectory, "trajectory", "does not go together with %v: it is that of one size", Field("sizes"))
	c.odd(!several && r.Prefer != "", "prefer", "chooses among %v", Field("sizes"))
}

// maxCost checks a ceiling on the cost of idle nodes.
func (c *checker) maxCost(m MaxCost) {
	c.wrong(!(m.NodeSeconds >= 0 && m.NodeSeconds <= 3600*MaxNodeHours), "max_cost.node_seconds", "%v is not a cost", m.NodeSeconds)
	c.wrong(m.Times != 0 && !(m.Times >= 1 && m.Times <= MaxMultiple), "max_cost.times", "%v is not between 1 and %d", m.Times, MaxMultiple)
	c.odd(m.Times != 0 && m.NodeSeconds != 0, "max_cost.times", "does not go together with %v", Field("max_cost.node_seconds"))
}

func (c *checker) group(id string) {
	c.wrong(!ValidPlanID(id), "group", "%.40q is not the identifier of a group", id)
}
