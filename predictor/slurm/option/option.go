// Package option says what a promise, or a forecast of varq's, makes of each option of sbatch, srun
// and salloc, and how sbatch's command line has them.
//
// Each option, by its name in Slurm's json_cli_options, is in one of three lists: Understood,
// Harmless or Unwelcome. A promise with an option that is in none of them would be of another job
// than Slurm's, and so it is refused. Options of other SPANK plugins are not Slurm's, and welcome:
// a site that has one which delays jobs learns these delays as any other.
package option

import (
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/slurm/jobsize"
)

// OneCluster is why a job for another cluster than varqd's is refused.
const OneCluster = "varqd tells, and promises, of its own cluster alone (varq reserve --clusters chooses among several)"

// Use is an option and what varq makes of it: a clause without a full stop.
type Use struct{ Name, Use string }

// Understood has the options of which the request to varqd has what they ask for, or which say what
// varq itself is to do.
var Understood = []Use{
	{"account", "the costs and the limits are those of this account; --accounts names several"},
	{"array", "--begin-by is about the first tasks together, as many as --tasks says, and --finish-by about the end of all"},
	{"clusters", "varqd's own cluster alone; varq reserve chooses among several"},
	{"comment", "stays; the plan's name follows it"},
	{"constraint", waits},
	{"cpus-per-gpu", counts}, {"cpus-per-task", counts},
	{"dependency", "the jobs that it waits for are forecast themselves: when they end, and whether as it needs"},
	{"exclude", waits},
	{"exclusive", "the job has all CPUs of its nodes, for the forecast and the costs"},
	{"gpus", waits}, {"gpus-per-node", waits}, {"gpus-per-task", waits},
	{"gres", waits + "; of other resources than GPUs a node must have twice as much, unless only some nodes have any"},
	{"hint", threads},
	{"licenses", "the job waits for licences that can run out, too, if 20 jobs that did are known"},
	{"mem", counts}, {"mem-per-cpu", counts}, {"mem-per-gpu", counts}, {"mincpus", counts},
	{"nice", "the job waits for those that go before it because of that, if these are an eighth of those that come later at most"},
	{"nodelist", waits},
	{"nodes", "one number and no range; --sizes lets the job have one of several"},
	{"ntasks", counts}, {"ntasks-per-core", threads}, {"ntasks-per-gpu", counts}, {"ntasks-per-node", counts}, {"overcommit", counts},
	{"oversubscribe", "the job is planned as if it shared no CPUs"},
	{"parsable", "varq writes what it promises on standard error, as without it"},
	{"partition", "of several, the one with the cheapest promise"},
	{"qos", "the priority, the limits and the costs are those of this QOS; of several, the one with the cheapest promise"},
	{"quiet", "varq tells nothing but errors"},
	{"reservation", "the job is forecast inside of the reservation, by what runs and waits there; of a reservation with FLEX as if it had none"},
	{"test-only", "varq tells what it would promise, and promises nothing"},
	{"threads-per-core", threads},
	{"time", "the work has this time from its begin on; the job's limit is longer by what its nodes may idle. Without it, the partition's DefaultTime, or else MaxTime"},
	{"tmp", counts},
}

// What varq makes of several options.
const (
	counts  = "counts for how much room the job needs, and what it costs"
	threads = "the job has all CPUs of its cores, for the forecast and the costs"
	waits   = "the job waits for the nodes that fit, and is forecast by what runs and waits there"
)

// Harmless has the options that change nothing that a promise rests on: neither when the job
// starts, nor what it costs.
var Harmless = strings.Fields(`
	accel-bind acctg-freq bcast bcast-exclude bell chdir compress container container-id container-type context cpu-bind cpu-freq
	debugger-test disable-status distribution epilog error exact export export-file external-launcher get-user-env gpu-bind gpu-freq
	gres-flags het-group ignore-pbs ignore-signals input interactive job-name kill-command kill-on-bad-exit kill-on-invalid-dep label
	mail-type mail-user mem-bind mem-update mpi msg-timeout multi-prog network no-bell no-kill no-requeue no-shell oom-kill-step
	open-mode output overlap pack-group power prefer preserve-env profile prolog propagate pty quit-on-interrupt relative requeue
	resv-ports send-libs signal slurmd-debug stepmgr task-epilog task-prolog threads treewidth tres-bind unbuffered use-min-nodes
	verbose wait wait-all-nodes wait-for-children wckey whole wrap x11`)

// Why is an option, and why a reservation excludes it: a clause without a full stop.
type Why struct{ Name, Why string }

