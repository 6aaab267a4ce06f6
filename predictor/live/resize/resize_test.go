package resize

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/promise/moldable"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

const start = 1_000_000

// lab is a cluster with one queue, in which waits are as a test sets them.
type lab struct {
	*Resizer
	t     *testing.T
	queue map[int64]*slurm.QueueEntry
	waits map[int32]float64 // by nodes; a size that is not there is refused
	now   int64
	// asked has the jobs about which the Sizer was asked, and updates what Slurm was to change.
	asked   []int64
	updates []slurm.Update
	// fails is the error of the next Update, of which Slurm makes a part if partly is true.
	fails  error
	partly bool
	before func() // happens before an Update
	// blind is the error of the Sizer.
	blind error
}

func newLab(t *testing.T) *lab {
	file, err := statefile.Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	l := &lab{t: t, queue: map[int64]*slurm.QueueEntry{}, waits: map[int32]float64{1: 3600, 4: 600}, now: start}
	l.Resizer = New(Options{Store: NewStore(file), Slurm: l, Sizer: sizer{l}, Now: func() int64 { return l.now }, Log: slog.New(slog.DiscardHandler)})
	return l
}

// sizer is the lab's.
type sizer struct{ *lab }

func (s sizer) Size(_ context.Context, _ string, req *api.SizeRequest) (api.SizeAnswer, error) {
	return api.SizeAnswer{Best: len(req.Sizes) - 1}, nil
}

func (s sizer) SizeOptions(_ context.Context, _ string, req *api.SizeRequest, job int64) (options []moldable.Option, of []int, err error) {
	s.asked = append(s.asked, job)
	for i, size := range req.Sizes {
		if wait, ok := s.waits[size.Nodes]; ok {
			options, of = append(options, moldable.Option{Nodes: size.Nodes, Wait: wait, Run: float64(size.Limit)}), append(of, i)
		}
	}
	return options, of, s.blind
}

func (l *lab) Job(_ context.Context, id int64) (slurm.QueueEntry, error) {
	if j := l.queue[id]; j != nil {
		return *j, nil
	}
	return slurm.QueueEntry{}, slurm.ErrNotFound
}

func (l *lab) Update(_ context.Context, u slurm.Update) error {
	l.updates = append(l.updates, u)
	if l.before != nil {
		l.before()
	}
	err := l.fails
	l.fails = nil
	if j := l.queue[u.Job]; err == nil {
		if j.Start != 0 {
			return slurm.ErrRefused
		}
		j.Nodes, j.Limit, j.Shape.CPUs = u.Resize.Nodes, u.TimeLimit, u.Resize.CPUs
	} else if l.partly {
		j.Shape.CPUs, j.Limit = u.Resize.CPUs, u.TimeLimit
	}
	return err
}

// request is of a job that takes an hour on one node, and 20 minutes on four.
func request() *api.SizeRequest {
	return &api.SizeRequest{
		By: api.SizeAuto, Reconsider: true, TasksPerNode: 2,
		Sizes: []api.Size{
			{Size: workload.Size{Nodes: 1, CPUs: 2}, Limit: 3600},
			{Size: workload.Size{Nodes: 4, CPUs: 8}, Limit: 1200},
		},
	}
}

// submit has varqd choose a size, and submits alice's job with four nodes.
func (l *lab) submit(req *api.SizeRequest) (comment string, j *slurm.QueueEntry) {
	l.t.Helper()
	answer, err := l.Size(l.t.Context(), "alice", req)
	if err != nil {
		l.t.Fatal(err)
	}
	return answer.Comment, l.enqueue("alice", "mine "+answer.Comment)
}

func (l *lab) enqueue(user, comment string) *slurm.QueueEntry {
	j := &slurm.QueueEntry{}
	j.ID, j.User, j.Account, j.Comment, j.Submit, j.Eligible = int64(1+len(l.queue)), user, "phys", comment, l.now, l.now
	j.Size, j.Limit = workload.Size{Nodes: 4, CPUs: 8}, 1200
	j.Shape.CPUs = 8
	l.queue[j.ID] = j
	return j
}

// look looks after a number of seconds.
func (l *lab) look(after int64) error {
	l.now += after
	var queue []slurm.QueueEntry
	for id := range int64(len(l.queue)) {
		if j := l.queue[id+1]; j != nil {
			queue = append(queue, *j)
		}
	}
	return l.Look(l.t.Context(), look.New(queue, l.now))
}

func (l *lab) mustLook(after int64) {
	l.t.Helper()
	if err := l.look(after); err != nil {
		l.t.Fatal(err)
	}
}

