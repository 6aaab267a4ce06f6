// Package options has the options that several commands of varq have: those of sbatch for a job,
// and those of sacct for whom and what is shown, and how.
package options

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/dependency"
	"github.com/varq-project/varq/predictor/slurm/jobsize"
	"github.com/varq-project/varq/predictor/slurm/option"
	"github.com/varq-project/varq/predictor/slurm/slurmconf"
	"github.com/varq-project/varq/predictor/workload"
)

// Job has the options of sbatch for the resources of a job.
type Job struct {
	Time string // --time
	Size jobsize.Options

	cmd                               *cobra.Command
	flags                             *pflag.FlagSet // of sbatch's options
	clusters, partition, account, qos string
	cluster                           func() string
	accounts                          string
	tasks                             *string // nil unless AddPromised has added it
}

// otherNames has the names that sbatch has for an option besides the one that its manual has.
var otherNames = map[string]pflag.NormalizedName{"cluster": "clusters", "tasks-per-node": "ntasks-per-node"}

// AddJob adds sbatch's options to a command. cluster returns the name of the cluster where the job
// is to run, or "" if it is not known.
func AddJob(cmd *cobra.Command, cluster func() string) *Job {
	f, flags := &Job{cmd: cmd, flags: pflag.NewFlagSet("job", pflag.ContinueOnError), cluster: cluster}, cmd.Flags()
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return cmp.Or(otherNames[name], pflag.NormalizedName(name))
	})
	f.flags.SortFlags = false
	s := &f.Size
	f.flags.StringVarP(&s.Nodes, "nodes", "N", "", "number of `nodes`, or the least and the most: 2-4")
	f.flags.StringVarP(&f.Time, "time", "t", "", "`limit` of the work alone: MINUTES, HH:MM:SS or D-HH:MM:SS")
	f.flags.StringVarP(&f.partition, "partition", "p", "", "`partition` to run in")
	f.flags.StringVarP(&f.clusters, "clusters", "M", "", "varqd's own `cluster`; for others there is varq reserve")
	f.flags.StringVarP(&f.account, "account", "A", "", "`account` to charge")
	f.flags.StringVarP(&f.qos, "qos", "q", "", "quality of service, by `name`")
	f.flags.Int32VarP(&s.NTasks, "ntasks", "n", 0, "number of `tasks`")
	f.flags.Int32Var(&s.NTasksPerNode, "ntasks-per-node", 0, "number of `tasks` on each node")
	f.flags.Int32VarP(&s.CPUsPerTask, "cpus-per-task", "c", 0, "number of `CPUs` for each task")
	f.flags.Int32Var(&s.NTasksPerGPU, "ntasks-per-gpu", 0, "number of `tasks` for each GPU")
	f.flags.Int32Var(&s.CPUsPerGPU, "cpus-per-gpu", 0, "number of `CPUs` for each GPU")
	f.flags.StringVarP(&s.GPUs, "gpus", "G", "", "GPUs of the whole job: `[TYPE:]N`")
	f.flags.StringVar(&s.GPUsPerNode, "gpus-per-node", "", "GPUs on each node: `[TYPE:]N`")
	f.flags.StringVar(&s.GPUsPerTask, "gpus-per-task", "", "GPUs for each task: `[TYPE:]N`")
	f.flags.StringVar(&s.Gres, "gres", "", "generic resources on each node: `gpu[:TYPE]:N`")
	f.flags.StringVar(&s.Mem, "mem", "", "memory on each node: `SIZE` in MiB, or with K, M, G, T")
	f.flags.StringVar(&s.MemPerCPU, "mem-per-cpu", "", "memory for each CPU: `SIZE`")
	f.flags.StringVar(&s.MemPerGPU, "mem-per-gpu", "", "memory for each GPU: `SIZE`")
	f.flags.Var(&exclusive{&s.Exclusive, "false"}, "exclusive", "share the nodes with no other job; =user: with the user's own, =mcs: with those of the same label")
	f.flags.Lookup("exclusive").NoOptDefVal = "true"
	f.flags.Int32Var(&s.MinCPUs, "mincpus", 0, "CPUs that each node must have at least: `N`")
	f.flags.StringVar(&s.Tmp, "tmp", "", "temporary disk on each node: `SIZE` in MiB, or with K, M, G, T")
	f.flags.StringVarP(&s.Constraint, "constraint", "C", "", "`features` that the nodes must have")
	f.flags.StringVarP(&s.NodeList, "nodelist", "w", "", "`nodes` that the job must have")
	f.flags.StringVarP(&s.Exclude, "exclude", "x", "", "`nodes` that it must not have")
	f.flags.StringVarP(&s.Licenses, "licenses", "L", "", "`licences` that must be free: NAME:N,...")
	f.flags.StringVar(&s.Reservation, "reservation", "", "Slurm's reservation of this `name`")
	cli.MayBeEmpty(f.flags, "qos", "gpus", "gpus-per-node", "gpus-per-task", "constraint", "nodelist", "exclude", "licenses", "reservation")
	flags.AddFlagSet(f.flags)
	return f
}

