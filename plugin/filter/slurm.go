package filter

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurm/jobsize"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// Each option of sbatch, srun and salloc, by its name in json_cli_options, is in one of three
// lists: understood, harmless or unwelcome. A promise with an option that is in none of them would
// be of another job than Slurm's, and so it is refused. Options of other SPANK plugins are not
// Slurm's, and welcome: a site that has one which delays jobs learns these delays as any other.

// understood has the options of which the request to varqd has what they ask for, or which say what
// varq itself is to do.
var understood = strings.Fields(`
	account clusters comment constraint cpus-per-gpu cpus-per-task exclude exclusive gpus gpus-per-node gpus-per-task gres hint licenses
	mem mem-per-cpu mem-per-gpu mincpus nodelist nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node overcommit oversubscribe
	parsable partition qos quiet reservation test-only threads-per-core time tmp`)

// harmless has the options that change nothing that a promise rests on: neither when the job
// starts, nor what it costs.
var harmless = strings.Fields(`
	accel-bind acctg-freq bcast bcast-exclude bell chdir compress container container-id container-type context cpu-bind cpu-freq
	debugger-test disable-status distribution epilog error exact export export-file external-launcher get-user-env gpu-bind gpu-freq
	gres-flags het-group ignore-pbs ignore-signals input interactive job-name kill-command kill-on-bad-exit kill-on-invalid-dep label
	mail-type mail-user mem-bind mem-update mpi msg-timeout multi-prog network no-bell no-kill no-requeue no-shell oom-kill-step
	open-mode output overlap pack-group power prefer preserve-env profile prolog propagate pty quit-on-interrupt relative requeue
	resv-ports send-libs signal slurmd-debug stepmgr task-epilog task-prolog threads treewidth tres-bind unbuffered use-min-nodes
	verbose wait wait-all-nodes wait-for-children wckey whole wrap x11`)

// begin is Slurm's option that says when the job becomes eligible.
const begin = "begin"