// rows returns how many jobs' sizes are not locked in.
func (l *lab) rows() int {
	l.t.Helper()
	all, err := l.Store.all(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return len(all)
}

// A job that waits gets the size that has become better, once, by one change with its user's
// rights.
func TestChange(t *testing.T) {
	l := newLab(t)
	_, j := l.submit(request())
	l.mustLook(30)
	if len(l.asked) != 0 {
		t.Errorf("asked about %v within a minute", l.asked)
	}
	l.mustLook(30)
	if len(l.asked) != 1 || len(l.updates) != 0 {
		t.Errorf("asked about %v, changed %v", l.asked, l.updates)
	}
	l.waits[4] = 18_000
	l.mustLook(59)
	if len(l.asked) != 1 {
		t.Error("asked again within a minute")
	}
	l.mustLook(1)
	want := []slurm.Update{{Job: j.ID, Owner: "alice", TimeLimit: 3600, Resize: &slurm.Resize{Account: "phys", Nodes: 1, Tasks: 2, CPUs: 2, Fewer: true}}}
	if diff := cmp.Diff(want, l.updates); diff != "" {
		t.Fatal(diff)
	}
	// Back it may go, but not at once.
	l.waits[4] = 0
	l.mustLook(settles - 1)
	if len(l.updates) != 1 {
		t.Error("changed back at once")
	}
	l.mustLook(1)
	if len(l.updates) != 2 || j.Nodes != 4 || j.Limit != 1200 {
		t.Errorf("changed %v", l.updates)
	}
	j.Start = l.now
	l.mustLook(20)
	if l.rows() != 0 {
		t.Error("the job has started, and is followed still")
	}
}

// What is not worth a change, or is not known, changes nothing.
func TestNoFlutter(t *testing.T) {
	for name, test := range map[string]struct {
		one, four float64 // waits
		aversion  float64
		changes   bool
	}{
		"a minute sooner":                    {0, 2460, 0, false},
		"more than a minute":                 {0, 2461, 0, true},
		"less than aversion asks for":        {0, 2399 + 241, .2, false},
		"more than aversion asks for":        {0, 2400 + 241, .2, true},
		"what is held is unknown":            {0, math.Inf(1), 0, false},
		"the other is unknown":               {math.Inf(1), 1e6, 0, false},
		"it waits longer, and ends sooner":   {7000, 1e5, 0, true},
		"it would have to wait for too long": {7000, 10_500, 1, false},
	} {
		l := newLab(t)
		req := request()
		req.Aversion = test.aversion
		l.submit(req)
		l.waits = map[int32]float64{1: test.one, 4: test.four}
		l.mustLook(60)
		if changed := len(l.updates) > 0; changed != test.changes || len(l.asked) != 1 {
			t.Errorf("%s: changed: %v, asked %d times", name, changed, len(l.asked))
		}
	}
	l := newLab(t)
	l.submit(request())
	l.waits = map[int32]float64{1: 0}
	l.mustLook(60)
	if len(l.updates) != 0 {
		t.Error("changed, though the size that is held is refused")
	}
}

// A job that somebody else has changed is left alone for good; one that is held, or waits for
// something else, as long as that lasts.
func TestLeftAlone(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*slurm.QueueEntry)
		ends   bool
	}{
		"nodes":       {func(j *slurm.QueueEntry) { j.Nodes = 3 }, true},
		"to a size":   {func(j *slurm.QueueEntry) { j.Nodes, j.Limit = 1, 3600 }, true},
		"limit":       {func(j *slurm.QueueEntry) { j.Limit = 1260 }, true},
		"partition":   {func(j *slurm.QueueEntry) { j.Partition = "long" }, true},
		"tasks":       {func(j *slurm.QueueEntry) { j.Shape.Tasks = 6 }, true},
		"processors":  {func(j *slurm.QueueEntry) { j.Shape.CPUs = 14 }, true},
		"of a node":   {func(j *slurm.QueueEntry) { j.Shape.CPUsPerNode = 4 }, true},
		"deadline":    {func(j *slurm.QueueEntry) { j.Shape.Deadline = start + 1e6 }, true},
		"memory":      {func(j *slurm.QueueEntry) { j.Shape.MemoryPerNode = 7 }, true},
		"comment":     {func(j *slurm.QueueEntry) { j.Comment = "mine" }, true},
		"requeued":    {func(j *slurm.QueueEntry) { j.Submit += 30 }, true},
		"another's":   {func(j *slurm.QueueEntry) { j.User = "bob" }, true},
		"started":     {func(j *slurm.QueueEntry) { j.Start = start + 30 }, true},
		"held":        {func(j *slurm.QueueEntry) { j.Held, j.Eligible = true, 0 }, false},
		"stopped":     {func(j *slurm.QueueEntry) { j.Stopped = "JobHeldAdmin" }, false},
		"begins then": {func(j *slurm.QueueEntry) { j.Eligible = start + 1e6 }, false},
	} {
		l := newLab(t)
		_, j := l.submit(request())
		l.mustLook(30)
		l.waits[4] = 1e5
		as := *j
		test.change(j)
		l.mustLook(30)
		l.mustLook(60)
		if ended := l.rows() == 0; ended != test.ends || len(l.updates) != 0 {
			t.Errorf("%s: ended: %v, changed %v", name, ended, l.updates)
		}
		*j = as
		l.mustLook(60)
		if changed := len(l.updates) > 0; changed == test.ends {
			t.Errorf("%s: later changed: %v", name, changed)
		}
	}
	l := newLab(t)
	_, j := l.submit(request())
	l.mustLook(30)
	delete(l.queue, j.ID)
	l.mustLook(30)
	if l.rows() != 0 {
		t.Error("a job that is gone is followed still")
	}
}