// exclusive is the value of sbatch's --exclusive. A job that shares its nodes with some other jobs
// is forecast as one that shares them with none.
type exclusive struct {
	on   *bool
	mode string // "true" without a value
}

func (e *exclusive) Set(text string) error {
	if !slices.Contains([]string{"true", "user", "mcs", "topo"}, text) {
		return fmt.Errorf("%.40q is neither user nor mcs", text)
	}
	*e.on, e.mode = true, text
	return nil
}

func (e *exclusive) String() string { return e.mode }
func (e *exclusive) Type() string   { return "bool" }

// AddOthers adds all other options of sbatch's to the command, or those of some names, and its help
// does not show them. Request takes those that change nothing, and says why it takes no others.
func (f *Job) AddOthers(names ...string) {
	for _, o := range option.Flags {
		if len(names) > 0 && !slices.Contains(names, o.Name) {
			continue
		}
		flag := f.flags.VarPF(new(other), o.Name, o.Letter, "")
		if flag.Hidden = true; !o.Must {
			flag.NoOptDefVal = withoutValue
		}
		cli.MayBeEmpty(f.flags, o.Name)
	}
	f.cmd.Flags().AddFlagSet(f.flags)
}

// other is the value of one of AddOthers' options.
type other string

// niceByDefault is what sbatch's --nice stands for without a value.
const niceByDefault = 100

// withoutValue is other of an option that is given without a value, as Slurm writes it.
const withoutValue = "set"

func (o *other) Set(text string) error { *o = other(text); return nil }
func (o *other) String() string        { return string(*o) }
func (o *other) Type() string          { return "string" }

// given returns the value of an option, and whether it is given.
func (f *Job) given(name string) (value string, is bool) {
	flag := f.flags.Lookup(name)
	if flag == nil || !flag.Changed {
		return "", false
	}
	return flag.Value.String(), true
}

// conflicts returns an error for the options with which nothing can be promised or forecast.
func (f *Job) conflicts() error {
	var errs []error
	f.flags.VisitAll(func(flag *pflag.Flag) {
		value, given := f.given(flag.Name)
		if !given || flag.Name == "clusters" {
			return
		}
		if why := quoted[flag.Name]; why != "" && f.tasks == nil && value != "" {
			errs = append(errs, fmt.Errorf("--%s does not go together with %s, which tells of %s", flag.Name, f.cmd.CommandPath(), why))
		}
		if named, why := option.Refused(flag.Name, value); why != "" {
			errs = append(errs, fmt.Errorf("%s does not go together with %s: %s", named, f.cmd.CommandPath(), why))
		}
	})
	return errors.Join(errs...)
}

// array is sbatch's option of job arrays.
const array = "array"

// quoted are options that go with a promise only: of what else a command tells, and what to do.
var quoted = map[string]string{
	array:        "one job; varq quote tells of arrays",
	"dependency": "a job that waits for no other; 'varq quote -d' tells of one that does",
}

// AddPromised adds what goes with a promise only: several accounts, job arrays, and how many of the
// tasks of one are to run. AddOthers comes before it. The number of nodes is one.
func (f *Job) AddPromised() {
	f.flags.Lookup("nodes").Usage = "number of `nodes`"
	f.flags.StringVar(&f.accounts, "accounts", "", "charge the one of these `accounts` with which a promise costs least: a,b")
	on := f.flags.Lookup("dependency")
	on.Hidden, on.Shorthand, on.Usage = false, "d", "the `jobs` that it waits for: afterok:17,after:18+30"
	list := f.flags.Lookup(array)
	list.Hidden, list.Usage = false, "the `tasks` of a job array, and how many may run at once: 0-39 or 0-39%8"
	flags := f.cmd.Flags()
	flags.AddFlagSet(f.flags)
	f.tasks = flags.String("tasks", "", "how many tasks of the array are to run at the same time: `N|N%` (default as many as may)")
}

