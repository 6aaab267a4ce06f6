package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// workload is a cluster, its policy, and all events to come.
type workload struct {
	procs     int32
	order     string // fcfs, lwf or aging
	backfill  sched.Backfill
	protected float64
	restart   *sched.Restart
	start     int64 // when the run begins
	entries   []entry
	acts      []act
}

// entry is a job, and how it comes to the cluster.
type entry struct {
	kind          entryKind
	id            int64
	procs         int32
	submit        int64
	limit         int64
	estimate, run int64
	asked         int64 // start: for a reservation, the one asked for; for a placed job, its own
}

type entryKind uint8

const (
	submitted entryKind = iota
	reserving
	placed  // runs when the run begins
	failure // at submit, takes as many of procs as are free
)

func (k entryKind) String() string {
	return [...]string{"is submitted", "asks for a reservation", "runs already", "takes nodes down"}[k]
}

// act is a call that changes a job. It does nothing if the job's state excludes it.
type act struct {
	at    int64
	kind  actKind
	job   int // index of its entry
	value int64
}

type actKind uint8

const (
	withdraw actKind = iota
	stop
	prolong
	shorten
	reorder
	fail
)

func (k actKind) String() string {
	return [...]string{"withdraw", "stop", "prolong", "shorten", "reorder", "fail"}[k]
}

// happening is what happened to a job.
type happening struct {
	now   int64
	job   int // index of its entry
	what  string
	value int64
}

func (h happening) String() string {
	switch h.what {
	case "reserves":
		return fmt.Sprintf("%d job %d is promised %d", h.now, h.job, h.value)
	case "stops":
		return fmt.Sprintf("%d job %d stops after %d", h.now, h.job, h.value)
	}
	return fmt.Sprintf("%d job %d %s", h.now, h.job, h.what)
}

func (w workload) config() sched.Config {
	c := sched.Config{Procs: w.procs, Backfill: w.backfill, Protected: w.protected, Restart: w.restart}
	switch w.order {
	case "fcfs":
		c.Order = sched.FCFS()
	case "lwf":
		c.Order = sched.LWF()
	case "aging":
		c.Order = sched.Order{Name: "aging", Key: func(now int64, j *sched.Job) float64 {
			return float64(j.Procs) - float64(now-j.Submit)/4
		}}
	}
	return c
}

// String describes w in the message of a failed test.
func (w workload) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d processors, %s/%s, protected %g, restart %+v, from %d on\n", w.procs, w.order, w.backfill, w.protected, w.restart, w.start)
	for i, e := range w.entries {
		fmt.Fprintf(&b, "  job %d (ID %d) %v at %d: %d processors, limit %d, estimate %d, run %d, asked %d\n",
			i, e.id, e.kind, e.submit, e.procs, e.limit, e.estimate, e.run, e.asked)
	}
	for _, a := range w.acts {
		fmt.Fprintf(&b, "  at %d: %v job %d (%d)\n", a.at, a.kind, a.job, a.value)
	}
	return b.String()
}

// player simulates workloads, and records what happens.
type player struct {
	*Simulator
	jobs  []sched.Job
	index map[*sched.Job]int
	phase []phase
	story []happening
}

func (p *player) tell(now int64, what string, j *sched.Job, value int64) {
	p.story = append(p.story, happening{now, p.index[j], what, value})
}

func (p *player) Reserved(now int64, j *sched.Job, _, start int64) {
	p.phase[p.index[j]] = reserved
	p.tell(now, "reserves", j, start)
}

func (p *player) Started(now int64, j *sched.Job) {
	p.phase[p.index[j]] = running
	p.tell(now, "starts", j, 0)
}

func (p *player) Stopped(now int64, j *sched.Job) {
	p.phase[p.index[j]] = queued
	p.stops(now, j)
}

func (p *player) stops(now int64, j *sched.Job) {
	lost := j.Lost
	for _, h := range p.story {
		if h.job == p.index[j] && h.what == "stops" {
			lost -= h.value
		}
	}
	p.tell(now, "stops", j, lost)
}

func (p *player) Ended(now int64, j *sched.Job) {
	p.phase[p.index[j]] = gone
	p.tell(now, "ends", j, 0)
}

// play simulates w from the beginning.
func (p *player) play(w workload) []happening {
	p.announce(w, false)
	p.Drain()
	return p.story
}

