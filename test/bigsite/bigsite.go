// Package bigsite measures varq on a private Slurm of a big site's size: thousands of declared
// nodes, jobs that run and wait, a large array, open reservations, and a steady stream of
// submissions. It measures with varq and without, for comparison. Everything runs on one machine:
// the users' commands, Slurm's daemons, and varqd.
package bigsite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/varq-project/varq/test/cluster"
)

// Options is the size of the site, and of the load on it.
type Options struct {
	// Nodes is how many nodes there are, of which realNodes have a slurmd.
	Nodes int `json:"nodes"`
	// Running, Pending and Tasks are how many jobs run and wait when the measurement begins, about,
	// and how many tasks the array has that waits beside them.
	Running int `json:"running"`
	Pending int `json:"pending"`
	Tasks   int `json:"tasks"`
	// Reservations is how many promises are open then, with their jobs waiting for their begin
	// times.
	Reservations int `json:"reservations"`
	// Rate is how many jobs are submitted a second during the measurement, and Reserving how many
	// of these with varq's options.
	Rate      float64 `json:"rate"`
	Reserving float64 `json:"reserving"`
	// Duration is how long is measured.
	Duration time.Duration `json:"duration_ns"`
	// Timeout and Load are slurmrestd.timeout and watch.load of varq.yaml.
	Timeout time.Duration `json:"timeout_ns"`
	Load    float64       `json:"load"`
	// With and Without say which of the two sites is measured.
	With    bool `json:"-"`
	Without bool `json:"-"`
	// Progress receives messages about steps.
	Progress io.Writer `json:"-"`
}

// Big is a big site.
func Big() Options {
	return Options{
		Nodes: 2000, Running: 5000, Pending: 20_000, Tasks: 50_000, Reservations: 3000, Rate: 50, Reserving: 5,
		Duration: 10 * time.Minute, Timeout: 5 * time.Minute, Load: .1, With: true, Without: true, Progress: io.Discard,
	}
}

// cpus is how many processors a node has.
const cpus = 8

// realNodes is how many nodes have a slurmd. There jobs begin and end all the time; the others are
// full.
func (o *Options) realNodes() int { return min(max(o.Nodes/16, 4), 48) }

func (o *Options) declaredNodes() int { return o.Nodes - o.realNodes() }

// mostCPUs is how many processors a job asks for at most. Jobs ask for 1 to that many, so that as
// many as are to run fill the site.
func (o *Options) mostCPUs() int {
	return min(max(2*o.Nodes*cpus/max(o.Running, 1)-1, 1), cpus)
}

// meanCPUs is how many processors a job has in the mean.
func (o *Options) meanCPUs() float64 { return float64(1+o.mostCPUs()) / 2 }

// allocations is how many jobs of those that run are on declared nodes.
func (o *Options) allocations() int {
	moving := o.realNodes() - cluster.ShortNodes(o.realNodes())
	return o.Running - int(float64(moving*cpus)/o.meanCPUs())
}

func (o *Options) check() error {
	switch {
	case o.Nodes < 8 || o.Nodes > 20_000:
		return fmt.Errorf("nodes: %d is not in 8..20000", o.Nodes)
	case o.allocations() < o.declaredNodes() || o.allocations() > cpus*o.declaredNodes():
		return fmt.Errorf("running: %d jobs do not fill %d nodes of %d processors, one to %d on each", o.Running, o.Nodes, cpus, cpus)
	case o.Pending < 0 || o.Tasks < 0 || o.Reservations < 0:
		return fmt.Errorf("pending %d, tasks %d, reservations %d: none can be less than 0", o.Pending, o.Tasks, o.Reservations)
	case o.Rate <= 0 || o.Reserving < 0 || o.Reserving > o.Rate:
		return fmt.Errorf("rate: %g a second, %g of them with options: want more than 0, and at most as many with options", o.Rate, o.Reserving)
	case o.Duration < time.Second:
		return fmt.Errorf("duration: %v is less than a second", o.Duration)
	case o.Load <= 0 || o.Load > 1:
		return fmt.Errorf("load: %g is not a share of the time", o.Load)
	case !o.With && !o.Without:
		return errors.New("neither the site with varq nor the one without is to be measured")
	}
	return nil
}

// Result is what was measured.
type Result struct {
	Options Options  `json:"options"`
	Machine Machine  `json:"machine"`
	With    *Figures `json:"with,omitempty"`
	Without *Figures `json:"without,omitempty"`
}

// Figures are those of one site.
type Figures struct {
	// Before and After are the records in slurmctld's queue when the measurement began and ended,
	// by state. An array that waits is one.
	Before map[string]int `json:"before"`
	After  map[string]int `json:"after"`
	// Fill is how the open reservations were made.
	Fill Filling `json:"fill"`
	// Plain and Reserving are the submissions without and with varq's options. Without varq, the
	// latter have --begin.
	Plain     Submissions `json:"plain"`
	Reserving Submissions `json:"reserving"`
	// Rate is how many commands have ended a second, and Busy how many processors of the machine
	// were busy in the mean.
	Rate float64 `json:"rate"`
	Busy float64 `json:"busy_processors"`
	// Daemons are what the daemons have taken, by their names.
	Daemons map[string]Usage `json:"daemons"`
	Varqd   *Varqd           `json:"varqd,omitempty"`
}

// Run measures the site without varq, and then the one with it, as the options say. If the second
// fails, the result has the first.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	r := &Result{Options: o, Machine: thisMachine()}
	var err error
	if o.Without {
		if r.Without, err = measure(ctx, o, false); err != nil {
			return nil, fmt.Errorf("without varq: %w", err)
		}
	}
	if o.With {
		if r.With, err = measure(ctx, o, true); err != nil {
			return r, fmt.Errorf("with varq: %w", err)
		}
	}
	return r, nil
}

func measure(ctx context.Context, o Options, varq bool) (f *Figures, err error) {
	l, err := start(ctx, o, varq)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.stop()) }()
	f = &Figures{}
	if err = l.fill(ctx, &f.Fill); err == nil {
		err = l.watch(ctx, f)
	}
	switch {
	case err == nil:
		return f, nil
	case ctx.Err() == nil:
		err = fmt.Errorf("%w\n%s", err, l.logs())
	}
	return nil, err
}
