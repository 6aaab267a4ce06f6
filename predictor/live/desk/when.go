package desk

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/flow"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/promise/negotiate"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// ObserveQueue notes the jobs of the whole queue, by id. They must not be changed afterwards.
func (d *Desk) ObserveQueue(jobs map[int64]*slurm.QueueEntry) { d.queue.Store(newQueue(jobs)) }

// When tells when the jobs that a query selects are forecast to start and to end: of those that
// wait and that user may see, the first api.MostWhen in Slurm's order. The errors are faults of
// package api.
//
// If that takes long, it tells of fewer. With n jobs in the queue it takes O(n log n), and O(n) and
// a few forecasts for each of the jobs.
func (d *Desk) When(ctx context.Context, user string, q api.WhenQuery) (api.When, error) {
	queue := d.queue.Load()
	if queue == nil {
		return api.When{}, api.Fault(api.ErrUnavailable, "varqd has not read the queue yet: try again in a moment")
	}
	v, err := d.view(ctx, user, nil)
	if err != nil {
		return api.When{}, err
	}
	if err := exist(v.Cluster, strings.Join(q.Partitions, ","), q.Partitions); err != nil {
		return api.When{}, err
	}
	named := slices.Clone(q.Jobs)
	for _, t := range q.ArrayTasks {
		named = append(named, t.Array)
	}
	queue = queue.withNew(ctx, d.Job, named)
	w := waiting{view: v, user: user, queue: queue, room: d.room(d.held(), false)}
	w.gather(maps.Values(queue.jobs))
	answer := api.When{Jobs: []api.Waiting{}, AsOf: d.Outlook.Seen(), Learning: d.Outlook.Learning()}
	began := time.Now()
	var selected []part
	for i, j := range w.jobs {
		if j.User == user || d.Premises.MaySeeJobs(user) {
			selected = append(selected, w.selected(&q, i)...)
		}
	}
	answer.More = max(0, len(selected)-api.MostWhen)
	if len(selected) > 1 {
		d.Outlook.Gather(w.now)
	}
	for n, p := range selected[:len(selected)-answer.More] {
		if ctx.Err() != nil || n > 0 && time.Since(began) > whenTime {
			answer.More = len(selected) - n
			break
		}
		told, err := w.tell(p, len(selected) <= mostDetailed)
		if err != nil {
			return api.When{}, err
		}
		answer.Jobs = append(answer.Jobs, told)
	}
	if q.Flow {
		f := w.graph()
		all, engines := f.named(q.Jobs)
		members := f.members(all)
		answer.Flow = f.whole(members, f.counting(members))
		answer.Flow.Engines = engines
	}
	return answer, v.err()
}

// whenTime bounds the time in which one answer tells of more jobs than one.
const whenTime = time.Second

// mostDetailed is the greatest number of jobs of an answer that also says which jobs have their
// nodes, and what would help.
const mostDetailed = 4

// part is a job that waits or, of an array, some of the tasks that wait together.
type part struct {
	job   int    // which of waiting.jobs
	tasks string // as Slurm lists them; "" for a job that is not an array
	// Of all tasks that wait together, before is how many come before the first of these, and
	// through how many up to the last.
	before, through int32
}

// selected returns the parts of the i-th job that a query selects.
func (w *waiting) selected(q *api.WhenQuery, i int) (parts []part) {
	j, named := w.jobs[i], len(q.Jobs)+len(q.ArrayTasks) > 0
	switch {
	case len(q.Partitions) > 0 && !slices.ContainsFunc(q.Partitions, j.MayRunIn):
		return nil
	case q.User == "" && named, q.User == api.Everybody:
	case j.User != cmp.Or(q.User, w.user):
		return nil
	}
	if !named || slices.Contains(q.Jobs, j.ID) || slices.Contains(q.Jobs, j.ArrayJob) {
		return []part{{i, j.ArrayTasks, 0, int32(j.Count())}}
	}
	for _, t := range q.ArrayTasks {
		if t.Array != j.ArrayJob {
			continue
		}
		if common, before, through := slurm.CommonTasks(j.ArrayTasks, t.Tasks); common != "" {
			parts = append(parts, part{i, common, before, through})
		}
	}
	return parts
}

