package simulate

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/forecast/downey"
	"github.com/varq-project/varq/predictor/logs/swf"
	"github.com/varq-project/varq/predictor/logs/trace"
)

// modelDowney is the only model there is.
const modelDowney = "downey"

// The defaults of a model's jobs, and the bounds of the flags.
const (
	defaultProcs = 128
	defaultJobs  = 10_000
	defaultLoad  = .8

	mostJobs = 100_000_000
	mostLoad = 2
)

// stretch is the time of jobs that are enough for a verdict, in seconds: eight weeks.
const stretch = 8 * 7 * 24 * 3600

// jobsFlags has the options for the simulated jobs and the size of the machine.
type jobsFlags struct {
	trace, model string
	procs        int32
	jobs         int
	load         float64
	seed         uint64
	enough       bool // without --jobs, as many jobs as are enough for a verdict
}

func addJobs(cmd *cobra.Command) *jobsFlags {
	f := &jobsFlags{}
	flags := cmd.Flags()
	flags.StringVar(&f.trace, "trace", "", "the jobs of a log in the Standard Workload Format: `FILE`.swf or .swf.gz")
	flags.StringVar(&f.model, "model", "", "the jobs of a `model`: "+modelDowney)
	flags.Int32Var(&f.procs, "procs", 0, fmt.Sprintf("`processors` of the machine (default: as the log says, or %d)", defaultProcs))
	flags.IntVar(&f.jobs, "jobs", 0, fmt.Sprintf("the log's first jobs, this `number` at most, or (default %d) the model's", defaultJobs))
	flags.Float64Var(&f.load, "load", 0, fmt.Sprintf("with --model, the work that arrives as a `share` of what the machine can do (default %v)", defaultLoad))
	flags.Uint64Var(&f.seed, "seed", 1, "the same `number` gives the same result")
	_ = cmd.MarkFlagFilename("trace", "swf", "gz")
	_ = cmd.RegisterFlagCompletionFunc("model", cobra.FixedCompletions([]string{modelDowney}, cobra.ShellCompDirectiveNoFileComp))
	return f
}

// jobs is the source of simulated jobs. Every call of open with the same seed returns the same
// jobs.
type jobs struct {
	name string // for people
	log  bool   // the jobs are those of a log, the same with every seed
	open func(seed uint64) (jobLog, error)
}

// jobLog is an open log of jobs, such as a trace.Trace.
type jobLog interface {
	// Jobs yields the jobs in the order of submission, once.
	Jobs() iter.Seq2[sched.Job, error]
	Procs() int32
	Header() swf.Header
	// Progress returns the share that has been read, or 0 if it is not known.
	Progress() float64
	Warnings() []swf.Warning
	Close() error
}

// source checks the flags and returns the source of jobs that they describe.
func (f *jobsFlags) source(flags *pflag.FlagSet) (jobs, error) {
	switch {
	case f.trace == "" && f.model == "":
		return jobs{}, errors.New("nothing to simulate: give a log by --trace=FILE, or --model=" + modelDowney)
	case f.trace != "" && f.model != "":
		return jobs{}, errors.New("--trace does not go together with --model")
	case f.model != "" && f.model != modelDowney:
		return jobs{}, fmt.Errorf("--model: there is no model %q; there is %s", f.model, modelDowney)
	case flags.Changed("procs") && f.procs < 1:
		return jobs{}, fmt.Errorf("--procs: %d is not a number of processors", f.procs)
	case flags.Changed("jobs") && (f.jobs < 1 || f.jobs > mostJobs):
		return jobs{}, fmt.Errorf("--jobs: %d is not between 1 and %d", f.jobs, mostJobs)
	case flags.Changed("load") && f.trace != "":
		return jobs{}, errors.New("--load is for --model: a log has the load that it has")
	case flags.Changed("load") && !(f.load > 0 && f.load <= mostLoad):
		return jobs{}, fmt.Errorf("--load: %v is not more than 0 and at most %d", f.load, mostLoad)
	}
	if f.trace != "" {
		return f.fromTrace(), nil
	}
	return f.fromModel(), nil
}

func (f *jobsFlags) fromTrace() jobs {
	return jobs{filepath.Base(f.trace), true, func(uint64) (jobLog, error) {
		log, err := trace.Open(f.trace, trace.Options{Procs: f.procs})
		switch {
		case err != nil:
			return nil, err
		case f.jobs > 0:
			return &head{jobLog: log, jobs: f.jobs}, nil
		case f.enough:
			return enoughOf(log), nil
		default:
			return log, nil
		}
	}}
}

// head is the beginning of a log: its first jobs, so many and of so long a time at least.
type head struct {
	jobLog
	jobs int
	time int64 // seconds

	read        int
	first, last int64 // submissions
	cut         bool  // the log may go on
}

// enoughOf returns as many of the first jobs as are enough for a verdict.
func enoughOf(log jobLog) *head { return &head{jobLog: log, jobs: defaultJobs, time: stretch} }

func (h *head) Jobs() iter.Seq2[sched.Job, error] {
	return func(yield func(sched.Job, error) bool) {
		for job, err := range h.jobLog.Jobs() {
			if err == nil {
				if h.read == 0 {
					h.first = job.Submit
				}
				if h.cut = h.read >= h.jobs && job.Submit-h.first >= h.time; h.cut {
					return
				}
				h.last = job.Submit
			}
			h.read++
			if !yield(job, err) {
				return
			}
		}
	}
}

// Progress returns the share of the beginning that has been read, or that of the whole log
// if it is larger.
func (h *head) Progress() float64 {
	part := float64(h.read) / float64(h.jobs)
	if h.time > 0 {
		part = min(part, float64(h.last-h.first)/float64(h.time))
	}
	return max(h.jobLog.Progress(), part)
}

func (f *jobsFlags) fromModel() jobs {
	if f.procs == 0 {
		f.procs = defaultProcs
	}
	if f.load == 0 {
		f.load = defaultLoad
	}
	name := fmt.Sprintf("Downey's model (load %v)", f.load)
	return jobs{name, false, func(seed uint64) (jobLog, error) {
		m := &modelled{jobsFlags: *f}
		m.seed = seed
		switch {
		case f.jobs > 0:
			return m, nil
		case f.enough:
			m.jobs = mostJobs
			return enoughOf(m), nil
		default:
			m.jobs = defaultJobs
			return m, nil
		}
	}}
}

// modelled is a log of Downey's model.
type modelled struct {
	jobsFlags
	made int // jobs
}

func (m *modelled) Jobs() iter.Seq2[sched.Job, error] {
	model := downey.Model{Procs: m.procs, Load: m.load}
	return func(yield func(sched.Job, error) bool) {
		for job := range model.Jobs(rand.New(rand.NewPCG(m.seed, 0)), m.jobs) {
			m.made++
			if !yield(job, nil) {
				return
			}
		}
	}
}

func (m *modelled) Procs() int32 { return m.procs }

func (m *modelled) Header() swf.Header {
	return swf.Header{Computer: "Downey's model", MaxProcs: int64(m.procs)}
}

func (m *modelled) Progress() float64       { return float64(m.made) / float64(m.jobs) }
func (m *modelled) Warnings() []swf.Warning { return nil }
func (m *modelled) Close() error            { return nil }