// A job stays as it was submitted if Slurm would not do as its user says with another size.
func TestStays(t *testing.T) {
	for name, as := range map[string]func(*slurm.QueueEntry){
		"a deadline":          func(j *slurm.QueueEntry) { j.Shape.Deadline = start + 1e6 },
		"processors per task": func(j *slurm.QueueEntry) { j.Shape.CPUsPerTask = 2 },
	} {
		l := newLab(t)
		_, j := l.submit(request())
		as(j)
		l.waits[4] = 1e5
		l.mustLook(60)
		l.mustLook(60)
		if len(l.updates) != 0 {
			t.Errorf("%s: changed %v", name, l.updates)
		}
	}
}

// Of several jobs one is changed; the next when that has started, or after a while, as no forecast
// knows of the change.
func TestOneAtATime(t *testing.T) {
	l := newLab(t)
	l.waits[4] = 1e5
	var jobs []*slurm.QueueEntry
	for range 4 {
		_, j := l.submit(request())
		jobs = append(jobs, j)
	}
	changed := func(after int64, want int) {
		t.Helper()
		l.mustLook(after)
		if len(l.updates) != want {
			t.Errorf("changed %v, want %d", l.updates, want)
		}
	}
	changed(60, 1)
	changed(60, 1)
	l.queue[l.updates[0].Job].Start = l.now
	changed(60, 2)
	changed(settles-1, 2)
	changed(1, 3)
	for _, j := range jobs {
		j.Start = max(j.Start, l.now)
	}
	changed(60, 3)
}

// A comment that was copied has no effect, whoever's job has it.
func TestCopiedComment(t *testing.T) {
	l := newLab(t)
	l.waits[4] = 1e5
	answer, err := l.Size(t.Context(), "alice", request())
	if err != nil {
		t.Fatal(err)
	}
	l.enqueue("bob", answer.Comment)
	l.enqueue("alice", "varq-size:aaaaaaaaaaaa")
	l.mustLook(60)
	if len(l.updates) != 0 || l.rows() != 1 {
		t.Errorf("changed %v", l.updates)
	}
	own := l.enqueue("alice", answer.Comment)
	l.now++
	l.enqueue("alice", answer.Comment)
	l.mustLook(60)
	if len(l.updates) != 1 || l.updates[0].Job != own.ID {
		t.Errorf("changed %v", l.updates)
	}
	l.mustLook(settles)
	if len(l.updates) != 1 {
		t.Errorf("changed %v", l.updates)
	}
	if plan, is := api.PlanInComment(answer.Comment); is {
		t.Errorf("%s is that of plan %s", answer.Comment, plan)
	}
}

// A job that was submitted otherwise than it was asked for is none of ours; one that never comes is
// forgotten.
func TestUnclaimed(t *testing.T) {
	l := newLab(t)
	_, j := l.submit(request())
	j.Limit = 60
	l.mustLook(20)
	if l.rows() != 0 {
		t.Error("a job of another size is followed")
	}
	if _, err := l.Size(t.Context(), "alice", request()); err != nil {
		t.Fatal(err)
	}
	l.mustLook(unclaimed)
	if l.rows() != 1 {
		t.Error("forgotten too soon")
	}
	l.mustLook(1)
	if l.rows() != 0 {
		t.Error("not forgotten")
	}
}

// A size that cannot be written down is not given, and it is told how one is had nevertheless.
func TestFullDisk(t *testing.T) {
	l := newLab(t)
	if err := l.Store.db.Write(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec("PRAGMA max_page_count = 1"); return err }); err != nil {
		t.Fatal(err)
	}
	var err error
	for range MaxOpen {
		if _, err = l.Size(t.Context(), "bob", request()); err != nil {
			break
		}
	}
	if !errors.Is(err, api.ErrUnavailable) || !strings.HasPrefix(err.Error(), "the size could not be written down") {
		t.Errorf("got %v", err)
	}
}

