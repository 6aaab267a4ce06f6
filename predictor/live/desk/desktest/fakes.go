// Package desktest has a Slurm and an Outlook for tests of the packages desk and keeper.
package desktest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/promise/negotiate"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Slurm is a queue and an accounting database. A test can make it fail.
type Slurm struct {
	Pending  map[int64]slurm.QueueEntry
	Accounts map[int64][]workload.Job
	Short    int64            // MaxTime of the partition short; 0 without that partition
	Limits   limits.JobLimits // of the QOS of the partition main

	Reservations limits.Reservations // Slurm's own

	Drained       []string // drained nodes; if there are none, Nodes returns one node only
	EachPartition bool
	PrivateJobs   bool
	PrivateNodes  bool
	PrivateEvents bool
	Federated     bool
	Down          error // returned by every call
	// returned by every Update, which has no effect
	Updates       error
	UpdatesLost   bool                              // Update succeeds and has no effect
	OwnersRefused bool                              // Update as a job's owner is not permitted
	ChangesAtRead map[int64]func(*slurm.QueueEntry) // changes of jobs just before Job reads them
	// this job starts just before Update changes it
	StartsAtUpdate int64
	Gone           map[int64]workload.Job // that slurmctld still shows after their end
	// Accounted fails for these jobs; for all jobs with key 0
	AccountingDown map[int64]bool

	Lists []int    // the lengths of the lists that AccountedAll was asked for
	Calls []string // the calls that change jobs, since the last watch
}

// NewSlurm returns a Slurm with an empty queue.
func NewSlurm() *Slurm {
	return &Slurm{Pending: map[int64]slurm.QueueEntry{}, Accounts: map[int64][]workload.Job{}, AccountingDown: map[int64]bool{}}
}

func (s *Slurm) call(format string, args ...any) {
	s.Calls = append(s.Calls, fmt.Sprintf(format, args...))
}

// Queue returns the queue.
func (s *Slurm) Queue(context.Context) ([]slurm.QueueEntry, error) {
	var list []slurm.QueueEntry
	for _, j := range s.Pending {
		list = append(list, j)
	}
	return list, s.Down
}

// Job returns a job of the queue.
func (s *Slurm) Job(_ context.Context, id int64) (slurm.QueueEntry, error) {
	if j, ok := s.Pending[id]; ok {
		if change := s.ChangesAtRead[id]; change != nil {
			change(&j)
			s.Pending[id] = j
		}
		return j, s.Down
	}
	return slurm.QueueEntry{}, slurm.ErrNotFound
}

// Ended returns a job that has ended.
func (s *Slurm) Ended(_ context.Context, id int64) (workload.Job, error) {
	if j, ok := s.Gone[id]; ok {
		return j, s.Down
	}
	return workload.Job{}, slurm.ErrNotFound
}

