package shadow

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// noon is the time at which the tests begin.
const noon = 20_000*86400 + 43_200

// fixture is a Watcher with a real store.
type fixture struct {
	*Watcher
	waits look.Waits
	t     *testing.T
	path  string
	file  *sqlitefile.File
	most  int
	asked int
	fails error
}

func start(t *testing.T, most int) *fixture {
	f := &fixture{t: t, path: filepath.Join(t.TempDir(), "ledger.db"), most: most}
	f.open()
	t.Cleanup(func() { f.file.Close() })
	f.look(noon) // jobs of the first snapshot are not watched
	return f
}

// open starts a Watcher, for which a start within ten minutes has probability .8, and within an
// hour or more .93.
func (f *fixture) open() {
	f.t.Helper()
	f.waits = look.Waits{}
	if f.file != nil {
		f.file.Close()
	}
	var err error
	if f.file, err = statefile.Open(f.path); err != nil {
		f.t.Fatal(err)
	}
	foresee := func(_ *workload.Job, _ int64, waits []int64) ([]float64, error) {
		f.asked++
		probs := make([]float64, len(waits))
		for i, wait := range waits {
			switch {
			case wait >= 3600:
				probs[i] = .93
			case wait >= 600:
				probs[i] = .8
			}
		}
		return probs, f.fails
	}
	f.Watcher, err = New(f.t.Context(), Options{Store: NewStore(f.file), Foresee: foresee, Most: f.most, Rand: rand.New(rand.NewPCG(1, 2))}, noon)
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) look(now int64, queue ...slurm.QueueEntry) {
	f.t.Helper()
	l := look.New(queue, now)
	if err := f.ObserveQueue(f.t.Context(), l, f.waits.Begun(l)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) read(now int64) api.Shadow {
	f.t.Helper()
	s, err := Reader{Store: f.Store, Watching: true, Since: noon, Now: func() int64 { return now }}.Shadow(f.t.Context(), api.ShadowQuery{})
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

// waiting is a job on two nodes that begins to wait at the time at.
func waiting(id, at int64) slurm.QueueEntry {
	return slurm.QueueEntry{Job: workload.Job{
		ID: id, Submit: at, Eligible: at, State: workload.Pending, Request: workload.Request{Partition: "main", Size: workload.Size{Nodes: 2}},
	}}
}

func started(j slurm.QueueEntry, at int64) slurm.QueueEntry {
	j.Start, j.State = at, workload.Running
	return j
}

// The life of some jobs, across a restart of varqd.
func TestJobs(t *testing.T) {
	f := start(t, 100)
	prompt, late, held, gone := waiting(1, noon+10), waiting(2, noon+10), waiting(3, noon+10), waiting(4, noon+10)
	f.look(noon+12, prompt, late, held, gone)
	if f.asked != 4 {
		t.Errorf("asked %d times", f.asked)
	}
	f.open()
	held.Held = true
	f.look(noon+200, started(prompt, noon+110), late, held, gone)
	done := started(prompt, noon+110).Job
	done.End, done.State = noon+1110, workload.Completed
	cancelled := gone.Job
	cancelled.End, cancelled.State = noon+300, workload.Cancelled
	if err := f.ObserveAccounting(t.Context(), []workload.Job{done, cancelled, waiting(9, noon).Job}); err != nil {
		t.Fatal(err)
	}
	f.look(noon+700, started(late, noon+650))
	s := f.read(noon + 1200)
	if !s.Watching || s.Since != noon || s.Jobs != 3 || s.From != noon+10 || s.To != noon+10 || len(s.Rows) != 8 {
		t.Fatalf("%+v", s)
	}
	for i, want := range []api.ShadowRow{
		// Two nodes idle for the rest of ten minutes, or of an hour, before a work of 1000 s.
		{Prob: .5, Kept: 1, Missed: 1, Unknown: 1, Delivered: .5, Held: 2 * 500, Ratio: .5},
		{Prob: .75, Kept: 1, Missed: 1, Unknown: 1, Delivered: .5, Held: 2 * 500, Ratio: .5},
		{Prob: .9, Kept: 2, Unknown: 1, Delivered: 1, Held: 2 * (3500 + 2960), Ratio: 3.5},
		{Prob: .95, Refused: 3},
	} {
		got := s.Rows[i]
		want.Jobs, want.Low, want.High = 3, got.Low, got.High
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		got, want.Partition = s.Rows[4+i], "main"
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// No more than so many jobs of a day are watched, and whether one is does not depend on when it
// came.
func TestSample(t *testing.T) {
	f := start(t, 100)
	const jobs = 3000
	counts := [3]int{}
	for i := range int64(jobs) {
		f.look(noon+10+i, waiting(1+i, noon+10+i))
		if i == jobs/2 {
			f.open() // the sample goes on where it was
			f.look(noon+10+i, waiting(1+i, noon+10+i))
		}
	}
	rows, err := f.Store.rows(t.Context(), 0, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) > 100 || len(rows) < 40 {
		t.Errorf("%d jobs are watched", len(rows))
	}
	for i := range rows {
		counts[(rows[i].ID-1)*3/jobs]++
	}
	for _, n := range counts {
		if n < len(rows)/6 {
			t.Errorf("of the thirds of the day %v are watched", counts)
		}
	}
	if f.asked > 1000 {
		t.Errorf("asked %d times", f.asked)
	}
	// A flood in one look.
	f = start(t, 100)
	var queue []slurm.QueueEntry
	for i := range int64(jobs) {
		queue = append(queue, waiting(1+i, noon+10))
	}
	f.look(noon+12, queue...)
	if f.asked > 100 || f.read(noon+12).Jobs != f.asked {
		t.Errorf("asked %d times", f.asked)
	}
	// The next day has a sample of its own.
	f.look(noon+86400, waiting(9999, noon+86400-1))
	if f.day != 20_001 || len(f.keys) > 1 {
		t.Errorf("day %d, %d keys", f.day, len(f.keys))
	}
}

// While varqd could not promise, nothing is watched.
func TestNotReady(t *testing.T) {
	f := start(t, 100)
	f.fails = errors.New("still loading")
	f.look(noon+12, waiting(1, noon+10))
	if n := f.read(noon + 20).Jobs; n != 0 {
		t.Errorf("%d jobs are watched", n)
	}
}
