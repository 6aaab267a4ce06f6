package keeper

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/live/groups"
	"github.com/varq-project/varq/predictor/promise/negotiate"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/hostlist"
	"github.com/varq-project/varq/predictor/workload"
)

// fakeSlurm is a queue and an accounting database. A test can make it fail.
type fakeSlurm struct {
	queue     map[int64]slurm.QueueEntry
	accounted map[int64][]workload.Job
	short     int64            // MaxTime of the partition short; 0 without that partition
	limits    limits.JobLimits // of the QOS of the partition main

	drained        []string // nodes; while there are none, Nodes tells of one node
	privateNodes   bool
	federated      bool
	down           error                             // returned by every call
	updates        error                             // returned by every Update, which has no effect
	updatesLost    bool                              // Update succeeds and has no effect
	ownersRefused  bool                              // Update as a job's owner is not permitted
	changesAtRead  map[int64]func(*slurm.QueueEntry) // changes of jobs just before Job reads them
	startsAtUpdate int64                             // this job starts just before Update changes it
	accountingDown map[int64]bool                    // Accounted fails for these jobs; for all jobs with key 0

	lists []int    // the lengths of the lists that AccountedAll was asked for
	calls []string // the calls that change jobs, since the last watch
}

func newFakeSlurm() *fakeSlurm {
	return &fakeSlurm{queue: map[int64]slurm.QueueEntry{}, accounted: map[int64][]workload.Job{}, accountingDown: map[int64]bool{}}
}

