package broker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// world is a site with its varqd and its Slurm, as package broker sees them. It simulates their
// promises, crashes, hangs and lost answers. It is written from the API's description alone.
type world struct {
	name string

	mu       sync.Mutex
	random   *rand.Rand
	trouble  float64 // probability of each fault
	crashes  int     // of varqd, so far; calls from before a crash get no answer
	down     bool    // varqd does not run
	hung     bool    // varqd runs, but answers nothing while it hangs
	slurm    bool    // Slurm answers
	log      []string
	promises map[string]*promise
	jobs     map[int64]*job
}

type promise struct {
	id        string
	until     time.Time // tentative
	confirmed bool      // on disk
	withdrawn bool      // in varqd's memory
	job       int64
}

type job struct {
	promise *promise
	// released jobs may start; the others begin a month later
	released, started, cancelled bool
}

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%6.1f %s: ", time.Since(epoch).Seconds(), w.name)+fmt.Sprintf(format, args...))
}

// epoch is when each bubble of package synctest begins.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (w *world) fails() bool { return w.random.Float64() < w.trouble }

// span returns a random time, most often a short one.
func (w *world) span() time.Duration {
	return time.Duration(w.random.ExpFloat64() * float64([...]time.Duration{10 * time.Millisecond, time.Second, 30 * time.Second}[w.random.IntN(3)]))
}

// ask does something in varqd. Requests and answers may be late or lost.
func (w *world) ask(ctx context.Context, timeout time.Duration, what string, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answer := make(chan error, 1)
	w.mu.Lock()
	crashes, late, lost, unheard := w.crashes, 10*time.Millisecond, w.fails(), w.fails()
	if w.fails() {
		late = w.span()
	}
	w.mu.Unlock()
	go func() {
		if unheard {
			return
		}
		time.Sleep(late)
		for {
			w.mu.Lock()
			if w.down || w.crashes != crashes {
				w.mu.Unlock()
				answer <- errDown
				return
			}
			if !w.hung {
				break
			}
			w.mu.Unlock()
			time.Sleep(100 * time.Millisecond)
		}
		err := do()
		w.note("%s: %v, lost %v", what, err, lost)
		w.mu.Unlock()
		if !lost {
			answer <- err
		}
	}()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return errDown
	}
}

// live makes varqd and Slurm crash and come back until ctx is done, and lets varqd do its part.
func (w *world) live(ctx context.Context) {
	for ctx.Err() == nil {
		w.mu.Lock()
		switch killed, hangs := w.fails(), w.fails(); {
		case killed:
			w.down, w.hung = true, false
			w.crashes++
			for _, p := range w.promises {
				p.withdrawn = false
			}
			w.note("varqd is killed")
		case hangs:
			w.hung = true
			w.note("varqd hangs")
		case w.random.IntN(10) == 0:
			w.down, w.hung = false, false
		}
		if w.fails() {
			w.slurm = false
			w.note("slurmctld is gone")
		} else if w.random.IntN(10) == 0 {
			w.slurm = true
		}
		w.watch()
		w.start()
		w.mu.Unlock()
		sleep(ctx, time.Second)
	}
}

// watch does what varqd does by itself: it moves confirmed jobs, and cancels jobs whose time is
// over.
func (w *world) watch() {
	if w.down || w.hung || !w.slurm {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(w.jobs)) {
		j := w.jobs[id]
		switch p := j.promise; {
		case j.cancelled:
		case p.confirmed && p.job == id:
			j.released = true
		case p.withdrawn || time.Now().After(p.until):
			j.cancelled = true
			w.note("varqd cancels job %d", id)
		}
	}
}

// start lets Slurm start jobs, some at once and others later.
func (w *world) start() {
	for _, id := range slices.Sorted(maps.Keys(w.jobs)) {
		j := w.jobs[id]
		if w.slurm && j.released && !j.cancelled && !j.started && w.random.IntN(3) == 0 {
			j.started = true
			w.note("job %d starts", id)
		}
	}
}

func (w *world) Name() string { return w.name }

func (w *world) Probe(context.Context, api.ProbeRequest) (api.ProbeAnswer, error) {
	return api.ProbeAnswer{}, errors.New("nobody asks")
}

// Submit implements Site. It may fail at each step. The job may come after sbatch has given up.
func (w *world) Submit(ctx context.Context, slot *api.Slot, tentative int64) (got sbatch.Submission, err error) {
	var p *promise
	err = w.ask(ctx, 2*time.Second, "plan", func() error {
		if w.random.IntN(5) == 0 {
			return &sbatch.Refused{Refusal: api.Refusal{Reason: "no"}}
		}
		p = &promise{id: fmt.Sprint(w.name, len(w.promises)), until: time.Now().Add(time.Duration(tentative) * time.Second)}
		w.promises[p.id] = p
		return nil
	})
	if err != nil {
		return got, err
	}
	plan := planFor(slot, p.id)
	got.Plan = &plan
	w.mu.Lock()
	defer w.mu.Unlock()
	submit := func() {
		id := int64(len(w.jobs) + 1)
		w.jobs[id] = &job{promise: p}
		w.note("job %d for %s", id, p.id)
		got.Job = id
	}
	switch killed, late := w.fails(), w.fails(); {
	case killed:
		return got, errors.New("sbatch: killed")
	case late: // slurmctld accepts it after sbatch has given up
		late := w.span()
		go func() {
			time.Sleep(late)
			w.mu.Lock()
			defer w.mu.Unlock()
			submit()
		}()
		return sbatch.Submission{Plan: got.Plan}, errors.New("sbatch: no answer from slurmctld")
	case !w.slurm:
		return got, errors.New("sbatch: no slurmctld")
	}
	submit()
	if w.fails() { // accepted, but the answer is lost
		return got, errors.New("sbatch: killed")
	}
	return got, nil
}

