package daemon

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// slowSlurm is a Slurm whose answers take their time on a clock of its own.
type slowSlurm struct {
	*fakeSlurm
	hands
	perJob time.Duration // of the queue
	one    time.Duration // for a single job
	hangs  time.Duration // if not 0, no request is answered, for so long
	fails  error         // what Queue fails with, if not nil, as late as it would answer

	whole, single []time.Time // when the queue, and when single jobs were asked for
	busy          time.Duration
	busyAt        []time.Duration // busy, at the times whole
}

func (s *slowSlurm) take(d time.Duration) {
	s.move(d)
	s.busy += d
}

// hung waits for an answer that does not come, if Slurm hangs.
func (s *slowSlurm) hung() error {
	if s.hangs == 0 {
		return nil
	}
	s.move(s.hangs)
	return slurm.ErrUnavailable
}

func (s *slowSlurm) Clock(ctx context.Context) (ahead, uncertainty time.Duration, err error) {
	if err := s.hung(); err != nil {
		return 0, 0, err
	}
	return s.fakeSlurm.Clock(ctx)
}

func (s *slowSlurm) Queue(ctx context.Context) ([]slurm.QueueEntry, error) {
	s.whole, s.busyAt = append(s.whole, s.now()), append(s.busyAt, s.busy)
	if err := s.hung(); err != nil {
		return nil, err
	}
	queue, err := s.fakeSlurm.Queue(ctx)
	s.take(time.Duration(len(queue)) * s.perJob)
	return queue, cmp.Or(s.fails, err)
}

func (s *slowSlurm) Job(ctx context.Context, id int64) (slurm.QueueEntry, error) {
	s.single = append(s.single, s.now())
	if err := s.hung(); err != nil {
		return slurm.QueueEntry{}, err
	}
	s.take(s.one)
	queue, err := s.fakeSlurm.Queue(ctx)
	if err != nil {
		return slurm.QueueEntry{}, err
	}
	if i := slices.IndexFunc(queue, func(j slurm.QueueEntry) bool { return j.ID == id }); i >= 0 {
		return queue[i], nil
	}
	return slurm.QueueEntry{}, slurm.ErrNotFound
}

