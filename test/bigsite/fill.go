package bigsite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Filling is how the open reservations came about.
type Filling struct {
	// Reservations is how many there are, InVain how many submissions were refused or failed on the
	// way there, and Seconds how long it took.
	Reservations int     `json:"reservations"`
	InVain       int     `json:"in_vain"`
	Seconds      float64 `json:"seconds"`
}

// clients is how many commands submit jobs at once, askers how many of them ask varqd for promises,
// and takers how many wait for their nodes: slurmctld, which defers, gives them to a hundred at a
// time.
const (
	clients = 8
	askers  = 16
	takers  = 100
)

// fill brings the site to its size.
func (l *lab) fill(ctx context.Context, f *Filling) error {
	if err := l.each(ctx, takers, "jobs run on nodes that are full", l.allocations(), l.allocate); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 2))
	jobs := make([]submission, l.Pending)
	for i := range jobs {
		jobs[i] = l.plain(random)
	}
	if err := l.each(ctx, clients, "jobs are submitted", l.Pending, func(ctx context.Context, i int) error {
		_, err := l.run(ctx, jobs[i].user, jobs[i].command...)
		return err
	}); err != nil {
		return err
	}
	if l.Tasks > 0 {
		array := l.plain(random)
		array.command = append(array.command, fmt.Sprintf("--array=1-%d", l.Tasks))
		if _, err := l.run(ctx, array.user, array.command...); err != nil {
			return err
		}
	}
	if l.site != nil {
		began := time.Now()
		if err := l.untilSeen(ctx); err != nil {
			return err
		}
		l.say("varqd has seen the whole queue, %.1f s after it was there", time.Since(began).Seconds())
	}
	return l.reserve(ctx, f)
}

// each calls do for 0 to n-1, so many at once, and tells how far it is.
func (l *lab) each(ctx context.Context, atOnce int, what string, n int, do func(context.Context, int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	began, told := time.Now(), time.Now()
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error { return do(ctx, i) })
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			l.say("%d of %d %s", i, n, what)
		}
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	took := time.Since(began).Seconds()
	l.say("%d %s, within %.1f s (%.0f/s)", n, what, took, float64(n)/took)
	return nil
}

// allocate gives a node, or a part of one, to a job without processes.
func (l *lab) allocate(ctx context.Context, i int) error {
	nodes := l.declaredNodes()
	node, th := i%nodes, i/nodes
	sharing := (l.allocations() - node + nodes - 1) / nodes
	size := cpus / sharing
	if th < cpus%sharing {
		size++
	}
	_, err := l.run(ctx, users[i%len(users)], "salloc", "--quiet", "--no-shell", "--partition=batch", "--ntasks=1", fmt.Sprint("--cpus-per-task=", size),
		fmt.Sprint("--nodelist=far", node+1), "--time=6:00:00")
	return err
}

// reserve makes the open reservations.
func (l *lab) reserve(ctx context.Context, f *Filling) error {
	random := rand.New(rand.NewPCG(3, 4))
	var promised, inVain, latest atomic.Int64
	jobs := make([]submission, l.Reservations)
	for i := range jobs {
		jobs[i] = l.reserving(random, later)
	}
	began := time.Now()
	latest.Store(began.Unix())
	err := l.each(ctx, askers, "jobs with varq's options are submitted", l.Reservations, func(ctx context.Context, i int) error {
		for {
			o := l.submit(ctx, &jobs[i])
			switch {
			case o.err != nil:
				return o.err
			case o.outcome == accepted:
				promised.Add(1)
				latest.Store(time.Now().Unix())
				return nil
			case time.Since(time.Unix(latest.Load(), 0)) > bearable:
				return fmt.Errorf("nothing was promised for %s: %s", bearable, o.said)
			}
			inVain.Add(1)
			select {
			case <-ctx.Done():
			case <-time.After(again):
			}
		}
	})
	f.Reservations, f.InVain, f.Seconds = int(promised.Load()), int(inVain.Load()), time.Since(began).Seconds()
	return err
}

// Who is refused asks again after a while. If nobody is promised anything for a bearable time, the
// filling ends: the jobs of the site are shorter than those of its past, which varqd learns as they
// end.
const (
	again    = 5 * time.Second
	bearable = 5 * time.Minute
)