func (s *fakeSlurm) call(format string, args ...any) {
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

func (s *fakeSlurm) Queue(context.Context) ([]slurm.QueueEntry, error) {
	var list []slurm.QueueEntry
	for _, j := range s.queue {
		list = append(list, j)
	}
	return list, s.down
}

func (s *fakeSlurm) Job(_ context.Context, id int64) (slurm.QueueEntry, error) {
	if j, ok := s.queue[id]; ok {
		if change := s.changesAtRead[id]; change != nil {
			change(&j)
			s.queue[id] = j
		}
		return j, s.down
	}
	return slurm.QueueEntry{}, slurm.ErrNotFound
}

// Update refuses a begin time for a job that has started, as Slurm does, and makes the
// rest of the change.
func (s *fakeSlurm) Update(_ context.Context, u slurm.Update) error {
	text := fmt.Sprintf("change job %d:", u.Job)
	if u.BeginTime != 0 {
		text += " begin " + clock(u.BeginTime)
	}
	if u.TimeLimit != 0 {
		text += " limit " + span(u.TimeLimit)
	}
	if u.Owner != "" {
		text += " as " + u.Owner
	}
	j := s.queue[u.Job]
	if u.Job == s.startsAtUpdate && j.Start == 0 {
		j.Start, j.State = j.Eligible, workload.Running
	}
	err := s.down
	switch {
	case err != nil:
	case s.updates != nil:
		err = s.updates
	case s.ownersRefused && u.Owner != "":
		err = slurm.ErrPermission
	case u.TimeLimit != 0 && u.Owner != j.User:
		panic("a limit is to be changed as the job's owner")
	case s.updatesLost:
		text += ", which is lost"
	default:
		if u.TimeLimit != 0 {
			j.Limit = u.TimeLimit
		}
		if u.BeginTime != 0 && j.Start != 0 {
			err = slurm.ErrRefused
		} else if u.BeginTime != 0 {
			j.Eligible = u.BeginTime
		}
	}
	s.queue[u.Job] = j
	if err != nil {
		text += ", which is refused"
	}
	s.call("%s", text)
	return err
}

func (s *fakeSlurm) Cancel(_ context.Context, id int64) error {
	s.call("cancel job %d", id)
	return s.down
}

func (s *fakeSlurm) Accounted(_ context.Context, id int64) ([]workload.Job, error) {
	if s.accountingDown[id] || s.accountingDown[0] {
		return nil, slurm.ErrUnavailable
	}
	runs := slices.Clone(s.accounted[id])
	slices.SortStableFunc(runs, func(a, b workload.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	return runs, s.down
}

func (s *fakeSlurm) AccountedAll(ctx context.Context, ids []int64) (map[int64][]workload.Job, error) {
	s.lists = append(s.lists, len(ids))
	all := map[int64][]workload.Job{}
	for _, id := range ids {
		runs, err := s.Accounted(ctx, id)
		if err != nil {
			return nil, err
		}
		all[id] = runs
	}
	return all, nil
}

func (s *fakeSlurm) Cluster(context.Context) (limits.Cluster, error) {
	main := limits.Partition{
		Name: "main", Default: true, Up: true, MaxTime: 86400, DefaultTime: 3600, MaxNodes: limits.None, TotalCPUs: 1000,
		Nodes: []string{"a", "b", "c", "d"},
	}
	main.QOS = "mains"
	c := limits.Cluster{
		Partitions: map[string]limits.Partition{"main": main},
		QOS:        map[string]limits.QOS{"mains": {Name: "mains", JobLimits: s.limits}},
	}
	c.PrivateNodes = s.privateNodes
	c.Name, c.Federated = "lab", s.federated
	if s.short != 0 {
		main.Name, main.Default, main.MaxTime = "short", false, s.short
		c.Partitions["short"] = main
	}
	return c, s.down
}

func (s *fakeSlurm) Nodes(context.Context) ([]slurm.Node, error) {
	nodes := []slurm.Node{{Name: "a", CPUs: 250, Partitions: []string{"main"}, Up: true}}
	if len(s.drained) > 0 {
		for _, name := range []string{"b", "c", "d"} {
			nodes = append(nodes, slurm.Node{Name: name, CPUs: 250, Partitions: []string{"main"}, Up: true})
		}
		for i := range nodes {
			nodes[i].Drained = slices.Contains(s.drained, nodes[i].Name)
		}
	}
	return nodes, s.down
}

func (s *fakeSlurm) Operators(context.Context) ([]string, error) { return []string{"oper"}, s.down }

// fakeOutlook forecasts that every job waits for wait seconds, and runs for run seconds.
type fakeOutlook struct {
	wait     int64
	left     int64 // of the wait, as Wait has forecast it last
	run      int64
	lost     []string // nodes
	failing  map[string]float64
	loading  error
	learning bool
	down     string
	covered  int64
	room     int
	full     bool
	seen     int64          // when the queue was read
	jobs     []workload.Job // that it showed
	nodes    int
	promised []promised
	waits    []int64       // the jobs of Predict; nil if nobody asks
	asked    map[int64]int // by job: the candidates of forecasts; nil if nobody counts
}

// promised is one call of Promise.
type promised struct {
	job, begin, limit int64
	holds             bool
}

func (p *fakeOutlook) Forecast(_ workload.Request, _ int64, c []workload.Candidate, est []workload.Estimate) {
	for i := range c {
		if p.asked != nil {
			p.asked[c[i].Job]++
		}
		est[i] = workload.Estimate{Prob: .1, Sample: 1000, Class: "all"}
		if c[i].Budget >= p.wait {
			est[i].Prob = .98
		}
	}
}

func (p *fakeOutlook) Predict(_ workload.Request, job int64) (a forecast.Answer, ok bool) {
	if p.waits != nil {
		p.waits = append(p.waits, job)
	}
	a.Down = p.down
	if p.down != "" {
		return a, false
	}
	for i := delay.Index(float64(p.wait)); i < delay.Points; i++ {
		a.Wait[i] = 1
		a.Lower[i] = .93
	}
	a.Evidence = forecast.Evidence{Sample: 1000.6, Class: "all", Recalibrated: 512, Opinions: []forecast.Opinion{
		{Expert: "forest", Weight: .7, Evidence: forecast.Evidence{Sample: 1200}},
		{Expert: "qbets", Weight: .3, Evidence: forecast.Evidence{Sample: 400, Class: "all", Changed: 17}},
	}}
	return a, true
}

// Downey forecasts the same wait without bounds.
func (p *fakeOutlook) Downey(r workload.Request) (a forecast.Answer, ok bool) {
	a, ok = p.Predict(r, 0)
	return forecast.Answer{Wait: a.Wait, Evidence: forecast.Evidence{Sample: 300, Down: a.Down}}, ok
}

// end is the Prospect of a job that ends after so many seconds, with probability .98.
type end int64

func (e end) Prob(seconds float64) float64 {
	if seconds < float64(e) {
		return .1
	}
	return .98
}

func (e end) Within(prob float64, step int64) (int64, bool) {
	return (int64(e) + step - 1) / step * step, prob <= .98
}

func (end) TimeOut() float64 { return .05 }

func (end) Lost(float64) float64 { return .01 }

func (p *fakeOutlook) Wait(q *forecast.Question, waited int64, a *forecast.Answer) bool {
	*a, _ = p.Predict(q.Request, 0)
	p.left = max(0, p.wait-waited)
	return p.down == ""
}

func (p *fakeOutlook) Prospect(*forecast.Question, completion.Circumstances, *delay.Distribution) (negotiate.Prospect, bool) {
	return end(p.left + p.run), true
}

// FailureProb implements Health.
func (p *fakeOutlook) FailureProb(nodes []string, _, _ int64) float64 {
	prob := 0.
	for _, n := range nodes {
		prob += p.failing[n]
	}
	return prob
}

// Lost implements Health.
func (p *fakeOutlook) Lost(list string) []string {
	nodes, _ := hostlist.Expand(list)
	return slices.DeleteFunc(nodes, func(n string) bool { return !slices.Contains(p.lost, n) })
}

func (p *fakeOutlook) Rest(_ *forecast.Question, age int64, _ completion.Circumstances) (negotiate.Prospect, bool) {
	return end(max(0, p.run-age)), true
}

// Room tells of room beside fewer claims than p.room, where 0 stands for no bound; of none if p.full.
func (p *fakeOutlook) Room(_ string, _, _ int64, claims []workload.Claim) func(workload.Claim, float64) workload.Room {
	room := workload.Room{Prob: 1}
	if p.full || p.room > 0 && len(claims) >= p.room {
		room.Prob = 0
	}
	return func(workload.Claim, float64) workload.Room { return room }
}

func (p *fakeOutlook) Queue() (waiting, running int) { return 31, 80 }

func (p *fakeOutlook) Jobs(yield func(*workload.Job) bool) {
	for i := range p.jobs {
		if !yield(&p.jobs[i]) {
			return
		}
	}
}

func (p *fakeOutlook) Seen() int64 { return p.seen }

func (p *fakeOutlook) ObserveCluster(_ *limits.Cluster, nodes []slurm.Node) { p.nodes = len(nodes) }

func (p *fakeOutlook) Promise(job int64, r workload.Request, begin, _ int64, holds bool) {
	p.promised = append(p.promised, promised{job, begin, r.Limit, holds})
}

func (p *fakeOutlook) Ready() error   { return p.loading }
func (p *fakeOutlook) Learning() bool { return p.learning }
func (p *fakeOutlook) Covered() int64 { return p.covered }

// fakeHomes reaches one home, called home, as a peer.
type fakeHomes struct {
	*groups.Groups
	down  error
	lie   func(*api.GateAnswer) // what it answers instead, if not nil
	asked int                   // for states
}

func (h *fakeHomes) Knows(home string) bool { return home == "home" }

func (h *fakeHomes) Claim(ctx context.Context, _ string, c api.GroupClaim) (api.GateAnswer, error) {
	if h.down != nil {
		return api.GateAnswer{}, h.down
	}
	answer, err := h.ClaimGroup(ctx, "varq", c)
	if h.lie != nil {
		h.lie(&answer)
	}
	return answer, err
}

func (h *fakeHomes) States(ctx context.Context, _ string, q api.GroupsQuery) ([]api.GroupState, error) {
	h.asked++
	if h.down != nil {
		return nil, h.down
	}
	states, err := h.GroupStates(ctx, "varq", q)
	if h.lie != nil {
		var a api.GateAnswer
		h.lie(&a)
		for i := range states {
			s := &states[i]
			s.Open, s.At, s.Why = a.Answer == api.GateWait, a.At, a.Why
			if s.Winners = nil; a.Answer == api.GateGo {
				s.Winners = []string{q.Promises[0].Plan, q.Promises[len(q.Promises)-1].Plan}
			}
		}
	}
	return states, err
}

// lies are what a hostile home may answer.
var lies = map[string]func(*api.GateAnswer){
	"none":     nil,
	"huge":     func(a *api.GateAnswer) { *a = api.GateAnswer{Answer: api.GateLost, Why: strings.Repeat("x", 1<<20)} },
	"escapes":  func(a *api.GateAnswer) { *a = api.GateAnswer{Answer: api.GateLost, Why: "\x1b[31mred\nvarq: \u202eno"} },
	"far":      func(a *api.GateAnswer) { *a = api.GateAnswer{Answer: api.GateGo, At: 1 << 40} },
	"past":     func(a *api.GateAnswer) { *a = api.GateAnswer{Answer: api.GateGo, At: -1 << 62} },
	"nonsense": func(a *api.GateAnswer) { *a = api.GateAnswer{Answer: strings.Repeat("maybe", 1<<20)} },
}