// waiting is the jobs that wait, in Slurm's order.
type waiting struct {
	*view
	user    string // who asks
	jobs    []*slurm.QueueEntry
	turns   []turn // of jobs
	running []*slurm.QueueEntry
	queue   *queue
	flows   *flows // nil before one waits for another
	// room is beside occupancy.held.
	room func(c workload.Claim, now int64, least float64) workload.Room
}

// turn is the place of a job in an answer. A job that begins later comes after those that are
// eligible, and what is kept comes last.
type turn struct {
	stage stage
	rank
	since, id int64
}

type stage int

const (
	eligible stage = iota
	begins         // later
	kept           // by something that no forecast knows of
)

// within is compare in a partition where both may run.
func (a turn) within(b turn) int {
	a.tier = b.tier
	return a.compare(b)
}

func (a turn) compare(b turn) int {
	return cmp.Or(cmp.Compare(a.stage, b.stage), a.rank.compare(b.rank), cmp.Compare(a.since, b.since), cmp.Compare(a.id, b.id))
}

// stage returns the stage of a job.
func (w *waiting) stage(j *slurm.QueueEntry) stage {
	switch {
	case w.keeps(j) != "":
		return kept
	case j.Eligible > w.now, comesAfter(j):
		return begins
	}
	return eligible
}

// gather takes in the jobs of a queue: those that have nodes, and those that wait, of a
// heterogeneous job the first.
func (w *waiting) gather(queue func(yield func(*slurm.QueueEntry) bool)) {
	for j := range queue {
		switch {
		case j.State != workload.Pending, j.Waking:
			w.running = append(w.running, j)
		case j.HetJob == 0, j.HetJob == j.ID:
			w.jobs = append(w.jobs, j)
		}
	}
	turns := make(map[int64]turn, len(w.jobs))
	for _, j := range w.jobs {
		t := turn{stage: w.stage(j), rank: rankOf(w.Cluster, &j.Job, w.now), id: j.ID}
		switch {
		case comesAfter(j):
			t.since = math.MaxInt64
		case t.stage == begins:
			t.since = j.Eligible
		}
		turns[j.ID] = t
	}
	slices.SortFunc(w.jobs, func(a, b *slurm.QueueEntry) int { return turns[a.ID].compare(turns[b.ID]) })
	for _, j := range w.jobs {
		w.turns = append(w.turns, turns[j.ID])
	}
}

// keeps says what keeps a job from starting that no forecast knows of: a clause without a full
// stop, or "".
func (w *waiting) keeps(j *slurm.QueueEntry) string {
	switch {
	case j.Held:
		return "its user holds it ('scontrol release' lets it go)"
	case j.Stopped != "":
		return "Slurm or an operator holds it (" + j.Stopped + ")"
	case j.NeverStarts():
		return "it never starts: the jobs that it waits for did not end as it needs (" + j.Dependency + "), and 'scancel' removes it"
	case j.Eligible == 0 && !comesAfter(j):
		return "Slurm does not say from when on it may start (" + j.Reason + ")"
	case slurm.BeyondLimit(j.Reason):
		return "it asks for more than a job may have there (" + j.Reason + "), and does not start unless that changes"
	case j.AtLimit && j.Reservation == "":
		return "a limit on what its user or account may have at once keeps it (" + j.Reason + "), and when that changes is not forecast"
	}
	return ""
}