// unwelcome has the options that a reservation excludes.
var unwelcome = []struct{ name, why string }{
	{"array", "a reservation is of one job; submit the array's tasks one by one"},
	{"async", "the command does not wait for its job"},
	{"batch", "when nodes are free of which one has certain features cannot be forecast"},
	{"bb", buffers}, {"bbf", buffers},
	{begin, "varq chooses when the job becomes eligible"},
	{"cluster-constraint", api.OneCluster},
	{"consolidate-segments", segments},
	{"contiguous", "when nodes side by side are free cannot be forecast"},
	{"core-spec", reserved},
	{"cores-per-socket", cores},
	{"deadline", "it lets Slurm end the job, which varq's promise does not need"},
	{"delay-boot", booting},
	{"dependency", "nobody can foresee when it is fulfilled"},
	{"external", "the job has no work that could be held until it is to start"},
	{"extra", "when nodes are free that the site chooses by it cannot be forecast"},
	{"extra-node-info", cores},
	{"gid", submitter},
	{"gpus-per-socket", "how many GPUs the job gets, and so what it costs at most, is left open"},
	{"hold", "a job that is held does not start; submit it without --hold"},
	{"immediate", "the job may have to wait"},
	{"jobid", "the job has its allocation already"},
	{"mcs-label", "when nodes without jobs of another label are free cannot be forecast"},
	{"nice", "how much longer a job of a lower priority waits cannot be forecast"},
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

// unwelcomeValues has the values that a reservation excludes of options that are in one of the
// other lists. excluded tells of one.
var unwelcomeValues = []struct {
	name, values string // the values are for people
	excluded     func(value string) bool
	why          string
}{
	// Read leaves out the job's own
	{"clusters", "another cluster", func(string) bool { return true }, api.OneCluster},
	{"distribution", "arbitrary", one("arbitrary"), "how long the nodes that SLURM_HOSTFILE names are busy cannot be forecast"},
	{"exclusive", "topo", one("topo"), "when a part of the network is free of other jobs cannot be forecast"},
	{"gres-flags", "enforce-binding, multiple-tasks-per-sharing, one-task-per-sharing", boundGres, "when GPUs are free together with the cores beside them cannot be forecast"},
	{"hint", "memory_bound, compute_bound", func(v string) bool { return v == "memory_bound" || v == "compute_bound" }, cores},
	{"nodelist", "a file", func(v string) bool { return strings.Contains(v, "/") }, "varq does not read the file; name the nodes themselves"},
}

// nothing has the values with which options of Slurm's ask for what is so without them. Templates
// of scripts have such an option where their user wants nothing of it.
var nothing = map[string][]string{
	"array": {""}, "bb": {""}, "cluster-constraint": {""}, "dependency": {""}, "gres": {"none"}, "immediate": {"0"}, "nice": {"0"},
	"nodelist": {""},
}

// resources has the options with lists of resources, of which a list asks for nothing if it asks
// for 0 of each.
var resources = []string{"gpus", "gpus-per-node", "gpus-per-socket", "gpus-per-task", "gres"}

// leaveOutNothing leaves out the options that ask for nothing.
func (o options) leaveOutNothing() {
	maps.DeleteFunc(o, func(name, value string) bool {
		is := func(none string) bool { return strings.EqualFold(value, none) }
		return slices.ContainsFunc(nothing[name], is) || slices.Contains(resources, name) && jobsize.None(value)
	})
}

// one tells of a value whether it is this one.
func one(value string) func(string) bool { return func(v string) bool { return v == value } }

// boundGres tells of a value of --gres-flags whether it says which cores or tasks share a GPU.
func boundGres(value string) bool {
	return slices.ContainsFunc(strings.Split(value, ","), func(flag string) bool {
		return flag != "disable-binding" && flag != "allow-task-sharing"
	})
}

// unwelcomeToReserve has those that varq reserve excludes as well.
var unwelcomeToReserve = []struct{ name, why string }{
	{"wait", "sbatch would wait for a job that waits for sbatch; use --dependency of another job, or sacct, to wait for its end"},
	{"test-only", "use --dry-run of varq reserve"},
}

// window has those options of varq's for which varq reserve has its own, whatever job it is: it says
// itself when the work is to start.
var window = []string{finishBy, risk, beginAfter}

// unwelcomeToEvery has those that varq every excludes as well.
var unwelcomeToEvery = []struct{ name, why string }{
	{"wait", "sbatch has to submit a job that recurs, and end; leave it out"},
	{"test-only", "sbatch would submit no job; leave it out (varq quote tells what can be promised)"},
	{"quiet", "sbatch would not print the job's number, not even with --parsable; leave it out"},
}

// unwelcomeToSize has those that exclude the choice of a size, which promises nothing: with them,
// the forecasts would be of jobs of other sizes, or of another cluster.
var unwelcomeToSize = []string{"cluster-constraint", "clusters", "ntasks-per-tres", "spread-job", "time-min", "tres-per-task"}

// variables has what follows SBATCH_, SLURM_ or SALLOC_ in the environment variable from which
// Slurm takes an option that is unwelcome.
var variables = map[string]string{
	"array": "ARRAY_INX", "batch": "BATCH", "bb": "BURST_BUFFER", "cluster-constraint": "CLUSTER_CONSTRAINT", "clusters": "CLUSTERS",
	"consolidate-segments": "CONSOLIDATE_SEGMENTS", "core-spec": "CORE_SPEC", "cores-per-socket": "NCORES_PER_SOCKET",
	"delay-boot": "DELAY_BOOT", "dependency": "DEPENDENCY", "distribution": "DISTRIBUTION", "exclusive": "EXCLUSIVE",
	"gpus-per-socket": "GPUS_PER_SOCKET", "gres-flags": "GRES_FLAGS", "hint": "HINT", "immediate": "IMMEDIATE", "jobid": "JOB_ID",
	"ntasks-per-tres": "NTASKS_PER_TRES", "segment": "SEGMENT_SIZE", "sockets-per-node": "NSOCKETS_PER_NODE",
	"spread-job": "SPREAD_JOB", "spread-segments": "SPREAD_SEGMENTS", "switches": "REQ_SWITCH", "thread-spec": "THREAD_SPEC",
	"tres-per-task": "TRES_PER_TASK", "wait": "WAIT",
}

// variable returns the environment variable from which a command takes an option, or "". A variable
// that asks for nothing is none.
func variable(command, option string, environment []string) string {
	suffix, known := variables[option]
	if !known {
		return ""
	}
	names := []string{map[string]string{"sbatch": "SBATCH_", "srun": "SLURM_", "salloc": "SALLOC_"}[command] + suffix}
	switch {
	case option == "clusters" || option == "hint":
		names = append(names, "SLURM_"+suffix)
	case option == "segment" && command == "srun":
		names = []string{"SRUN_" + suffix}
	}
	for _, name := range names {
		asks := func(v string) bool {
			value, is := strings.CutPrefix(v, name+"=")
			return is && !slices.Contains(nothing[option], value)
		}
		if slices.ContainsFunc(environment, asks) {
			return name
		}
	}
	return ""
}

// byReserve reports whether varq reserve runs the command.
func byReserve(order *sbatch.Order) bool { return order != nil && !order.Recurs }

// conflicts returns an error for the options that a reservation excludes. Slurm's JSON has those
// that come from the environment too, except --switches.
func conflicts(o options, command string, environment []string, order *sbatch.Order) error {
	var errs []error
	asked, reserves := o.asked(), byReserve(order)
	with, all := "--"+asked, unwelcome
	switch {
	case reserves:
		with, all = "varq reserve", slices.Concat(unwelcome, unwelcomeToReserve)
	case order != nil:
		with, all = "varq every", slices.Concat(unwelcome, unwelcomeToEvery)
	}
	refuse := func(name, option, why string) {
		if v := variable(command, name, environment); v != "" {
			option += " (" + v + " in the environment)"
		}
		errs = append(errs, fmt.Errorf("--%s does not go together with %s: %s", option, with, why))
	}
	for _, u := range all {
		if u.name == begin && asked != beginBy {
			u.why = "the job is eligible at once"
		}
		if o.has(u.name) || u.name == "switches" && variable(command, u.name, environment) != "" {
			refuse(u.name, u.name, u.why)
		}
	}
	if reserves {
		for _, name := range window {
			if _, given := o.own(name); given {
				errs = append(errs, fmt.Errorf("--%s is given to sbatch, or the script has it: give varq reserve --latest, --finish-by or --earliest instead, before --", name))
			}
		}
	}
	for _, u := range unwelcomeValues {
		value, given := o[u.name]
		switch {
		case !given || !u.excluded(value):
		case u.name == "clusters" && reserves:
			errs = append(errs, errors.New("--clusters is given to sbatch, or SBATCH_CLUSTERS is set: give it to varq reserve instead, before --"))
		case u.name == "clusters":
			refuse(u.name, u.name, u.why)
		default:
			refuse(u.name, u.name+"="+value, u.why)
		}
	}
	for _, name := range o.unknown() {
		refuse(name, name, "this varq does not know what that changes about the job")
	}
	return errors.Join(errs...)
}

// whyNot returns why an option that is in unwelcomeToSize is unwelcome.
func whyNot(name string) string {
	for _, u := range unwelcome {
		if u.name == name {
			return u.why
		}
	}
	return api.OneCluster
}

// unknown returns Slurm's options that are in none of the lists, in order.
func (o options) unknown() (names []string) {
	for name := range o {
		if !strings.HasPrefix(name, ownPrefix) && !listed(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// listed reports whether an option is in one of the lists.
func listed(name string) bool {
	return slices.Contains(understood, name) || slices.Contains(harmless, name) ||
		slices.ContainsFunc(unwelcome, func(u struct{ name, why string }) bool { return u.name == name })
}
