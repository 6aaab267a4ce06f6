package keeper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// fakeSlurm is a queue and an accounting database that do as they are told.
type fakeSlurm struct {
	jobs map[int64]slurm.QueueEntry
	past map[int64][]workload.Job
	err  error // of every call, if set

	failUpdate error
	lostUpdate bool // updates are accepted and have no effect
	updates    []slurm.Update
	cancelled  []int64
}

func (s *fakeSlurm) Queue(context.Context) ([]slurm.QueueEntry, error) {
	var list []slurm.QueueEntry
	for _, j := range s.jobs {
		list = append(list, j)
	}
	return list, s.err
}

func (s *fakeSlurm) Job(_ context.Context, id int64) (slurm.QueueEntry, error) {
	if j, ok := s.jobs[id]; ok {
		return j, s.err
	}
	return slurm.QueueEntry{}, slurm.ErrNotFound
}

func (s *fakeSlurm) Update(_ context.Context, u slurm.Update) error {
	s.updates = append(s.updates, u)
	if s.failUpdate != nil {
		return s.failUpdate
	}
	if s.lostUpdate {
		return s.err
	}
	j := s.jobs[u.Job]
	if u.BeginTime != 0 {
		j.Eligible = u.BeginTime
	}
	if u.TimeLimit != 0 {
		j.Limit = u.TimeLimit
	}
	s.jobs[u.Job] = j
	return s.err
}

func (s *fakeSlurm) Cancel(_ context.Context, id int64) error {
	s.cancelled = append(s.cancelled, id)
	return s.err
}

func (s *fakeSlurm) Accounted(_ context.Context, id int64) ([]workload.Job, error) {
	return s.past[id], s.err
}

func (s *fakeSlurm) Cluster(context.Context) (limits.Cluster, error) {
	return limits.Cluster{Partitions: map[string]limits.Partition{
		"main": {Name: "main", Default: true, Up: true, MaxTime: 86400, DefaultTime: 3600, MaxNodes: limits.None, TotalCPUs: 1000, Nodes: []string{"a", "b", "c", "d"}},
	}}, s.err
}

func (s *fakeSlurm) Nodes(context.Context) ([]slurm.Node, error) {
	return []slurm.Node{{Name: "a", CPUs: 250, Partitions: []string{"main"}, Up: true}}, s.err
}

func (s *fakeSlurm) Operators(context.Context) ([]string, error) { return []string{"oper"}, s.err }

// fakePast forecasts that every job waits for as long as wait says, at most.
type fakePast struct {
	wait     int64
	loading  error
	down     string
	covered  int64
	nodes    int
	promised []promised
}

// promised is what a job was promised a start by, and whether it still holds.
type promised struct {
	job, submit, limit int64
	holds              bool
}

func (p *fakePast) Forecast(_ workload.Request, _ int64, c []workload.Candidate, est []workload.Estimate) {
	for i := range c {
		est[i] = workload.Estimate{Prob: .1, Sample: 1000, Class: "all"}
		if c[i].Budget >= p.wait {
			est[i].Prob = .98
		}
	}
}

