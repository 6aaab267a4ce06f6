package evaluate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cmd/varq-lab/progress"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/logs/swf"
	"github.com/varq-project/varq/predictor/logs/trace"
	"github.com/varq-project/varq/predictor/trial/backtest"
	"github.com/varq-project/varq/predictor/workload"
)

// mostEvaluated is the largest number of jobs of a log. All are in memory.
const mostEvaluated = 10_000_000

// glance is the number of jobs after which the reading of a log shows progress.
const glance = 256

// evaluated has the results on all logs.
type evaluated struct {
	Seconds float64            `json:"seconds"` // duration of the command
	Logs    []*evaluatedLog    `json:"logs"`
	Summary []backtest.Summary `json:"summary"`
}

// evaluatedLog has the result on one log.
type evaluatedLog struct {
	Source string `json:"source"`
	Procs  int64  `json:"procs,omitempty"` // as the log's header says, if it does
	*backtest.Report
}

func newEvaluated(logs []*evaluatedLog) *evaluated {
	reports := make([]*backtest.Report, len(logs))
	for i, log := range logs {
		reports[i] = log.Report
	}
	return &evaluated{Logs: logs, Summary: backtest.Summarise(reports)}
}

// runAll scores the methods on one log after another. It shows progress and the warnings
// about the logs on standard error.
func (e *evaluation) runAll(ctx context.Context, env *cli.Env) ([]*evaluatedLog, error) {
	meter := progress.New(env.Stderr, env.Elapsed)
	defer meter.Close()
	var logs []*evaluatedLog
	for i, path := range e.paths {
		name := filepath.Base(path)
		show := func(part float64, jobs int) error {
			if ctx.Err() != nil {
				return cli.ErrInterrupted
			}
			meter.Show((float64(i)+part)/float64(len(e.paths)), fmt.Sprintf("%s: %s jobs", name, cli.Thousands(jobs)))
			return nil
		}
		past, err := readLog(path, show)
		if err != nil {
			return nil, err
		}
		report, err := e.score(past, show)
		if errors.Is(err, backtest.ErrNoJobs) {
			err = fmt.Errorf("%s: %w", name, err)
		}
		if err != nil {
			return nil, err
		}
		logs = append(logs, &evaluatedLog{name, past.procs, report})
		meter.Close()
		for _, w := range past.warnings {
			fmt.Fprintf(env.Stderr, "varq-lab: %s: %v\n", name, w)
		}
	}
	return logs, nil
}

// score scores the methods on a log, as many at a time as Go has processors. It calls show
// with the progress; an error of show ends the scoring.
func (e *evaluation) score(past *pastJobs, show func(part float64, jobs int) error) (*backtest.Report, error) {
	reports := make([]*backtest.Report, len(e.makers))
	var workers errgroup.Group
	most := runtime.GOMAXPROCS(0)
	workers.SetLimit(most)
	pace := newPace(e.makers, most)
	for i, m := range e.makers {
		workers.Go(func() (err error) {
			var q queue.Queue
			method := m.New(backtest.Cluster{Queue: &q, Background: cli.Background})
			options := e.options
			all := float64(len(past.jobs))
			options.Progress = func(n int) error {
				part := pace.done(i, m.Cost, float64(n)/all)
				return show(part, int(part*all))
			}
			reports[i], err = backtest.Run(past.jobs, &q, []backtest.Method{method}, options)
			pace.done(i, m.Cost, 1)
			return err
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	return backtest.Join(reports), nil
}

// pastJobs is a log in memory.
type pastJobs struct {
	jobs     []workload.Job
	procs    int64 // of its machine; 0 if the header does not say it
	warnings []swf.Warning
}

// readLog reads a log. It calls show with the progress; an error of show ends the reading.
func readLog(path string, show func(part float64, jobs int) error) (*pastJobs, error) {
	log, err := swf.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; logs can be had from %s", err, trace.Archive)
	}
	if err != nil {
		return nil, err
	}
	defer log.Close()
	past := &pastJobs{}
	for job, err := range log.Jobs() {
		if err != nil {
			return nil, err
		}
		if len(past.jobs) == mostEvaluated {
			return nil, fmt.Errorf("%s: more than %s jobs: take a part of it", path, cli.Thousands(mostEvaluated))
		}
		past.jobs = append(past.jobs, job)
		if n := len(past.jobs); n%glance == 0 {
			if err := show(0, n); err != nil {
				return nil, err
			}
		}
	}
	past.warnings = log.Warnings()
	header := log.Header()
	past.procs = max(header.MaxProcs, header.MaxNodes)
	return past, nil
}