// Array returns the job array, and how many of its tasks are to run, 0 for the default.
func (f *Job) Array() (of api.Array, tasks int32, err error) {
	list, given := f.given(array)
	if given && list != "" && !slurm.IsTasks(list) {
		return of, 0, fmt.Errorf("--array: %.40q does not name tasks, as 0-39 or 1,3,5%%2 do", list)
	}
	if given && list != "" {
		of.Tasks, of.AtOnce = slurm.CountTasks(list)
	}
	switch {
	case *f.tasks == "":
	case of.Tasks == 0:
		err = errors.New("--tasks: it says how many tasks of a job array are to run, and there is no --array")
	default:
		if tasks, err = of.ParseTasks(*f.tasks); err != nil {
			err = fmt.Errorf("--tasks: %w", err)
		}
	}
	return of, tasks, err
}

// Dependency returns what the job waits for, and its name, if that counts for it.
func (f *Job) Dependency() (text, name string, err error) {
	text, _ = f.given("dependency")
	d, err := dependency.Parse(text)
	if err != nil {
		return "", "", fmt.Errorf("--dependency: %w", err)
	}
	if d.Singleton() {
		if name, _ = f.given("job-name"); name == "" {
			return "", "", errors.New("--dependency: " + dependency.Nameless)
		}
	}
	return text, name, nil
}

// Needs returns what the options demand of the job's nodes.
func (f *Job) Needs() (*workload.Needs, error) {
	n, err := f.Size.Needs()
	return &n, err
}

// Request returns the request of the whole job. Fields without an option stay empty, and
// varqd fills in the cluster's defaults.
func (f *Job) Request() (workload.Request, error) {
	r := workload.Request{Partition: f.partition, Account: cmp.Or(f.accounts, f.account), QOS: f.qos}
	if f.accounts != "" && slices.Contains(strings.Split(f.accounts, ","), "") {
		return r, fmt.Errorf("--accounts: %.40q has an empty name", f.accounts)
	}
	if f.clusters != "" && !slurmconf.IsOwn(f.clusters, f.cluster()) {
		return r, fmt.Errorf("--clusters=%.80s: %s", f.clusters, option.OneCluster)
	}
	err := f.conflicts()
	f.flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && flag.Value.Type() == "int32" && (flag.Value.String() == "0" || flag.Value.String()[0] == '-') {
			err = errors.Join(err, fmt.Errorf("--%s: %s is less than 1", flag.Name, flag.Value))
		}
	})
	if err != nil {
		return r, err
	}
	if f.Time != "" {
		if r.Limit, err = jobsize.Limit(f.Time); err != nil {
			return r, fmt.Errorf("--time: %w", err)
		}
	}
	for name, n := range map[string]*int32{"threads-per-core": &f.Size.ThreadsPerCore, "ntasks-per-core": &f.Size.NTasksPerCore} {
		value, given := f.given(name)
		if number, err := strconv.ParseInt(value, 10, 32); err == nil && number > 0 {
			*n = int32(number)
		} else if given {
			return r, fmt.Errorf("--%s: %.40q is not a number", name, value)
		}
	}
	if value, given := f.given("nice"); given && value == withoutValue {
		r.Nice = niceByDefault
	} else if given {
		if r.Nice, err = strconv.ParseInt(value, 10, 32); err != nil {
			return r, fmt.Errorf("--nice: %.40q is not a number", value)
		}
	}
	f.Size.Hint, _ = f.given("hint")
	_, f.Size.Overcommit = f.given("overcommit")
	r.Size, err = f.Size.Size()
	return r, err
}

// Given returns the given options, but for those of some names, quoted for a shell, to be pasted
// after sbatch. A script is to follow, and so --wrap is left out.
func (f *Job) Given(without ...string) []string {
	var given []string
	f.flags.VisitAll(func(flag *pflag.Flag) {
		switch {
		case slices.Contains(without, flag.Name), flag.Name == "wrap":
		case flag.Changed && flag.NoOptDefVal != "" && flag.Value.String() == flag.NoOptDefVal:
			given = append(given, "--"+flag.Name)
		case flag.Changed:
			given = append(given, "--"+flag.Name+"="+cli.Quote(flag.Value.String()))
		}
	})
	return given
}