// tell tells of a part. detailed says whether to tell which jobs have its nodes, and to look for
// what would help.
func (w *waiting) tell(p part, detailed bool) (api.Waiting, error) {
	j := w.jobs[p.job]
	told := api.Waiting{
		Job: j.ID, Array: j.ArrayJob, Tasks: p.tasks, Name: j.Name, User: j.User, Account: j.Account, Partition: j.Partition, QOS: j.QOS,
		Nodes: j.Nodes, CPUs: j.CPUs, Limit: j.Limit, Since: j.Eligible, Reason: j.Reason,
	}
	// Slurm tells it of the first task. Of a job that begins later it is the begin time.
	if p.before == 0 && j.Eligible <= w.now {
		told.Expected = j.Expected
	}
	told.About, _, _ = strings.Cut(j.Partition, ",")
	ahead := func(j *slurm.QueueEntry, n int) {
		told.Ahead += n
		told.AheadNodes += int64(n) * int64(max(1, j.Nodes)) * j.Limit
	}
	ahead(j, int(p.before))
	for k, other := range w.jobs {
		if w.turns[k].stage == eligible && w.turns[k].within(w.turns[p.job]) < 0 && other.MayRunIn(told.About) {
			ahead(other, other.Count())
		}
	}
	if detailed {
		told.Holders = w.holders(told.About)
	}
	hold := int64(0) // before which its work does not begin
	plan, promised := api.PlanInComment(j.Comment)
	mine := j.User == w.user || w.desk.Premises.Operator(w.user)
	if promised && mine {
		entries, err := w.desk.Ledger.Select(w.ctx, ledger.Query{Plan: plan, User: j.User, Job: j.ID, Open: true})
		if err != nil {
			return told, w.desk.unread(w.ctx, err)
		}
		for k := range entries {
			e := &entries[k]
			told.Plan, told.Prob, told.BeginBy, told.FinishBy = e.ID, e.Prob, e.BeginBy, e.FinishBy
			hold = e.HoldUntil
		}
	}
	if told.Unknown = w.keeps(j); told.Unknown != "" {
		return told, nil
	}
	asked, err := w.asked(j)
	if err != nil {
		told.Unknown = err.Error()
		return told, nil
	}
	job := w.as(j, asked)
	if rule := ruleAgainst(job); rule != nil {
		told.Unknown = rule.Says
		return told, nil
	}
	if short := job.Shortage(w.now); short != "" {
		told.Why = append(told.Why, short)
	}
	if comesAfter(j) {
		told.Unknown = w.follow(&told, p)
	} else {
		told.Unknown = w.forecast(&told, p, job, hold)
	}
	if promised && !mine { // its work may begin later
		told.End = nil
	}
	if detailed && told.Unknown == "" && !promised && j.Count() == 1 && !comesAfter(j) {
		told.Help = w.help(&told, j, job)
	}
	return told, nil
}

// asked returns what a job asks for, as forecasts want it. Where its user gives a job fewer nodes,
// Slurm tells of as much memory as before: it needs no more than these have.
func (w *waiting) asked(j *slurm.QueueEntry) (workload.Request, error) {
	asked := j.Request
	asked.Partition, _, _ = strings.Cut(j.Partition, ",")
	most := int64(0)
	for _, name := range w.Cluster.Partitions[asked.Partition].Nodes {
		most = max(most, w.Cluster.Nodes[name].Memory)
	}
	if most *= int64(max(1, j.Nodes)); most > 0 {
		asked.Memory = min(asked.Memory, most)
	}
	r, err := w.Cluster.CompleteWith(asked, needsOf(j, &asked))
	r.NodeSet, r.Licences, r.Reservation = asked.NodeSet, asked.Licences, asked.Reservation
	return r, err
}

// as returns a job as one of a request, which may be another than its own.
func (w *waiting) as(j *slurm.QueueEntry, r workload.Request) *limits.Job {
	return w.Cluster.Job(r, needsOf(j, &r))
}

// needsOf returns the needs of a job as one of a request.
func needsOf(j *slurm.QueueEntry, r *workload.Request) *workload.Needs {
	return &workload.Needs{Exclusive: j.Exclusive, MostNodes: max(1, r.Nodes)}
}

// unknownWait is why nothing is forecast of a wait, unless its Down says it.
const unknownWait = "too little is known yet of how long such jobs wait"

// outlookOf forecasts the rest of the wait of a job as one of a request, from a time on, and its
// end in some circumstances, if its work does not begin before hold. It says why if nothing is
// known.
func (w *waiting) outlookOf(j *slurm.QueueEntry, as *limits.Job, hold int64, c completion.Circumstances) (from int64, wait forecast.Answer, end negotiate.Prospect, blocked *api.Blocked, unknown string) {
	from = max(w.now, j.Eligible)
	r := trajectory.Request{Job: as.Request, Pieces: as.Pieces(), ID: j.ID, Now: from, HoldUntil: hold}
	end, blocked, ok := w.desk.prospect(w.Cluster, &r, from-j.Eligible, c, nil, w.roomOf(j), &wait)
	if !ok {
		return from, wait, nil, nil, cmp.Or(wait.Down, unknownWait)
	}
	return from, wait, end, blocked, ""
}