// Unwelcome has the options that a reservation excludes.
var Unwelcome = []Why{
	{"async", "the command does not wait for its job"},
	{"batch", "when nodes are free of which one has certain features cannot be forecast"},
	{"bb", buffers}, {"bbf", buffers},
	{"begin", "varq chooses when the job becomes eligible"},
	{"cluster-constraint", OneCluster},
	{"consolidate-segments", segments},
	{"contiguous", "when nodes side by side are free cannot be forecast"},
	{"core-spec", reserved},
	{"cores-per-socket", cores},
	{"deadline", "it lets Slurm end the job, which varq's promise does not need"},
	{"delay-boot", booting},
	{"external", "the job has no work that could be held until it is to start"},
	{"extra", "when nodes are free that the site chooses by it cannot be forecast"},
	{"extra-node-info", cores},
	{"gid", submitter},
	{"gpus-per-socket", "how many GPUs the job gets, and so what it costs at most, is left open"},
	{"hold", "a job that is held does not start; submit it without --hold"},
	{"immediate", "the job may have to wait"},
	{"jobid", "the job has its allocation already"},
	{"mcs-label", "when nodes without jobs of another label are free cannot be forecast"},
	{"no-allocate", "there is no job then to which anything could be promised"},
	{"nodefile", "how long certain nodes are busy cannot be forecast"},
	{"ntasks-per-socket", cores},
	{"ntasks-per-tres", "say the same with --ntasks-per-gpu"},
	{"priority", "how long a job of another priority than Slurm's own waits cannot be forecast"},
	{"reboot", booting},
	{"resources", "when as much of these is free cannot be forecast"},
	{"segment", segments},
	{"sockets-per-node", cores},
	{"spread-job", "how many nodes the job gets, and so what it costs at most, is left open"},
	{"spread-segments", segments},
	{"switches", "when nodes of the same switches are free cannot be forecast"},
	{"thread-spec", reserved},
	{"time-min", "Slurm would shorten the time that varq has made room for"},
	{"tres-per-task", "say how much each task has of what with --cpus-per-task, --gpus-per-task and --mem-per-cpu"},
	{"uid", submitter},
}

// Why several options are unwelcome.
const (
	booting   = "how long nodes take to boot before the job starts cannot be forecast"
	buffers   = "when a burst buffer is ready cannot be forecast"
	cores     = "when as many cores of one socket are free cannot be forecast"
	reserved  = "how many nodes are free of other jobs then cannot be forecast"
	segments  = "when nodes of the same segments are free cannot be forecast"
	submitter = "a reservation is made for whoever submits the job"
)

// Values are those of an option that a reservation excludes.
type Values struct {
	Name, Why string
	// Values are in words, and Excluded tells of one.
	Values   string
	Excluded func(value string) bool
}

// UnwelcomeValues has the values that a reservation excludes of options that are in one of the
// other lists. The job's own cluster is none of them.
var UnwelcomeValues = []Values{
	{"clusters", OneCluster, "another cluster", func(string) bool { return true }},
	{"distribution", "how long the nodes that SLURM_HOSTFILE names are busy cannot be forecast", "arbitrary", one("arbitrary")},
	{"exclusive", "when a part of the network is free of other jobs cannot be forecast", "topo", one("topo")},
	{"gres-flags", "when GPUs are free together with the cores beside them cannot be forecast", "enforce-binding, multiple-tasks-per-sharing, one-task-per-sharing", boundGres},
	{"hint", cores, "memory_bound, compute_bound", func(v string) bool { return v == "memory_bound" || v == "compute_bound" }},
	{"nice", "it raises the job's priority, which Slurm lets operators alone do", "less than 0", func(v string) bool { return strings.HasPrefix(v, "-") }},
	{"nodelist", "varq does not read the file; name the nodes themselves", "a file", func(v string) bool { return strings.Contains(v, "/") }},
}

// Nothing has the values with which options of Slurm's ask for what is so without them. Templates
// of scripts have such an option where their user wants nothing of it.
var Nothing = map[string][]string{
	"array": {""}, "bb": {""}, "cluster-constraint": {""}, "dependency": {""}, "gres": {"none"}, "immediate": {"0"}, "nice": {"0"},
	"nodelist": {""},
}

// Resources has the options with lists of resources, of which a list asks for nothing if it asks
// for 0 of each.
var Resources = []string{"gpus", "gpus-per-node", "gpus-per-socket", "gpus-per-task", "gres"}

// AsksForNothing reports whether an option with a value asks for what is so without it.
func AsksForNothing(name, value string) bool {
	is := func(none string) bool { return strings.EqualFold(value, none) }
	return slices.ContainsFunc(Nothing[name], is) || slices.Contains(Resources, name) && jobsize.None(value)
}

// one tells of a value whether it is this one.
func one(value string) func(string) bool { return func(v string) bool { return v == value } }

// boundGres tells of a value of --gres-flags whether it says which cores or tasks share a GPU.
func boundGres(value string) bool {
	return slices.ContainsFunc(strings.Split(value, ","), func(flag string) bool {
		return flag != "disable-binding" && flag != "allow-task-sharing"
	})
}

// Listed reports whether an option is in one of the lists.
func Listed(name string) bool {
	understood := slices.ContainsFunc(Understood, func(u Use) bool { return u.Name == name })
	return understood || slices.Contains(Harmless, name) || Reason(name) != ""
}

// Reason returns why an option is excluded whatever its value is, or "".
func Reason(name string) string {
	for _, u := range Unwelcome {
		if u.Name == name {
			return u.Why
		}
	}
	return ""
}

// Refused returns why an option with a value is excluded, and the option as a message names it,
// with its value if another value is not. Both are empty if it is not excluded.
func Refused(name, value string) (option, why string) {
	if AsksForNothing(name, value) {
		return "", ""
	}
	if why := Reason(name); why != "" {
		return "--" + name, why
	}
	for _, u := range UnwelcomeValues {
		if u.Name == name && u.Excluded(value) {
			return "--" + name + "=" + value, u.Why
		}
	}
	return "", ""
}
