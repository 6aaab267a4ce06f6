// Package cases runs the cases of a study, several at a time on this machine or as a job
// array on a Slurm cluster. It keeps the outcome of each in a folder, so that nothing is
// simulated twice.
package cases

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/varq-project/varq/predictor/cmd/varq-lab/progress"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/trial/study"
)

// Run runs the cases of a study.
type Run struct {
	Study    study.Study
	Options  study.Options
	Folder   *Folder // keeps the outcomes; nil: they are not kept
	Progress *progress.Meter
}

// Local runs the cases side by side on this machine, as many at a time as Go has
// processors, except those whose outcomes the folder has. It returns all outcomes in
// the order of the cases, and Failures if some are missing. When ctx ends it returns
// cli.ErrInterrupted at once: cases that run are abandoned, and the folder has those that
// are finished.
func (r *Run) Local(ctx context.Context, cases []study.Case) ([]study.Outcome, error) {
	g := newGathering(r, cases)
	todo, err := g.load()
	if err != nil {
		return nil, err
	}
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for _, i := range todo {
			workers.Go(func() error {
				if ctx.Err() == nil {
					values, err := r.Study.Run(r.Options, cases[i])
					g.take(ctx, i, values, err)
				}
				return nil
			})
		}
		_ = workers.Wait()
	}()
	select {
	case <-ctx.Done():
	case <-ended:
	}
	if ctx.Err() != nil {
		return nil, g.interrupted()
	}
	return g.outcomes()
}

// gathering collects the outcomes of some cases.
type gathering struct {
	mu       sync.Mutex // guards all fields below while cases run
	run      *Run
	cases    []study.Case
	values   []study.Values // nil: not known yet
	failures map[int]error
	done     int
}

func newGathering(r *Run, cases []study.Case) *gathering {
	return &gathering{run: r, cases: cases, values: make([]study.Values, len(cases)), failures: map[int]error{}}
}

// load reads the outcomes in the folder, and returns the indices of the cases without one.
func (g *gathering) load() (missing []int, err error) {
	for i, c := range g.cases {
		if g.values[i] != nil {
			continue
		}
		if g.run.Folder != nil {
			if g.values[i], err = g.run.Folder.load(c); err != nil {
				return nil, err
			}
		}
		if g.values[i] == nil {
			missing = append(missing, i)
		} else {
			g.done++
		}
	}
	g.show()
	return missing, nil
}

// take records the outcome of a case: err, or values, which it saves in the folder. Once ctx
// has ended, it does nothing.
func (g *gathering) take(ctx context.Context, i int, values study.Values, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	if err == nil && g.run.Folder != nil {
		err = g.run.Folder.save(study.Outcome{Case: g.cases[i], Values: values})
	}
	if err != nil {
		g.fail(i, err)
		return
	}
	g.values[i] = values
	g.done++
	g.show()
}

func (g *gathering) fail(i int, err error) { g.failures[i] = err }

func (g *gathering) show() {
	if len(g.cases) > 0 {
		g.run.Progress.Show(float64(g.done)/float64(len(g.cases)), fmt.Sprintf("%d of %d cases", g.done, len(g.cases)))
	}
}

// interrupted returns the error of an interrupted run. It waits for an outcome that is being
// recorded. After that the folder does not change.
func (g *gathering) interrupted() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	kept := "nothing of it is kept without --out"
	if g.run.Folder != nil {
		kept = "the same command goes on from there"
	}
	return fmt.Errorf("%w with %d of %d cases done; %s", cli.ErrInterrupted, g.done, len(g.cases), kept)
}

func (g *gathering) outcomes() ([]study.Outcome, error) {
	var outcomes []study.Outcome
	var failures Failures
	for i, c := range g.cases {
		switch err := g.failures[i]; {
		case err != nil:
			failures = append(failures, Failure{c, err})
		default:
			outcomes = append(outcomes, study.Outcome{Case: c, Values: g.values[i]})
		}
	}
	if failures != nil {
		return outcomes, failures
	}
	return outcomes, nil
}