// roomOf returns the room that there is for a job.
func (w *waiting) roomOf(j *slurm.QueueEntry) func(c workload.Claim, now int64, least float64) workload.Room {
	if j.Eligible > w.now {
		return w.desk.room(w.goingBefore(j), false)
	}
	return w.room
}

// goingBefore returns the claims of jobs that run, and of promised and plain jobs that have their
// nodes, as is expected, before a job becomes eligible that waits for its begin time.
func (w *waiting) goingBefore(j *slurm.QueueEntry) []workload.Claim {
	return slices.DeleteFunc(slices.Clone(w.claims), func(c workload.Claim) bool {
		return c.Job == j.ID || !c.Runs && !c.Plain && c.Start >= j.Eligible
	})
}

// waitFrom forecasts the wait of a job as one of a request, or that of the first of some rounds of
// its tasks, from a time at which it will have waited for some seconds. It says why if nothing is
// known.
func (w *waiting) waitFrom(from, waited int64, j *slurm.QueueEntry, as *limits.Job, rounds int32) (wait forecast.Answer, unknown string) {
	r := trajectory.Request{Job: as.Request, Pieces: as.Pieces(), ID: j.ID, Now: from}
	if _, ok := w.desk.starts(w.Cluster, &r, waited, rounds, w.roomOf(j), &wait); !ok {
		return wait, cmp.Or(wait.Down, unknownWait)
	}
	return wait, ""
}

// forecast sets what is forecast of a part, or says why nothing is. Tasks start in order and in
// rounds: as many of them as run at once, and as many again once these have ended.
func (w *waiting) forecast(told *api.Waiting, p part, as *limits.Job, hold int64) (unknown string) {
	j := w.jobs[p.job]
	var first completion.Circumstances // of the first round
	before, all := int32(0), int32(1)  // rounds before the part, and through it
	if j.Count() > 1 {
		round := max(1, as.MostTogether(tasks(j)))
		before, all = p.before/round, rounds(p.through, round)
		first.Tasks, first.Rounds = min(round, p.through), all
		if p.through == p.before+1 { // of one task, its own end
			first.Tasks = 1
		}
	}
	from, wait, end, blocked, unknown := w.outlookOf(j, as, hold, first)
	if unknown != "" {
		return unknown
	}
	told.Start, told.Evidence = startOf(from, &wait.Wait), apiEvidence(&wait.Evidence)
	starts := wait.Wait.Within
	if all > 1 {
		through := w.rounds(j, as, from, hold, first.Tasks, &wait.Wait)
		if end = through(all); before > 0 {
			over := through(before)
			told.Start, starts = byThen(over, from), over.Prob
		}
	}
	told.End = byThen(end, from)
	if hold == 0 && j.Count() == 1 { // as in a flow, where it also ends if its time limit stops it
		if a := w.graph().of(j); a.unknown == "" {
			courses := w.flows.Courses(a.place)
			told.Start, told.End = forecastOf(flow.TimesOf(courses.Start)), forecastOf(flow.TimesOf(courses.End))
		}
	}
	if blocked != nil {
		told.Why = append(told.Why, blocked.Why)
	}
	for _, at := range times(w.now, w.desk.Zone) {
		if at >= from {
			told.By = append(told.By, api.StartBy{At: at, Prob: starts(float64(at - from))})
		} else {
			told.By = append(told.By, api.StartBy{At: at})
		}
	}
	return ""
}