func (w *world) Confirm(ctx context.Context, c api.Confirmation) error {
	return w.ask(ctx, 20*time.Second, "confirm "+c.Plan, func() error {
		p := w.promises[c.Plan]
		switch {
		case p.job != 0 && p.job != c.Job:
			return api.Fault(api.ErrConflict, "another job")
		case p.confirmed:
			return nil
		case p.job == 0 && !w.slurm:
			return api.Fault(api.ErrUnavailable, "Slurm cannot be asked")
		case p.withdrawn || time.Now().After(p.until):
			return api.Fault(api.ErrConflict, "not confirmed in time")
		}
		p.job, p.confirmed = c.Job, true
		return nil
	})
}

func (w *world) Release(ctx context.Context, plan string) error {
	return w.ask(ctx, 2*time.Second, "release "+plan, func() error {
		p := w.promises[plan]
		if p.confirmed {
			return api.Fault(api.ErrConflict, "the promise was confirmed")
		}
		p.withdrawn = true
		return nil
	})
}

func (w *world) Cancel(_ context.Context, p *api.Plan, id int64) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	j := w.jobs[id]
	switch {
	case !w.slurm || w.fails():
		return false, errors.New("squeue: no slurmctld")
	case j.promise.id != p.ID:
		panic("another's job")
	}
	if !j.started {
		j.cancelled = true
		w.note("Slurm cancels job %d", id)
	}
	return j.started, nil
}

// round makes one request in a world of trouble. wrong says what is wrong with the result.
func round(t *testing.T, seed uint64) (wrong, outcome string, log []string) {
	random := rand.New(rand.NewPCG(seed, 1))
	var worlds []*world
	var sites []Site
	life, end := context.WithCancel(t.Context())
	var alive sync.WaitGroup
	for i := range 1 + random.IntN(3) {
		w := &world{
			name: string(rune('a' + i)), random: rand.New(rand.NewPCG(seed, uint64(i+2))), slurm: true,
			trouble: [...]float64{0, .02, .1, .3}[random.IntN(4)], promises: map[string]*promise{}, jobs: map[int64]*job{},
		}
		worlds, sites = append(worlds, w), append(sites, w)
		alive.Go(func() { w.live(life) })
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	if random.IntN(3) == 0 {
		after := time.Duration(random.ExpFloat64() * float64(10*time.Second))
		time.AfterFunc(after, interrupt)
	}
	o := options()
	o.Tentative = []int64{5, 60}[random.IntN(2)]
	out, err := Reserve(ctx, sites, offers(sites...), o)

	// All recover, late messages arrive, and what is due happens.
	time.Sleep(time.Duration(random.IntN(100)) * time.Second)
	end()
	alive.Wait()
	for _, w := range worlds {
		w.mu.Lock()
		w.down, w.hung, w.slurm = false, false, true
		w.mu.Unlock()
	}
	time.Sleep(20 * time.Minute)
	var doubt *Doubt
	errors.As(err, &doubt)
	started := map[string]bool{}
	left := map[string]bool{}
	for _, w := range worlds {
		w.mu.Lock()
		w.watch()
		for id, j := range w.jobs {
			name := fmt.Sprint(w.name, " ", id)
			started[name] = j.started || j.released && !j.cancelled
			left[name] = !j.started && !j.released && !j.cancelled
		}
		log = append(log, w.log...)
		w.mu.Unlock()
	}
	no := func(_ string, is bool) bool { return !is }
	maps.DeleteFunc(started, no)
	maps.DeleteFunc(left, no)
	expected := ""
	switch {
	case out.Taken != nil:
		outcome, expected = "taken", fmt.Sprint(out.Taken.Site, " ", out.Taken.Job)
	case doubt != nil:
		outcome, expected = "doubt", fmt.Sprint(doubt.Site, " ", doubt.Job)
	case err != nil:
		outcome = "interrupted"
	default:
		outcome = "nothing"
	}
	delete(started, expected)
	switch {
	case len(left) > 0:
		wrong = fmt.Sprint("left: ", left)
	case len(started) > 0:
		wrong = fmt.Sprint("started, but not reserved: ", started)
	case outcome == "taken" && !worldOf(worlds, out.Taken.Site).jobs[out.Taken.Job].promise.confirmed && !worldOf(worlds, out.Taken.Site).jobs[out.Taken.Job].started:
		wrong = "taken, but not confirmed: " + expected
	case outcome == "taken" && worldOf(worlds, out.Taken.Site).jobs[out.Taken.Job].cancelled:
		wrong = "taken, but cancelled: " + expected
	}
	return wrong, outcome, log
}

func worldOf(worlds []*world, name string) *world {
	return worlds[slices.IndexFunc(worlds, func(w *world) bool { return w.name == name })]
}

// TestFaults tests the invariant: whatever happens, at most one job can start, and it is the one
// that the user was told about. No other job is left.
func TestFaults(t *testing.T) {
	rounds := uint64(10_000)
	if testing.Short() {
		rounds = 1000
	}
	outcomes := map[string]int{}
	for seed := range rounds {
		synctest.Test(t, func(t *testing.T) {
			wrong, outcome, log := round(t, seed)
			outcomes[outcome]++
			if wrong != "" {
				t.Fatalf("seed %d: %s: %s\n%s", seed, outcome, wrong, strings.Join(log, "\n"))
			}
		})
		if t.Failed() {
			return
		}
	}
	t.Log(outcomes)
	for _, o := range []string{"taken", "doubt", "interrupted", "nothing"} {
		if outcomes[o] < int(rounds/1000) {
			t.Errorf("%s: %d of %d", o, outcomes[o], rounds)
		}
	}
}
