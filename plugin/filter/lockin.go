package filter

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/varq-project/varq/predictor/api"
)

// fixed has the options of a job whose size stays: of them it is not known what Slurm makes when
// the number of nodes changes.
var fixed = []struct{ name, why string }{
	{"gpus", gpus}, {"gpus-per-node", gpus}, {"gpus-per-task", gpus}, {"gpus-per-socket", gpus}, {"gres", gpus}, {"cpus-per-gpu", gpus}, {"mem-per-gpu", gpus}, {"ntasks-per-gpu", gpus},
	{"nodelist", named}, {"nodefile", named},
	{"cpus-per-task", "Slurm counts a task's processors anew when the job's nodes change"},
	{"overcommit", tasks}, {"threads-per-core", tasks}, {"ntasks-per-core", tasks}, {"ntasks-per-socket", tasks}, {"extra-node-info", tasks},
	{"sockets-per-node", tasks}, {"cores-per-socket", tasks}, {"core-spec", tasks}, {"thread-spec", tasks}, {"hint", tasks},
}

const (
	gpus  = "Slurm does not count the job's resources anew when its nodes change"
	named = "the nodes that the job names need not be as many as another size has"
	tasks = "how many tasks and processors another size has of each node is then left open"
)

// needSize returns an error for an option that says how a size is chosen, if none is.
func (o options) needSize() error {
	if _, given := o.own(sizeOption); given {
		return nil
	}
	for _, name := range []string{aversion, lockIn} {
		if _, given := o.own(name); given {
			return fmt.Errorf("--%s goes together with --%s=%s only, by which varqd chooses a size without a promise", name, sizeOption, api.SizeAuto)
		}
	}
	return nil
}

// readLockIn reads how the size of a job is chosen: at what risk, and whether it is chosen again
// while the job waits.
func (s *Submission) readLockIn(o options, command string) error {
	if text, given := o.own(aversion); given {
		share, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("--%s: %.40q is not a share of the run time, such as 0.2", aversion, text)
		}
		s.aversion = share
	}
	text, given := o.own(lockIn)
	switch {
	case !given, text == "yes":
		return nil
	case text != "no":
		return fmt.Errorf("--%s: %.40q is neither yes nor no", lockIn, text)
	case command != "sbatch":
		return fmt.Errorf("--%s=no is for sbatch: %s has its options still when the job's size has changed", lockIn, command)
	}
	s.reconsider = true
	var errs []error
	for _, f := range fixed {
		if o.has(f.name) {
			errs = append(errs, fmt.Errorf("--%s does not go together with --%s=no: %s", f.name, lockIn, f.why))
		}
	}
	var err error
	if s.tasksPerNode, err = o.number("ntasks-per-node"); err != nil {
		errs = append(errs, err)
	}
	if s.tasksPerNode > 0 && o.has("ntasks") {
		errs = append(errs, fmt.Errorf("--ntasks together with --ntasks-per-node does not go together with --%s=no: give the tasks by node alone, with --ntasks-per-node", lockIn))
	}
	return errors.Join(errs...)
}