// playStreamed simulates w like play, but announces each job only after the job before it
// has arrived.
func (p *player) playStreamed(w workload) []happening {
	p.announce(w, true)
	p.Drain()
	return p.story
}

// playAgain simulates w from the beginning, after an unfinished simulation of it.
func (p *player) playAgain(w workload) []happening {
	p.announce(w, false)
	p.Advance(w.start + 15)
	return p.play(w)
}

func (p *player) announce(w workload, streamed bool) {
	if p.Simulator == nil {
		p.Simulator = New(w.config(), p)
	}
	p.Reset(w.start)
	p.jobs, p.phase, p.story = make([]sched.Job, len(w.entries)), make([]phase, len(w.entries)), nil
	p.index = map[*sched.Job]int{}
	for i, e := range w.entries {
		j := &p.jobs[i]
		*j = sched.Job{ID: e.id, Submit: e.submit, Limit: e.limit, Estimate: e.estimate, Run: e.run, Procs: e.procs}
		p.index[j] = i
		switch e.kind {
		case placed:
			j.Start = e.asked
			p.Place(j)
			p.Started(w.start, j)
		case failure:
			p.Call(e.submit, func(now int64) {
				if j.Procs = min(j.Procs, p.Scheduler().Free()); j.Procs > 0 {
					j.Start = now
					p.Place(j)
					p.Started(now, j)
				}
			})
		}
	}
	for _, a := range w.acts {
		p.Call(a.at, func(now int64) { p.do(now, a) })
	}
	order := make([]int, len(w.entries))
	for i := range order {
		order[i] = i
	}
	if streamed {
		slices.SortStableFunc(order, func(a, b int) int { return int(w.entries[a].submit - w.entries[b].submit) })
	}
	for _, i := range order {
		e, j := w.entries[i], &p.jobs[i]
		if streamed {
			p.Advance(max(p.Now(), e.submit))
		}
		switch e.kind {
		case submitted:
			p.Call(e.submit, func(int64) { p.phase[i] = queued })
			p.Submit(j)
		case reserving:
			p.Reserve(j, e.asked)
		}
	}
}

func (p *player) do(now int64, a act) {
	j, phase := &p.jobs[a.job], p.phase[a.job]
	switch {
	case a.kind == withdraw && (phase == queued || phase == reserved):
		p.Scheduler().Withdraw(now, j)
		p.phase[a.job] = gone
		p.tell(now, "leaves", j, 0)
	case a.kind == stop && phase == running:
		p.Stop(j)
		p.stops(now, j)
		p.phase[a.job] = queued
	case a.kind == prolong && phase == running:
		p.Prolong(j, a.value)
	case a.kind == shorten && (phase == running || phase == queued || phase == reserved):
		p.Shorten(j, a.value)
	case a.kind == reorder:
		p.Scheduler().Reorder(now)
	}
}

// mode is what a workload has besides submitted jobs.
type mode struct {
	name                                   string
	estimates, reservations, restart, acts bool
}

var modes = []mode{
	{name: "plain"},
	{name: "estimates", estimates: true},
	{name: "reservations", reservations: true},
	{name: "restart", estimates: true, reservations: true, restart: true},
	{name: "acts", acts: true},
	{name: "everything", estimates: true, reservations: true, restart: true, acts: true},
}