// newSlow returns a daemon, which does not run, for a queue of n jobs that wait; slurmrestd
// gives 1,700 of them a second.
func newSlow(t *testing.T, n int) (*Daemon, *slowSlurm) {
	t.Helper()
	s := &slowSlurm{fakeSlurm: &fakeSlurm{past: quick(1000)}, hands: hands{time.Now()}, perJob: time.Second / 1700, one: 300 * time.Millisecond}
	for i := range n {
		s.queue = append(s.queue, slurm.QueueEntry{Job: workload.Job{
			ID: int64(10_000 + i), Request: workload.Request{User: "bob", Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 3600},
			Submit: s.at.Unix() - 600, State: workload.Pending,
		}, Held: true})
	}
	c := testConfig(t)
	c.Watch.Interval, c.Watch.Idle = 5e9, 20e9
	d, err := New(Options{Config: c, Slurm: s, Now: s.now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, s
}

// looked looks at the queue once, and waits until the next look is due.
func (s *slowSlurm) looked(t *testing.T, d *Daemon) {
	t.Helper()
	pause, err := d.look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.move(pause)
	if err := d.reads.overdue(); err != nil {
		t.Fatal(err)
	}
}

// begun has the daemon know the past and the limits, and look at the queue once.
func (s *slowSlurm) begun(t *testing.T, d *Daemon) {
	t.Helper()
	if err := d.ingest.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.pastLoaded.set()
	if err := d.premises.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.looked(t, d)
}

// submitted promises alice a job, and submits it as job 7.
func (s *slowSlurm) submitted(t *testing.T, d *Daemon) *api.Plan {
	t.Helper()
	request := planRequest()
	answer, err := d.desk.Plan(t.Context(), "alice", &request, true)
	if err != nil || answer.Plan == nil {
		t.Fatalf("%+v, %v", answer, err)
	}
	p := answer.Plan
	job := slurm.QueueEntry{Job: workload.Job{
		ID: 7, Request: request.Job, Submit: s.at.Unix(), Eligible: p.BeginTime, State: workload.Pending, Comment: p.Comment,
	}}
	job.User, job.Limit = "alice", p.TimeLimit
	s.setQueue(append(s.queue, job)...)
	return p
}

// promised promises alice a job, and submits it as job 7. It returns the plan once the job was
// found.
func (s *slowSlurm) promised(t *testing.T, d *Daemon) *api.Plan {
	t.Helper()
	s.begun(t, d)
	p := s.submitted(t, d)
	for len(s.whole) < 2 {
		s.looked(t, d)
	}
	return p
}

// Of 20,000 jobs that wait, slurmrestd gives the whole list in 12 s. It is not kept busy for more
// than a tenth of the time, and nevertheless what happens to a promised job is seen within seconds.
func TestLongQueue(t *testing.T) {
	d, s := newSlow(t, 20_000)
	ctx := t.Context()
	p := s.promised(t, d)
	for found := s.now(); s.now().Sub(found) < time.Hour; {
		s.looked(t, d)
	}
	entries, err := d.ledger.Select(ctx, ledger.Query{Plan: p.ID})
	if err != nil || len(entries) != 1 || entries[0].Job != 7 {
		t.Fatalf("%+v, %v", entries, err)
	}
	for i := range s.whole[1:] {
		passed, busy := s.whole[i+1].Sub(s.whole[i]), s.busyAt[i+1]-s.busyAt[i]
		if share := busy.Seconds() / passed.Seconds(); share > .1 {
			t.Errorf("busy for %.3f of the time between two readings of the queue", share)
		}
		if passed > 4*time.Minute {
			t.Errorf("%v passed between two readings of the queue", passed)
		}
	}
	reads := slices.Concat(s.whole[1:], s.single)
	slices.SortFunc(reads, time.Time.Compare)
	for i := range reads[1:] {
		if passed := reads[i+1].Sub(reads[i]); passed > 30*time.Second {
			t.Errorf("%v passed between two readings of the promised job", passed)
		}
	}

	wholes := len(s.whole)
	for len(s.whole) == wholes {
		s.looked(t, d)
	}
	s.queue[len(s.queue)-1].Held, s.queue[len(s.queue)-1].Eligible = true, 0
	wholes = len(s.whole)
	for range 3 {
		s.looked(t, d)
	}
	list, err := d.records.Reservations(ctx, "alice", api.ReservationsQuery{Job: 7})
	if err != nil || len(s.whole) != wholes || !slices.ContainsFunc(list[0].Events, func(e api.Event) bool { return e.Text == "held" }) {
		t.Errorf("after 3 looks at job 7 alone: %+v, %v", list, err)
	}
}

// A failure between two readings of the queue is over when a look at the job succeeds.
func TestFailureBetweenReadings(t *testing.T) {
	d, s := newSlow(t, 20_000)
	s.promised(t, d)
	s.setAway(true)
	for range 3 {
		d.clock.observe(d.clock.host(), 0, time.Second) // so that Slurm's clock is not due
		if _, err := d.look(t.Context()); !errors.Is(err, slurm.ErrUnavailable) {
			t.Errorf("with Slurm away: %v", err)
		}
	}
	s.setAway(false)
	asked := len(s.single)
	s.looked(t, d)
	if len(s.single) != asked+1 || len(s.whole) != 2 {
		t.Errorf("then job 7 was read %d times, the queue %d times", len(s.single)-asked, len(s.whole)-2)
	}
}

// A short queue is read at every look.
func TestShortQueue(t *testing.T) {
	d, s := newSlow(t, 500)
	for began := s.now(); s.now().Sub(began) < 100*d.looks.idle; {
		s.looked(t, d)
	}
	if n := len(s.whole); n < 98 || n > 100 {
		t.Errorf("the queue was read %d times of 100", n)
	}
}

// A promise that is made between two looks is looked at as soon as any that is open, also while
// slurmrestd is to be spared.
func TestPromiseBetweenLooks(t *testing.T) {
	d, s := newSlow(t, 20_000) // 12 s
	s.begun(t, d)
	for range 3 {
		s.looked(t, d)
	}
	p := s.submitted(t, d)
	if err := d.keeper.Bind(t.Context(), "alice", api.Binding{Plan: p.ID, Job: 7}); err != nil {
		t.Fatal(err)
	}
	asked, made := len(s.single), s.now()
	for len(s.single) == asked {
		if s.looked(t, d); s.now().Sub(made) > 2*d.looks.interval {
			t.Fatalf("after %v, job 7 has not been looked at", s.now().Sub(made))
		}
	}
	if len(s.whole) != 1 {
		t.Errorf("the queue was read %d times", len(s.whole))
	}
}

// While Slurm hangs, whatever waits for it, varqd owes nothing: as soon as Slurm is back, the queue
// is read.
func TestHang(t *testing.T) {
	for _, part := range []string{"all of it", "between readings of the clock"} {
		d, s := newSlow(t, 500)
		s.promised(t, d)
		s.hangs = 10 * time.Second
		if part == "all of it" {
			s.move(clockEvery)
		}
		var waiting []func(error)
		for _, kind := range []string{"limits", "accounting", "change", "job"} {
			waiting = append(waiting, d.looks.all.begin(kind, true))
		}
		for range 3 {
			if _, err := d.look(t.Context()); !errors.Is(err, slurm.ErrUnavailable) {
				t.Errorf("%s: while Slurm hangs: %v", part, err)
			}
			s.move(retryFirst)
		}
		s.hangs = 0
		for i, end := range waiting { // one of them is answered after all
			end([]error{slurm.ErrUnavailable, slurm.ErrUnavailable, slurm.ErrUnavailable, nil}[i])
		}
		wholes, singles, back := len(s.whole), len(s.single), s.now()
		for len(s.whole) == wholes {
			if s.looked(t, d); s.now().Sub(back) > 3*d.looks.interval {
				t.Fatalf("%s: %v after Slurm is back, the queue has not been read", part, s.now().Sub(back))
			}
		}
		t.Logf("%s: read within %v, after %d jobs alone", part, s.now().Sub(back), len(s.single)-singles)
	}
}

// Health tells if the queue is not read though that is due, which is not so while nothing is open
// and slurmrestd is to be spared. That is no reason to start varqd again.
func TestNothingRead(t *testing.T) {
	for _, open := range []bool{false, true} {
		d, s := newSlow(t, 500)
		if open {
			s.promised(t, d)
		}
		s.looked(t, d)
		d.looks.all.debt, d.looks.bound.debt = 1e6, 1e6
		reads := len(s.whole) + len(s.single)
		for range 80 { // 6 minutes and more
			pause, err := d.look(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s.move(pause)
		}
		if n := len(s.whole) + len(s.single); n != reads {
			t.Fatalf("with a promise: %v: %d readings", open, n-reads)
		}
		if err := d.reads.overdue(); (err != nil) != open {
			t.Errorf("with a promise: %v: overdue: %v", open, err)
		}
		if err := d.reads.stuck(); err != nil {
			t.Errorf("with a promise: %v: %v", open, err)
		}
	}
}

// However many jobs are submitted with promises, which slurmrestd is asked about one by one, the
// queue is read as often as otherwise.
func TestSubmissionsPutOffNoLook(t *testing.T) {
	d, s := newSlow(t, 500)
	s.begun(t, d)
	p := s.submitted(t, d)
	wholes, began := len(s.whole), s.now()
	for s.now().Sub(began) < 10*time.Minute {
		s.looked(t, d)
		for range 5 { // of another user's job, so that the plan waits for its own
			err := service{Keeper: d.keeper}.Bind(t.Context(), "alice", api.Binding{Plan: p.ID, Job: 10_000})
			if !errors.Is(err, api.ErrForbidden) {
				t.Fatal(err)
			}
		}
	}
	if n := len(s.whole) - wholes; n < 60 {
		t.Errorf("in 10 minutes, the queue was read %d times", n)
	}
}

// However busy the rest keeps slurmrestd, the queue is read twice an hour.
func TestLookIsNotPutOffForEver(t *testing.T) {
	d, s := newSlow(t, 10)
	defer d.looks.all.begin("queue", true)(nil)
	for began := s.now(); s.now().Sub(began) < 10*time.Hour; {
		s.looked(t, d)
	}
	if n := len(s.whole); n < 19 || n > 21 {
		t.Errorf("the queue was read %d times in 10 hours", n)
	}
}

// After a failure the whole queue is read again, and until then the trouble is not over. If it was
// too much for slurmrestd, the pauses between the attempts may become the longer, the longer they
// take.
func TestLookAgainAfterAFailure(t *testing.T) {
	d, s := newSlow(t, 51_000) // 30 s
	s.looked(t, d)
	s.move(10 * time.Minute)
	for fails, want := range map[error]time.Duration{slurm.ErrTooMuch: 5 * time.Minute, slurm.ErrUnavailable: 0} {
		s.fails = fails
		for range 3 {
			d.clock.observe(d.clock.host(), 0, time.Second) // so that Slurm's clock is not due
			pause, err := d.look(t.Context())
			if err == nil || !strings.Contains(err.Error(), "read the queue") || pause.Round(time.Second) != want {
				t.Errorf("%v, %v, want %v", pause, err, want)
			}
			s.move(retryFirst)
		}
	}
	s.fails = nil
	s.looked(t, d)
	if len(s.whole) != 8 {
		t.Errorf("the queue was read %d times", len(s.whole))
	}
}

// slowHistory takes a second before it yields, and one after it.
type slowHistory struct{ *slowSlurm }

func (s slowHistory) History(_ context.Context, _, to int64, progress func(slurm.Progress)) iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		s.take(time.Second)
		if yield(workload.Job{}, nil) {
			s.take(time.Second)
			progress(slurm.Progress{Complete: to})
		}
	}
}

// How long a request takes is measured. Of history, what its reader takes is left out, and it
// makes no debt while the past is loaded.
func TestMetered(t *testing.T) {
	s := &slowSlurm{fakeSlurm: &fakeSlurm{}, hands: hands{time.Unix(1_800_000_000, 0)}, one: time.Second}
	m := metered{slowHistory{s}, newLoad(.1, s.now), newLatch(), newRequestSeconds()}
	dawdle := func() { s.move(time.Second) }
	read := func() {
		for range m.History(t.Context(), 0, 1, func(slurm.Progress) { dawdle() }) {
			dawdle()
		}
	}
	read()
	if busy := m.load.busy["accounting"]; busy != 2 || !m.load.free() {
		t.Errorf("accounting took %v s, %v s are owed", busy, m.load.debt)
	}
	m.loaded.set()
	read()
	if busy := m.load.busy["accounting"]; busy != 4 || m.load.free() {
		t.Errorf("accounting took %v s, %v s are owed", busy, m.load.debt)
	}
	for range m.History(t.Context(), 0, 1, nil) {
		break
	}
	if busy := m.load.busy["accounting"]; busy != 5 {
		t.Errorf("accounting took %v s", busy)
	}
	m.load = newLoad(.1, s.now)
	if _, err := m.Job(t.Context(), 7); err == nil || m.load.busy["job"] != 1 || m.load.free() {
		t.Errorf("%v, %v", err, m.load.busy)
	}
	for outcome, want := range map[string]float64{"answered": 0, "refused": 1} {
		if n := gathered(t, m.took.WithLabelValues("job", outcome).(prometheus.Collector)); n != want {
			t.Errorf("jobs %s took %v s", outcome, n)
		}
	}
	if n := gathered(t, m.took.WithLabelValues("history", "answered").(prometheus.Collector)); n != 5 {
		t.Errorf("history took %v s", n)
	}
	m.load = newLoad(.1, s.now)
	s.setAway(true)
	if _, err := m.Job(t.Context(), 7); err == nil || m.load.busy["job"] != 1 || !m.load.free() {
		t.Errorf("with Slurm away: %v, %v s are owed", err, m.load.debt)
	}
	if n := gathered(t, m.took.WithLabelValues("job", "unanswered").(prometheus.Collector)); n != 1 {
		t.Errorf("jobs unanswered took %v s", n)
	}
}