// rounds returns the Prospect of the end of the first rounds of an array, which waits from a time
// on and of which so many tasks run at once. The first round waits so, and its work does not begin
// before hold; each task after it has the nodes of one that has ended.
func (w *waiting) rounds(j *slurm.QueueEntry, as *limits.Job, from, hold int64, tasks int32, wait *delay.Distribution) func(n int32) negotiate.Prospect {
	q := forecast.Question{Request: as.Request, Now: min(w.now, from), Submit: from, Job: j.ID}
	q.Limit = max(1, q.Limit-max(0, hold-j.Eligible))
	work, none := afterHold(wait, max(0, hold-from)), delay.Distribution{}
	for i := range none {
		none[i] = 1
	}
	ended, _ := w.desk.Outlook.Prospect(&q, completion.Circumstances{Tasks: tasks}, &work)
	first, windows := delayed{ended, max(0, hold-from)}, as.Blocked(as.Pieces())
	return func(n int32) negotiate.Prospect {
		if n <= 1 {
			return pausing{first, windows, from, as.Limit}
		}
		more, _ := w.desk.Outlook.Prospect(&q, completion.Circumstances{Tasks: 1, Rounds: n - 1}, &none)
		return pausing{following{first, more}, windows, from, as.Limit}
	}
}

// late is the probability of api.Forecast.Late.
const late = .9

// startOf returns the forecast of a start from the distribution of a wait that begins, or goes on,
// at a time.
func startOf(from int64, wait *delay.Distribution) *api.Forecast {
	at := func(q float64) int64 {
		seconds := wait.Quantile(q)
		if math.IsInf(seconds, 1) {
			return 0
		}
		return from + int64(math.Ceil(seconds))
	}
	return &api.Forecast{Median: at(.5), Late: at(late)}
}

// byThen returns the forecast of an end, which is a number of seconds after a time.
func byThen(end negotiate.Prospect, from int64) *api.Forecast {
	at := func(q float64) int64 {
		seconds, ok := end.Within(q, 1)
		if !ok {
			return 0
		}
		return from + seconds
	}
	return &api.Forecast{Median: at(.5), Late: at(late)}
}

// times returns those by which a start is told of: an hour from now, the end of the day, and eight
// o'clock on the next day.
func times(now int64, zone *time.Location) []int64 {
	today := time.Unix(now, 0).In(zone)
	year, month, day := today.Date()
	return []int64{
		now + 3600,
		time.Date(year, month, day+1, 0, 0, 0, 0, zone).Unix(),
		time.Date(year, month, day+1, 8, 0, 0, 0, zone).Unix(),
	}
}

// A change helps if the median of the start comes sooner by this many seconds, and by this share
// of what is left of the wait.
const (
	leastHelp      = 600
	leastHelpShare = .2
)

// help returns the changes with which a job would start sooner: the longest of some shorter time
// limits, and half of its nodes. If the start is so near that none is tried, it returns nil.
func (w *waiting) help(told *api.Waiting, j *slurm.QueueEntry, as *limits.Job) []api.Help {
	now := told.Start.Median
	if now != 0 && now-w.now < leastHelp {
		return nil
	}
	all := []api.Help{}
	helps := func(r workload.Request) *api.Forecast {
		from := max(w.now, j.Eligible)
		wait, unknown := w.waitFrom(from, from-j.Eligible, j, w.as(j, r), 1)
		if unknown != "" {
			return nil
		}
		start := startOf(from, &wait.Wait)
		sooner := now == 0 || float64(now-start.Median) >= max(leastHelp, leastHelpShare*float64(now-w.now))
		if start.Median == 0 || !sooner {
			return nil
		}
		return start
	}
	for _, share := range shorter {
		less := as.Request
		if less.Limit = slurmtime.Minutes(int64(share*float64(as.Limit))) * 60; less.Limit >= as.Limit {
			continue
		}
		if start := helps(less); start != nil {
			all = append(all, api.Help{Limit: less.Limit, Start: *start})
			break
		}
	}
	if as.Nodes > 1 {
		half := as.Request
		half.Nodes = (as.Nodes + 1) / 2
		share := func(n int64) int64 { return n * int64(half.Nodes) / int64(as.Nodes) }
		half.CPUs, half.GPUs, half.Memory = int32(share(int64(as.CPUs))), int32(share(int64(as.GPUs))), share(as.Memory)
		if start := helps(half); start != nil {
			all = append(all, api.Help{Nodes: half.Nodes, Start: *start})
		}
	}
	return all
}