func (p *fakePast) Predict(workload.Request) (a forecast.Answer, ok bool) {
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

func (p *fakePast) Queue() (waiting, running int) { return 31, 80 }
func (p *fakePast) Cluster(_ *limits.Cluster, nodes []slurm.Node) {
	p.nodes = len(nodes)
}
func (p *fakePast) Promise(job int64, r workload.Request, submit, _ int64, holds bool) {
	p.promised = append(p.promised, promised{job, submit, r.Limit, holds})
}

func (p *fakePast) Ready() error   { return p.loading }
func (p *fakePast) Covered() int64 { return p.covered }

// site is a keeper among fakes. Time is seconds since the test began, plus
// epoch, which is a whole minute.
type site struct {
	*Keeper
	t     *testing.T
	path  string
	file  *sqlitefile.File // of the ledger
	slurm *fakeSlurm
	past  *fakePast
	clock int64
}

const epoch = 1_800_000_000

func newSite(t *testing.T) *site {
	s := &site{
		t: t, path: filepath.Join(t.TempDir(), "ledger.db"), clock: epoch,
		slurm: &fakeSlurm{jobs: map[int64]slurm.QueueEntry{}, past: map[int64][]workload.Job{}},
		past:  &fakePast{wait: 600},
	}
	s.open()
	t.Cleanup(func() { s.file.Close() })
	return s
}

func (s *site) open() {
	s.t.Helper()
	var err error
	if s.file, err = statefile.Open(s.path); err != nil {
		s.t.Fatal(err)
	}
	s.Keeper = New(Options{
		Ledger: ledger.New(s.file), Slurm: s.slurm, Past: s.past, Now: func() int64 { return s.clock }, Zone: time.UTC,
		Prob: .9, Confidence: .95, Horizon: 86400, Stale: 900, Grace: 300,
		Log: slog.New(slog.DiscardHandler), Metrics: NewMetrics(prometheus.NewRegistry()),
	})
	if err := s.Refresh(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// crash drops the keeper and opens another on the same ledger, as after kill -9.
func (s *site) crash() {
	s.file.Close()
	s.open()
}

func request(beginBy int64) *api.PlanRequest {
	return &api.PlanRequest{Job: workload.Request{Size: workload.Size{Nodes: 2, CPUs: 2}, Limit: 3600}, BeginBy: beginBy}
}

// promise has a reservation promised to user.
func (s *site) promise(user string, req *api.PlanRequest) *api.Plan {
	s.t.Helper()
	answer, err := s.Plan(s.t.Context(), user, req, true)
	if err != nil {
		s.t.Fatal(err)
	}
	if answer.Plan == nil {
		s.t.Fatalf("refused: %+v", answer.Refusal)
	}
	return answer.Plan
}

// submit puts the plan's job into the queue.
func (s *site) submit(user string, id int64, p *api.Plan) {
	s.slurm.jobs[id] = slurm.QueueEntry{Job: workload.Job{
		ID: id, Request: workload.Request{User: user, Account: "phys", Partition: "main", Size: workload.Size{Nodes: 2, CPUs: 2}, Limit: p.TimeLimit},
		Submit: s.clock, Eligible: max(s.clock, p.BeginTime), State: workload.Pending, Comment: "mine " + p.Comment,
	}}
}

// change changes a job in the queue.
func (s *site) change(id int64, do func(j *slurm.QueueEntry)) {
	j := s.slurm.jobs[id]
	do(&j)
	s.slurm.jobs[id] = j
}

// run starts a job of the queue.
func (s *site) run(id, start int64) {
	s.change(id, func(j *slurm.QueueEntry) { j.Start, j.State = start, workload.Running })
}

// end takes a job out of the queue and into accounting.
func (s *site) end(id, end int64, state workload.State) {
	j := s.slurm.jobs[id].Job
	delete(s.slurm.jobs, id)
	j.End, j.State = end, state
	s.slurm.past[id] = append(s.slurm.past[id], j)
}

// at looks at the queue at a time.
func (s *site) at(clock int64) {
	s.t.Helper()
	s.clock = clock
	s.past.covered = clock
	if err := s.Refresh(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	if err := s.watch(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// watch reads the queue and has the keeper watch it, as varqd does.
func (s *site) watch(ctx context.Context) error {
	at := s.clock
	queue, err := s.slurm.Queue(ctx)
	if err == nil {
		_, err = s.Watch(ctx, queue, at)
	}
	return err
}

// reservation returns the one reservation of a plan.
func (s *site) reservation(plan string) ledger.Entry {
	s.t.Helper()
	entries, err := s.Ledger.Select(s.t.Context(), ledger.Query{Plan: plan})
	if err != nil || len(entries) != 1 {
		s.t.Fatalf("%d reservations, %v", len(entries), err)
	}
	return entries[0]
}

// want checks how a reservation stands.
func (s *site) want(plan, state, note string) {
	s.t.Helper()
	if r := s.reservation(plan); r.State != state || !strings.Contains(r.Note, note) || note == "" && r.Note != "" {
		s.t.Errorf("reservation is %s, %q; want %s, %q", r.State, r.Note, state, note)
	}
}

func (s *site) events(plan string) string {
	s.t.Helper()
	events, err := s.Ledger.Events(s.t.Context(), plan)
	if err != nil {
		s.t.Fatal(err)
	}
	var kinds []string
	for _, e := range events {
		kinds = append(kinds, string(e.Kind))
	}
	return strings.Join(kinds, " ")
}

func TestKept(t *testing.T) {
	s := newSite(t)
	deadline := int64(epoch + 7200)
	p := s.promise("alice", request(deadline))
	if p.BeginTime != deadline-600 || p.TimeLimit != 3600+600 || p.HoldUntil != deadline || p.Prob != .9 {
		t.Errorf("plan %+v", p)
	}
	s.submit("alice", 7, p)
	s.at(epoch + 10)
	s.want(p.ID, api.StatePending, "")
	s.run(7, deadline-500)
	s.at(deadline - 490)
	s.want(p.ID, api.StateHolding, "")
	s.at(deadline + 5)
	s.want(p.ID, api.StateRunning, "")
	s.end(7, deadline+1000, workload.Completed)
	s.at(deadline + 1001)
	s.want(p.ID, api.StateKept, "")
	r := s.reservation(p.ID)
	if r.Start != deadline-500 || r.WorkStart != deadline || r.End != deadline+1000 || r.Eligible != p.BeginTime {
		t.Errorf("settled as %+v", r.Reservation)
	}
	if len(s.slurm.updates) != 0 {
		t.Errorf("updates %+v of a job that needed none", s.slurm.updates)
	}
}

// The same course, with the keeper killed before every look and Slurm out of
// reach at every other.
func TestKeptThroughCrashes(t *testing.T) {
	s := newSite(t)
	deadline := int64(epoch + 7200)
	p := s.promise("alice", request(deadline))
	s.crash()
	s.submit("alice", 7, p)
	for _, step := range []struct {
		at    int64
		do    func()
		state string
	}{
		{epoch + 10, func() {}, api.StatePending},
		{deadline - 490, func() { s.run(7, deadline-500) }, api.StateHolding},
		{deadline + 5, func() {}, api.StateRunning},
		{deadline + 1001, func() { s.end(7, deadline+1000, workload.Completed) }, api.StateKept},
	} {
		step.do()
		s.slurm.err = slurm.ErrUnavailable
		s.clock = step.at
		if err := s.watch(t.Context()); !errors.Is(err, slurm.ErrUnavailable) {
			t.Errorf("Watch = %v with Slurm away", err)
		}
		s.slurm.err = nil
		s.crash()
		s.at(step.at)
		s.want(p.ID, step.state, "")
	}
	if got := s.events(p.ID); got != "bound settled" {
		t.Errorf("events: %s", got)
	}
}

func TestModes(t *testing.T) {
	deadline := int64(epoch + 7200)
	window, best := request(deadline), request(deadline)
	window.BeginAfter = deadline - 300
	best.BestEffort = true
	for _, mode := range []struct {
		req       *api.PlanRequest
		workStart int64
	}{
		{window, deadline - 300},
		{best, deadline - 550},
	} {
		s := newSite(t)
		p := s.promise("alice", mode.req)
		s.submit("alice", 7, p)
		s.at(epoch + 10)
		s.run(7, deadline-550)
		s.end(7, deadline-100, workload.Completed)
		s.at(deadline)
		s.want(p.ID, api.StateKept, "")
		if r := s.reservation(p.ID); r.WorkStart != mode.workStart {
			t.Errorf("the work started at deadline - %d, want - %d", deadline-r.WorkStart, deadline-mode.workStart)
		}
	}
}

func TestRefusals(t *testing.T) {
	s := newSite(t)
	s.past.wait = 1 << 40
	answer, err := s.Plan(t.Context(), "alice", request(epoch+7200), true)
	if err != nil || answer.Refusal == nil || answer.Plan != nil {
		t.Errorf("%+v, %v; want a refusal", answer, err)
	}
	if entries, _ := s.Ledger.Select(t.Context(), ledger.Query{}); len(entries) != 0 {
		t.Errorf("a refusal is in the ledger: %+v", entries)
	}
	s.past.wait = 600
	if answer, err := s.Plan(t.Context(), "alice", request(epoch+7200), false); err != nil || answer.Plan == nil || answer.Plan.ID != "" {
		t.Errorf("quote: %+v, %v", answer, err)
	}
	s.past.loading = errors.New("varqd is still loading history: 42%")
	if _, err := s.Plan(t.Context(), "alice", request(epoch+7200), true); !errors.Is(err, api.ErrUnavailable) || !strings.Contains(err.Error(), "42%") {
		t.Errorf("while loading: %v", err)
	}
	s.past.loading = nil
	s.clock += 1000
	if _, err := s.Plan(t.Context(), "alice", request(epoch+7200), true); !errors.Is(err, api.ErrUnavailable) || !strings.Contains(err.Error(), "16 minutes") {
		t.Errorf("with a stale picture: %v", err)
	}
	s.file.Close()
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Plan(t.Context(), "alice", request(epoch+7200), true); !errors.Is(err, api.ErrUnavailable) || !strings.Contains(err.Error(), "none is made") {
		t.Errorf("with a broken ledger: %v", err)
	}
	s.open()
}

// What would hold nodes for too long is refused, with the options that ask for less.
func TestMaxHold(t *testing.T) {
	s := newSite(t)
	s.past.wait = 20_000
	s.MaxHold = 4 // 4 h of holding, and it takes 5.6
	answer, err := s.Plan(t.Context(), "alice", request(epoch+30_000), true)
	if err != nil || answer.Refusal == nil || answer.Refusal.Limit != "varq max_hold" {
		t.Fatalf("%+v, %v", answer, err)
	}
	var offered []string
	for _, o := range answer.Refusal.Offers {
		offered = append(offered, o.Options(request(epoch+30_000), time.UTC)...)
	}
	if diff := cmp.Diff([]string{"--prob=0.1", "--best-effort"}, offered); diff != "" {
		t.Error(diff)
	}
	s.MaxHold = 6
	s.promise("alice", request(epoch+30_000))
}

func TestNobodyFillsTheLedger(t *testing.T) {
	s := newSite(t)
	s.jobless["alice"] = maxJobless - 1
	p := s.promise("alice", request(epoch+7200))
	if _, err := s.Plan(t.Context(), "alice", request(epoch+7200), true); !errors.Is(err, api.ErrConflict) {
		t.Errorf("one too many: %v", err)
	}
	s.promise("bob", request(epoch+7200))
	s.submit("alice", 7, p)
	s.at(epoch + 5) // counts what there really is
	s.promise("alice", request(epoch+7200))
}

func TestBinding(t *testing.T) {
	s := newSite(t)
	p := s.promise("alice", request(epoch+7200))
	// Bob copies the comment, and alice submits twice.
	s.submit("bob", 5, p)
	s.at(epoch + 5)
	s.want(p.ID, api.StatePromised, "")
	s.submit("alice", 9, p)
	s.clock += 10
	s.submit("alice", 8, p)
	s.at(epoch + 20)
	if r := s.reservation(p.ID); r.Job != 9 {
		t.Errorf("bound to job %d, want the first that alice submitted, 9", r.Job)
	}
	ctx := t.Context()
	for _, b := range []struct {
		user string
		job  int64
		want error
	}{
		{"alice", 9, nil},
		{"alice", 8, api.ErrConflict},
		{"alice", 5, api.ErrForbidden},
		{"alice", 99, api.ErrForbidden},
		{"bob", 5, api.ErrNotFound},
	} {
		if err := s.Bind(ctx, b.user, api.Binding{Plan: p.ID, Job: b.job}); !errors.Is(err, b.want) {
			t.Errorf("%s binds job %d: %v, want %v", b.user, b.job, err, b.want)
		}
	}
	s.slurm.err = slurm.ErrUnavailable
	if err := s.Bind(ctx, "alice", api.Binding{Plan: p.ID, Job: 8}); !errors.Is(err, api.ErrUnavailable) {
		t.Errorf("with Slurm away: %v", err)
	}
}

// A job of the same number that is not the plan's is never touched.
func TestReusedJobID(t *testing.T) {
	s := newSite(t)
	p := s.promise("alice", request(epoch+7200))
	s.submit("alice", 7, p)
	s.at(epoch + 5)
	s.change(7, func(j *slurm.QueueEntry) { j.User, j.Submit, j.Comment = "bob", epoch+50, "" })
	s.past.wait = 60 // else it would be moved
	s.at(epoch + 60)
	s.change(7, func(j *slurm.QueueEntry) { j.User = "alice" })
	s.at(epoch + 70)
	if len(s.slurm.updates) != 0 {
		t.Errorf("updates %+v", s.slurm.updates)
	}
}

func TestReplan(t *testing.T) {
	s := newSite(t)
	deadline := int64(epoch + 7200)
	p := s.promise("alice", request(deadline))
	s.submit("alice", 7, p)
	s.at(epoch + 5)
	s.past.wait = 1200 // the queue has become slower
	s.at(epoch + 10)
	if j := s.slurm.jobs[7]; j.Eligible != deadline-1200 || j.Limit != 3600+1200 {
		t.Errorf("the job is eligible at deadline - %d with limit %d", deadline-j.Eligible, j.Limit)
	}
	s.past.wait = 300 // and faster again
	s.at(epoch + 15)
	if j := s.slurm.jobs[7]; j.Eligible != deadline-300 || j.Limit != 3600+300 {
		t.Errorf("the job is eligible at deadline - %d with limit %d", deadline-j.Eligible, j.Limit)
	}
	s.at(deadline - 120) // eligible, and still pending
	if j := s.slurm.jobs[7]; j.Eligible != deadline-300 || j.Limit > 3600+180 {
		t.Errorf("near the deadline the limit is %d", j.Limit)
	}
	if r := s.reservation(p.ID); r.Progress.Yielded || r.BeginTime != deadline-600 {
		t.Errorf("reservation %+v: varq takes its own changes for the user's, or forgot the promise", r)
	}
	if got := s.events(p.ID); got != "bound moved limited moved limited limited" {
		t.Errorf("events: %s", got)
	}
}

// Killed between the ledger and Slurm, or with Slurm not doing what it said, a
// change of varq's own is not taken for one of the user's.
func TestLostUpdate(t *testing.T) {
	s := newSite(t)
	deadline := int64(epoch + 7200)
	p := s.promise("alice", request(deadline))
	s.submit("alice", 7, p)
	s.at(epoch + 5)
	s.past.wait = 1200
	s.slurm.lostUpdate = true
	s.at(epoch + 10)
	s.crash()
	s.slurm.lostUpdate = false
	s.at(epoch + 20)
	if j := s.slurm.jobs[7]; j.Eligible != deadline-1200 {
		t.Errorf("the job is eligible at deadline - %d, want it moved after all", deadline-j.Eligible)
	}
	s.at(epoch + 30)
	s.want(p.ID, api.StatePending, "")
}

// Slurm's refusal of a change is not repeated at every look.
func TestRefusedUpdate(t *testing.T) {
	s := newSite(t)
	p := s.promise("alice", request(epoch+7200))
	s.submit("alice", 7, p)
	s.at(epoch + 5)
	s.past.wait = 1200
	s.slurm.failUpdate = slurm.ErrPermission
	for i := range int64(10) {
		s.at(epoch + 10 + i)
	}
	if len(s.slurm.updates) != 1 {
		t.Errorf("%d tries in ten seconds", len(s.slurm.updates))
	}
	s.slurm.failUpdate = nil
	s.at(epoch + 100)
	s.at(epoch + 105)
	s.want(p.ID, api.StatePending, "")
	if j := s.slurm.jobs[7]; j.Eligible != epoch+7200-1200 {
		t.Error("never tried again")
	}
}

func TestUsersOwnChanges(t *testing.T) {
	deadline := int64(epoch + 7200)
	for name, c := range map[string]struct {
		do   func(j *slurm.QueueEntry)
		note string
	}{
		"limit":         {func(j *slurm.QueueEntry) { j.Limit = 7200 }, "time limit was changed to 02:00:00"},
		"begin earlier": {func(j *slurm.QueueEntry) { j.Eligible = epoch + 60 }, "begin time was changed"},
		"begin later":   {func(j *slurm.QueueEntry) { j.Eligible = epoch + 90000 }, "begin time was changed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			p := s.promise("alice", request(deadline))
			s.submit("alice", 7, p)
			s.at(epoch + 5)
			s.change(7, c.do)
			s.at(epoch + 120)
			s.want(p.ID, api.StatePending, c.note)
			s.past.wait = 1200
			s.crash()
			s.at(epoch + 130)
			if len(s.slurm.updates) != 0 {
				t.Errorf("varq changes the job back: %+v", s.slurm.updates)
			}
			s.run(7, deadline+50)
			s.end(7, deadline+60, workload.Completed)
			s.at(deadline + 100)
			s.want(p.ID, api.StateCancelled, "the user had changed the job")
		})
	}
}

func TestHold(t *testing.T) {
	deadline := int64(epoch + 7200)
	hold := func(j *slurm.QueueEntry) { j.Held, j.Eligible = true, 0 }
	start := func(t *testing.T) (*site, *api.Plan) {
		s := newSite(t)
		p := s.promise("alice", request(deadline))
		s.submit("alice", 7, p)
		s.at(epoch + 5)
		s.change(7, hold)
		s.past.wait = 1200
		s.at(epoch + 10)
		s.want(p.ID, api.StatePending, "held")
		if len(s.slurm.updates) != 0 {
			t.Errorf("a held job is changed: %+v", s.slurm.updates)
		}
		return s, p
	}
	t.Run("released", func(t *testing.T) {
		s, p := start(t)
		s.change(7, func(j *slurm.QueueEntry) { j.Held, j.Eligible = false, p.BeginTime })
		s.at(epoch + 20)
		s.want(p.ID, api.StatePending, "released")
		if j := s.slurm.jobs[7]; j.Eligible != deadline-1200 {
			t.Error("a released job is not looked after any more")
		}
	})
	t.Run("released late", func(t *testing.T) {
		s, p := start(t)
		s.change(7, func(j *slurm.QueueEntry) { j.Held, j.Eligible = false, deadline-100 })
		s.at(deadline - 99)
		s.want(p.ID, api.StatePending, "released")
	})
	t.Run("for good", func(t *testing.T) {
		s, p := start(t)
		s.at(deadline + 10)
		s.want(p.ID, api.StatePending, "not started by the deadline")
		s.run(7, deadline+5000)
		s.end(7, deadline+6000, workload.Completed)
		s.at(deadline + 6001)
		s.want(p.ID, api.StateCancelled, "held")
	})
}

func TestCancelled(t *testing.T) {
	deadline := int64(epoch + 7200)
	for name, c := range map[string]struct {
		end         int64
		start       int64
		state, note string
	}{
		"while pending":                 {end: epoch + 100, state: api.StateCancelled, note: "before the deadline"},
		"while holding":                 {start: deadline - 100, end: deadline - 50, state: api.StateCancelled, note: "before the deadline"},
		"while pending, when it's late": {end: deadline + 50, state: api.StateMissed, note: "not started by the deadline"},
		"while working":                 {start: deadline - 100, end: deadline + 50, state: api.StateKept},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			p := s.promise("alice", request(deadline))
			s.submit("alice", 7, p)
			s.at(epoch + 5)
			s.change(7, func(j *slurm.QueueEntry) { j.Start = c.start })
			s.end(7, c.end, workload.Cancelled)
			s.at(c.end + 1)
			s.want(p.ID, c.state, c.note)
		})
	}
}

func TestMissed(t *testing.T) {
	deadline := int64(epoch + 7200)
	t.Run("run", func(t *testing.T) {
		s := newSite(t)
		p := s.promise("alice", request(deadline))
		s.submit("alice", 7, p)
		s.at(deadline + 10)
		s.at(deadline + 20)
		s.run(7, deadline+100)
		s.at(deadline + 110)
		s.want(p.ID, api.StateRunning, "not started by the deadline")
		s.end(7, deadline+200, workload.Completed)
		s.at(deadline + 300)
		s.want(p.ID, api.StateMissed, "started 100 s after the deadline")
		if len(s.slurm.cancelled) != 0 {
			t.Error("cancelled unasked")
		}
	})
	t.Run("cancel", func(t *testing.T) {
		s := newSite(t)
		req := request(deadline)
		req.OnMiss = "cancel"
		p := s.promise("alice", req)
		s.submit("alice", 7, p)
		s.at(deadline + 1)
		if len(s.slurm.cancelled) != 0 {
			t.Error("cancelled within the clocks' difference")
		}
		s.at(deadline + 3)
		if fmt.Sprint(s.slurm.cancelled) != "[7]" {
			t.Errorf("cancelled %v", s.slurm.cancelled)
		}
		s.end(7, deadline+3, workload.Cancelled)
		s.at(deadline + 10)
		s.want(p.ID, api.StateMissed, "cancelled, as asked for")
	})
	t.Run("node failure while holding", func(t *testing.T) {
		s := newSite(t)
		p := s.promise("alice", request(deadline))
		s.submit("alice", 7, p)
		s.at(epoch + 5)
		s.run(7, deadline-300)
		s.at(deadline - 200)
		s.end(7, deadline-100, workload.Failed)
		s.at(deadline - 90)
		s.want(p.ID, api.StateMissed, "ended (FAILED) before its work could begin")
	})
}

func TestRequeue(t *testing.T) {
	deadline := int64(epoch + 7200)
	requeue := func(s *site, at int64) {
		s.end(7, at, workload.Requeued)
		j := s.slurm.past[7][0]
		s.slurm.jobs[7] = slurm.QueueEntry{Job: workload.Job{
			ID: 7, Request: j.Request, Submit: at, Eligible: at + 120, State: workload.Pending, Comment: j.Comment,
		}, RestartCount: 1}
	}
	t.Run("while holding", func(t *testing.T) {
		s := newSite(t)
		p := s.promise("alice", request(deadline))
		s.submit("alice", 7, p)
		s.at(epoch + 5)
		s.run(7, deadline-550)
		s.at(deadline - 540)
		requeue(s, deadline-500)
		s.at(deadline - 490)
		s.want(p.ID, api.StatePending, "")
		s.run(7, deadline-300)
		s.at(deadline + 10)
		s.want(p.ID, api.StateRunning, "")
		s.end(7, deadline+1000, workload.Completed)
		s.at(deadline + 1010)
		s.want(p.ID, api.StateKept, "")
		if r := s.reservation(p.ID); r.Start != deadline-300 || r.Job != 7 {
			t.Errorf("settled by %+v", r.Reservation)
		}
		if got := s.events(p.ID); !strings.HasPrefix(got, "bound requeued") {
			t.Errorf("events: %s", got)
		}
	})
	t.Run("after its work began", func(t *testing.T) {
		s := newSite(t)
		p := s.promise("alice", request(deadline))
		s.submit("alice", 7, p)
		s.at(epoch + 5)
		s.run(7, deadline-300)
		s.at(deadline + 100)
		requeue(s, deadline+200)
		s.at(deadline + 210)
		s.run(7, deadline+5000)
		s.end(7, deadline+9000, workload.Completed)
		s.at(deadline + 9001)
		s.want(p.ID, api.StateKept, "requeued")
		if r := s.reservation(p.ID); r.Start != deadline-300 || r.WorkStart != deadline {
			t.Errorf("settled by %+v", r.Reservation)
		}
	})
}

func TestNeverSubmitted(t *testing.T) {
	s := newSite(t)
	deadline := int64(epoch + 7200)
	p := s.promise("alice", request(deadline))
	s.at(deadline + 299)
	s.want(p.ID, api.StatePromised, "")
	s.clock = deadline + 5000 // accounting has not been read that far
	if err := s.watch(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.want(p.ID, api.StatePromised, "")
	s.at(deadline + 301)
	s.want(p.ID, api.StateCancelled, "never submitted")
}

// A job that came and went while varqd was down is known from accounting alone.
func TestSettledFromAccountingAlone(t *testing.T) {
	s := newSite(t)
	deadline := int64(epoch + 7200)
	p := s.promise("alice", request(deadline))
	s.submit("alice", 7, p)
	s.submit("bob", 8, p)
	s.run(7, deadline-100)
	s.end(7, deadline+10, workload.Completed)
	s.run(8, deadline-100)
	s.end(8, deadline+10, workload.Completed)
	s.clock = deadline + 50000
	for range 2 {
		if err := s.Learnt(t.Context(), []workload.Job{s.slurm.past[8][0], s.slurm.past[7][0]}); err != nil {
			t.Fatal(err)
		}
	}
	s.want(p.ID, api.StateKept, "")
	if r := s.reservation(p.ID); r.Job != 7 {
		t.Errorf("bound to job %d", r.Job)
	}
}

func TestLostJob(t *testing.T) {
	s := newSite(t)
	deadline := int64(epoch + 7200)
	p := s.promise("alice", request(deadline))
	s.submit("alice", 7, p)
	s.at(epoch + 5)
	delete(s.slurm.jobs, 7)
	s.at(deadline + 5000)
	s.want(p.ID, api.StatePending, "")
	s.at(deadline + 200_000)
	s.want(p.ID, api.StateCancelled, "no trace")
}

// With accounting away, what is in the queue is still looked after.
func TestAccountingAway(t *testing.T) {
	s := newSite(t)
	deadline := int64(epoch + 7200)
	gone, live := s.promise("alice", request(deadline)), s.promise("alice", request(deadline+60))
	s.submit("alice", 7, gone)
	s.submit("alice", 8, live)
	s.at(epoch + 5)
	delete(s.slurm.jobs, 7)
	s.past.wait = 1200
	s.Slurm = accountingAway{s.slurm}
	s.clock = epoch + 10
	if err := s.watch(t.Context()); !errors.Is(err, slurm.ErrUnavailable) {
		t.Errorf("Watch = %v", err)
	}
	if j := s.slurm.jobs[8]; j.Eligible != deadline+60-1200 {
		t.Error("the job in the queue was not moved")
	}
}

type accountingAway struct{ *fakeSlurm }

func (accountingAway) Accounted(context.Context, int64) ([]workload.Job, error) {
	return nil, slurm.ErrUnavailable
}

func TestWhoMaySeeWhat(t *testing.T) {
	s := newSite(t)
	s.promise("alice", request(epoch+7200))
	p := s.promise("bob", request(epoch+7300))
	s.submit("bob", 7, p)
	s.at(epoch + 5)
	for _, c := range []struct {
		asker string
		q     api.ReservationsQuery
		want  int
		err   error
	}{
		{asker: "alice", want: 1},
		{asker: "alice", q: api.ReservationsQuery{Job: 7}},
		{asker: "alice", q: api.ReservationsQuery{User: "bob"}, err: api.ErrForbidden},
		{asker: "alice", q: api.ReservationsQuery{User: api.Everybody}, err: api.ErrForbidden},
		{asker: "carol"},
		{asker: "oper"},
		{asker: "oper", q: api.ReservationsQuery{Job: 7}, want: 1},
		{asker: "oper", q: api.ReservationsQuery{User: "bob"}, want: 1},
		{asker: "oper", q: api.ReservationsQuery{User: api.Everybody}, want: 2},
		{asker: "root", q: api.ReservationsQuery{User: api.Everybody, All: true}, want: 2},
	} {
		list, err := s.Reservations(t.Context(), c.asker, c.q)
		if len(list) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s asks %+v: %d reservations, %v; want %d, %v", c.asker, c.q, len(list), err, c.want, c.err)
		}
		report, err := s.Report(t.Context(), c.asker, api.ReportQuery{User: c.q.User})
		if !errors.Is(err, c.err) {
			t.Errorf("%s reports on %q: %v", c.asker, c.q.User, err)
		}
		if c.err == nil && c.asker == "alice" && c.q.User == "" && report.Rows[0].Promises != 1 {
			t.Errorf("alice's report: %+v", report)
		}
	}
}

func TestOldReservationsAreListedOnlyWhenAsked(t *testing.T) {
	s := newSite(t)
	s.promise("alice", request(epoch+7200))
	s.at(epoch + 7200 + 2*86400)
	for all, want := range map[bool]int{false: 0, true: 1} {
		list, err := s.Reservations(t.Context(), "alice", api.ReservationsQuery{All: all})
		if err != nil || len(list) != want {
			t.Errorf("all=%v: %d, %v", all, len(list), err)
		}
	}
}