// Update refuses a begin time for a job that has started, as Slurm does, and makes the rest of the
// change.
func (s *Slurm) Update(_ context.Context, u slurm.Update) error {
	text := fmt.Sprintf("change job %d:", u.Job)
	if u.BeginTime != 0 {
		text += " begin " + Clock(u.BeginTime)
	}
	if u.TimeLimit != 0 {
		text += " limit " + Span(u.TimeLimit)
	}
	if u.Owner != "" {
		text += " as " + u.Owner
	}
	j := s.Pending[u.Job]
	if u.Job == s.StartsAtUpdate && j.Start == 0 {
		j.Start, j.State = j.Eligible, workload.Running
	}
	err := s.Down
	switch {
	case err != nil:
	case s.Updates != nil:
		err = s.Updates
	case s.OwnersRefused && u.Owner != "":
		err = slurm.ErrPermission
	case u.TimeLimit != 0 && u.Owner != j.User:
		panic("a limit is to be changed as the job's owner")
	case s.UpdatesLost:
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
	s.Pending[u.Job] = j
	if err != nil {
		text += ", which is refused"
	}
	s.call("%s", text)
	return err
}

// Cancel notes the call.
func (s *Slurm) Cancel(_ context.Context, id int64) error {
	s.call("cancel job %d", id)
	return s.Down
}

// Accounted returns the runs of a job that are in accounting.
func (s *Slurm) Accounted(_ context.Context, id int64) ([]workload.Job, error) {
	if s.AccountingDown[id] || s.AccountingDown[0] {
		return nil, slurm.ErrUnavailable
	}
	runs := slices.Clone(s.Accounts[id])
	slices.SortStableFunc(runs, func(a, b workload.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	return runs, s.Down
}

// AccountedAll is Accounted for many jobs.
func (s *Slurm) AccountedAll(ctx context.Context, ids []int64) (map[int64][]workload.Job, error) {
	s.Lists = append(s.Lists, len(ids))
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

// Cluster returns the limits of one or two partitions.
func (s *Slurm) Cluster(context.Context) (limits.Cluster, error) {
	main := limits.Partition{
		Name: "main", Default: true, Up: true, MaxTime: 86400, DefaultTime: 3600, MaxNodes: limits.None, TotalCPUs: 1000,
		Nodes: []string{"a", "b", "c", "d"},
	}
	main.QOS = "mains"
	c := limits.Cluster{
		Partitions:   map[string]limits.Partition{"main": main},
		QOS:          map[string]limits.QOS{"mains": {Name: "mains", JobLimits: s.Limits}},
		Licenses:     map[string]limits.License{"matlab": {Total: 9}},
		Reservations: slices.Clone(s.Reservations),
	}
	c.PrivateJobs = s.PrivateJobs
	c.PrivateNodes, c.PrivateEvents, c.EachPartition = s.PrivateNodes, s.PrivateEvents, s.EachPartition
	c.Name, c.Federated = "lab", s.Federated
	if s.Short != 0 {
		main.Name, main.Default, main.MaxTime = "short", false, s.Short
		c.Partitions["short"] = main
	}
	return c, s.Down
}

// Nodes returns the nodes.
func (s *Slurm) Nodes(context.Context) ([]slurm.Node, error) {
	nodes := []slurm.Node{{Name: "a", CPUs: 250, Partitions: []string{"main"}, Up: true}}
	if len(s.Drained) > 0 {
		for _, name := range []string{"b", "c", "d"} {
			nodes = append(nodes, slurm.Node{Name: name, CPUs: 250, Partitions: []string{"main"}, Up: true})
		}
		for i := range nodes {
			nodes[i].Drained = slices.Contains(s.Drained, nodes[i].Name)
		}
	}
	return nodes, s.Down
}

// Operators returns the one operator.
func (s *Slurm) Operators(context.Context) ([]string, error) { return []string{"oper"}, s.Down }

// Outlook forecasts that every job waits for Delay seconds, and runs for RunTime seconds.
type Outlook struct {
	Delay     int64
	Fallen    float64 // by how much a start in time is less probable than .98
	Lowered   float64 // by how much less than the forecast a promise counts on
	left      int64   // of the wait, by the last forecast of Wait
	RunTime   int64
	Fails     float64  // the probability that a job does not end with exit code 0
	LostNodes []string // lost nodes
	Failing   map[string]float64
	Loading   error
	Learns    bool
	Down      string
	CoveredTo int64
	Rooms     int
	Full      bool
	SeenAt    int64          // when the queue was read
	Known     []workload.Job // the jobs in the queue at SeenAt
	Nodes     int
	Latest    int64 // the latest present time of a question of Wait
	Promised  []Promised
	Asking    []int64       // the jobs of Predict; nil if they are not recorded
	Asked     map[int64]int // by job: the candidates of forecasts; nil if they are not counted
}

// Promised is one call of Promise.
type Promised struct {
	Job, Begin, Limit int64
	Holds             bool
}

// Forecast implements trajectory.Forecaster.
func (p *Outlook) Forecast(_ workload.Request, _ int64, c []workload.Candidate, est []workload.Estimate) {
	for i := range c {
		if p.Asked != nil {
			p.Asked[c[i].Job]++
		}
		est[i] = workload.Estimate{Prob: .1, Sample: 1000, Class: "all"}
		if c[i].Budget >= p.Delay {
			est[i].Prob = .98 - p.Fallen
		}
		est[i].Forecast = est[i].Prob
		est[i].Prob = max(0, est[i].Prob-p.Lowered)
		est[i].Bound = est[i].Prob
		if p.Down != "" {
			est[i] = workload.Estimate{Down: p.Down}
		}
	}
}

// Predict forecasts the wait of any job.
func (p *Outlook) Predict(_ workload.Request, job int64) (a forecast.Answer, ok bool) {
	if p.Asking != nil {
		p.Asking = append(p.Asking, job)
	}
	a.Down = p.Down
	if p.Down != "" {
		return a, false
	}
	for i := delay.Index(float64(p.Delay)); i < delay.Points; i++ {
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
func (p *Outlook) Downey(r workload.Request) (a forecast.Answer, ok bool) {
	a, ok = p.Predict(r, 0)
	return forecast.Answer{Wait: a.Wait, Evidence: forecast.Evidence{Sample: 300, Down: a.Down}}, ok
}

// end is the Prospect of a job that ends after so many seconds, with probability .98.
type end int64

// Prob implements negotiate.Prospect.
func (e end) Prob(seconds float64) float64 {
	if seconds < float64(e) {
		return .1
	}
	return .98
}

// Within implements negotiate.Prospect.
func (e end) Within(prob float64, step int64) (int64, bool) {
	return (int64(e) + step - 1) / step * step, prob <= .98
}

// TimeOut implements negotiate.Prospect.
func (end) TimeOut() float64 { return .05 }

// Lost implements negotiate.Prospect.
func (end) Lost(float64) float64 { return .01 }

// Gather implements desk.Outlook.
func (p *Outlook) Gather(int64) {}

// Wait forecasts the rest of the wait.
func (p *Outlook) Wait(q *forecast.Question, waited int64, a *forecast.Answer) bool {
	p.Latest = max(p.Latest, q.Now)
	*a, _ = p.Predict(q.Request, 0)
	p.left = max(0, p.Delay-waited)
	return p.Down == ""
}

// Prospect forecasts the end. Each round takes as long as the first, and waits unless nothing does.
func (p *Outlook) Prospect(_ *forecast.Question, c completion.Circumstances, wait *delay.Distribution) (negotiate.Prospect, bool) {
	left := p.left
	if wait[0] == 1 {
		left = 0
	}
	return end((left + p.RunTime) * int64(max(1, c.Rounds))), true
}

// FailureProb implements Health.
func (p *Outlook) FailureProb(nodes []string, _, _ int64) float64 {
	prob := 0.
	for _, n := range nodes {
		prob += p.Failing[n]
	}
	return prob
}

// Lost implements Health.
func (p *Outlook) Lost(nodes []string) []string {
	return slices.DeleteFunc(slices.Clone(nodes), func(n string) bool { return !slices.Contains(p.LostNodes, n) })
}

// Rest forecasts the end of a running job.
func (p *Outlook) Rest(_ *forecast.Question, age int64, _ completion.Circumstances) (negotiate.Prospect, bool) {
	return end(max(0, p.RunTime-age)), true
}

// Run implements desk.Outlook.
func (p *Outlook) Run(_ *forecast.Question, age int64, c completion.Circumstances) (func(prob float64) float64, bool) {
	return func(float64) float64 { return float64(max(0, p.RunTime-age) * int64(max(1, c.Rounds))) }, true
}

// Success implements desk.Outlook.
func (p *Outlook) Success(*workload.Job) float64 { return 1 - p.Fails }

// Room has room beside fewer claims than p.Rooms, where 0 stands for no bound. It has none if
// p.Full.
func (p *Outlook) Room(_ workload.Place, _, _ int64, claims []workload.Claim) func(workload.Claim, float64) workload.Room {
	room := workload.Room{Prob: 1}
	if p.Full || p.Rooms > 0 && len(claims) >= p.Rooms {
		room.Prob = 0
	}
	return func(workload.Claim, float64) workload.Room { return room }
}

// Licences has as many free as Room has room.
func (p *Outlook) Licences(_ string, _ int32, job, now int64, claims []workload.Claim) func(workload.Claim, float64) workload.Room {
	return p.Room(workload.Place{}, job, now, claims)
}

// Queue returns how many jobs wait and how many run.
func (p *Outlook) Queue() (waiting, running int) { return 31, 80 }

// Jobs yields the jobs of Known.
func (p *Outlook) Jobs(yield func(*workload.Job) bool) {
	for i := range p.Known {
		if !yield(&p.Known[i]) {
			return
		}
	}
}

// Seen returns SeenAt.
func (p *Outlook) Seen() int64 { return p.SeenAt }

// ObserveCluster counts the nodes.
func (p *Outlook) ObserveCluster(_ *limits.Cluster, nodes []slurm.Node) { p.Nodes = len(nodes) }

// Promise notes the call.
func (p *Outlook) Promise(job int64, _ int32, r workload.Request, begin, _ int64, holds bool) {
	p.Promised = append(p.Promised, Promised{job, begin, r.Limit, holds})
}

// Ready returns Loading.
func (p *Outlook) Ready() error { return p.Loading }

// Learning returns Learns.
func (p *Outlook) Learning() bool { return p.Learns }

// Covered returns CoveredTo.
func (p *Outlook) Covered() int64 { return p.CoveredTo }