// Nobody has more than MaxOpen, and a Look makes a bounded number of forecasts, for all jobs in
// their turn.
func TestBounds(t *testing.T) {
	l := newLab(t)
	for range MaxOpen {
		if err := l.Store.add(t.Context(), &row{id: api.NewPlanID(), user: "bob", request: *request(), made: start}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Store.add(t.Context(), &row{id: "x", user: "bob"}); !errors.Is(err, errTooMany) {
		t.Errorf("error %v", err)
	}
	const jobs = most/2 + 50
	for range jobs {
		l.submit(request())
	}
	l.mustLook(60)
	if len(l.asked) != most/2 {
		t.Errorf("asked about %d jobs", len(l.asked))
	}
	l.mustLook(10)
	asked := map[int64]bool{}
	for _, id := range l.asked {
		asked[id] = true
	}
	if len(l.asked) != jobs || len(asked) != jobs {
		t.Errorf("asked %d times about %d jobs", len(l.asked), len(asked))
	}
}

// What is locked in leaves nothing behind, nor does what is chosen where varqd changes no job.
func TestLockedIn(t *testing.T) {
	l := newLab(t)
	req := request()
	req.Reconsider = false
	if comment, _ := l.submit(req); comment != "" || l.rows() != 0 {
		t.Errorf("comment %q, %d rows", comment, l.rows())
	}
	l.Shadow = true
	if _, err := l.Size(t.Context(), "alice", request()); !errors.Is(err, api.ErrConflict) {
		t.Errorf("error %v", err)
	}
}

// A change that Slurm refuses is not tried again; what it has made of it is taken back.
func TestRefused(t *testing.T) {
	for _, partly := range []bool{false, true} {
		l := newLab(t)
		_, j := l.submit(request())
		l.waits[4] = 1e5
		l.fails, l.partly = fmt.Errorf("no: %w", slurm.ErrRefused), partly
		l.mustLook(60)
		if want := map[bool]int{false: 1, true: 2}[partly]; len(l.updates) != want || l.rows() != 0 || j.Limit != 1200 || j.Nodes != 4 || j.Shape.CPUs != 8 {
			t.Errorf("partly %v: changed %+v, the job is %+v", partly, l.updates, j)
		}
	}
}

// What happens to a job between look and change comes first.
func TestMeanwhile(t *testing.T) {
	for name, change := range map[string]func(*slurm.QueueEntry){
		"starts":  func(j *slurm.QueueEntry) { j.Start = start + 61 },
		"held":    func(j *slurm.QueueEntry) { j.Held = true },
		"changed": func(j *slurm.QueueEntry) { j.Limit = 60 },
		"another": func(j *slurm.QueueEntry) { j.User = "bob" },
	} {
		l := newLab(t)
		_, j := l.submit(request())
		l.waits[4] = 1e5
		looked := *j
		change(j)
		l.now += 60
		if err := l.Look(t.Context(), look.New([]slurm.QueueEntry{looked}, l.now)); err != nil || len(l.updates) != 0 {
			t.Errorf("%s: %v, changed %+v", name, err, l.updates)
		}
	}
	// It starts while it is changed: Slurm refuses that.
	l := newLab(t)
	_, j := l.submit(request())
	l.waits[4] = 1e5
	l.before = func() { j.Start = start + 61 }
	l.mustLook(60)
	if len(l.updates) != 1 || l.rows() != 0 || j.Nodes != 4 || j.Limit != 1200 {
		t.Errorf("changed %+v", l.updates)
	}
}

// If Slurm does not answer, the next Look sees what has become of the change.
func TestUnavailable(t *testing.T) {
	for name, test := range map[string]struct {
		becomes func(*slurm.QueueEntry)
		rows    int
		updates int
	}{
		"made":     {func(j *slurm.QueueEntry) { j.Nodes, j.Limit = 1, 3600 }, 1, 1},
		"not made": {func(*slurm.QueueEntry) {}, 1, 2},
		"in part":  {func(j *slurm.QueueEntry) { j.Limit = 3600 }, 0, 2},
	} {
		l := newLab(t)
		_, j := l.submit(request())
		l.waits[4] = 1e5
		l.fails = slurm.ErrUnavailable
		if err := l.look(60); !errors.Is(err, slurm.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
		test.becomes(j)
		l.mustLook(60)
		if len(l.updates) != test.updates || l.rows() != test.rows {
			t.Errorf("%s: changed %+v, %d rows", name, l.updates, l.rows())
		}
	}
	l := newLab(t)
	l.submit(request())
	l.submit(request())
	l.blind = api.ErrUnavailable
	l.mustLook(60)
	if len(l.asked) != 1 || l.rows() != 2 {
		t.Errorf("asked about %v", l.asked)
	}
}