// make makes a workload from the numbers of below: below(n) returns any number from 0 to
// n-1. There are few different times, so that many events coincide.
func (m mode) make(order string, backfill sched.Backfill, below func(n int) int) workload {
	w := workload{
		procs: int32(1 + below(8)), order: order, backfill: backfill,
		protected: []float64{0, 1, .5, .3}[below(4)], start: int64(below(3) * 50),
	}
	if m.restart {
		w.restart = &[]sched.Restart{{A: 1}, {A: .5, B: -.5}, {B: -1}, {A: .8, B: -.2}, {A: 1, B: 1}}[below(5)]
	}
	ids := below(3)
	now, free := w.start, w.procs
	jobs := 1 + below(14)
	if below(3) == 0 {
		jobs *= 3
	}
	for i := range jobs {
		e := entry{id: int64(i), procs: int32(1 + below(int(w.procs))), limit: int64(1 + below(12))}
		switch ids {
		case 1:
			e.id = int64(100 - i)
		case 2:
			e.id = int64(i * 7 % 43)
		}
		if below(8) == 0 {
			e.procs = w.procs
		}
		now += int64(max(0, below(9)-4))
		e.submit = now
		switch below(4) {
		case 0:
			e.run = int64(below(int(e.limit)))
		case 1:
			e.run = e.limit
		case 2:
			e.run = e.limit + int64(below(5))
		}
		if m.estimates {
			e.estimate = int64(below(int(e.limit) + 2))
		}
		switch kind := below(12); {
		case kind < 3 && m.reservations:
			e.kind = reserving
			e.asked = e.submit + int64(below(24)-3)
		case kind == 3 && e.procs <= free:
			e.kind = placed
			e.asked = w.start - int64(below(12))
			e.submit = e.asked - int64(below(5))
			free -= e.procs
		case kind < 6 && m.acts:
			e.kind = failure
			if below(2) == 0 {
				e.limit, e.run = never, never
			}
		}
		w.entries = append(w.entries, e)
	}
	if m.acts {
		for range below(10) {
			w.acts = append(w.acts, act{
				at: w.start + int64(below(40)), kind: actKind(below(int(fail))),
				job: below(len(w.entries)), value: int64(below(10)),
			})
		}
	}
	return w
}

// differ returns how the simulator's run of w differs from the naive one, or "".
func differ(w workload) (difference string) {
	defer func() {
		if r := recover(); r != nil {
			difference = fmt.Sprint("panic: ", r)
		}
	}()
	want := simulateNaively(w)
	var p player
	for _, play := range []func(workload) []happening{p.play, p.playStreamed, p.playAgain} {
		if got := play(w); !slices.Equal(byJob(got), byJob(want)) {
			return "(-naive +got)\n" + cmp.Diff(tell(want), tell(got))
		}
	}
	return ""
}

// byJob returns a story in the order of the jobs.
func byJob(story []happening) []happening {
	story = slices.Clone(story)
	slices.SortStableFunc(story, func(a, b happening) int { return a.job - b.job })
	return story
}

func tell(story []happening) string {
	var lines []string
	for _, h := range story {
		lines = append(lines, h.String())
	}
	return strings.Join(lines, "\n")
}

// smallest removes everything from w that is not needed to make it differ.
func smallest(w workload) workload {
	for shrunk := true; shrunk; {
		shrunk = false
		for i := range w.acts {
			less := w
			less.acts = slices.Delete(slices.Clone(w.acts), i, i+1)
			if differ(less) != "" {
				w, shrunk = less, true
				break
			}
		}
		for i := range w.entries {
			if less := w.without(i); differ(less) != "" {
				w, shrunk = less, true
				break
			}
		}
	}
	return w
}

// without returns w without a job and its acts.
func (w workload) without(job int) workload {
	w.entries = slices.Delete(slices.Clone(w.entries), job, job+1)
	var acts []act
	for _, a := range w.acts {
		if a.job == job {
			continue
		}
		if a.job > job {
			a.job--
		}
		acts = append(acts, a)
	}
	w.acts = acts
	return w
}

var (
	orders    = []string{"fcfs", "lwf", "aging"}
	backfills = []sched.Backfill{sched.NoBackfill, sched.EASY, sched.Conservative, sched.Timeline}
)

func TestEqualsNaive(t *testing.T) {
	const workloads = 100
	random := rand.New(rand.NewPCG(1, 2))
	for _, order := range orders {
		for _, backfill := range backfills {
			for _, m := range modes {
				t.Run(fmt.Sprintf("%s/%v/%s", order, backfill, m.name), func(t *testing.T) {
					for range workloads {
						if w := m.make(order, backfill, random.IntN); differ(w) != "" {
							w = smallest(w)
							t.Fatalf("%v%s", w, differ(w))
						}
					}
				})
			}
		}
	}
}

func FuzzEqualsNaive(f *testing.F) {
	for i := range byte(8) {
		f.Add([]byte{i, i, i, 7, 2, 2, 9, 3, 1, 5, 11, 2, 6, 8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		below := func(n int) int {
			if len(data) == 0 {
				return 0
			}
			b := data[0]
			data = data[1:]
			return int(b) % n
		}
		m := modes[below(len(modes))]
		w := m.make(orders[below(len(orders))], backfills[below(len(backfills))], below)
		if differ(w) != "" {
			w = smallest(w)
			t.Fatalf("%v%s", w, differ(w))
		}
	})
}
