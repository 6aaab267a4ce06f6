package filter

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/slurm/option"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// begin is Slurm's option that says when the job becomes eligible.
const begin = "begin"

// leaveOutNothing leaves out the options that ask for nothing.
func (o options) leaveOutNothing() { maps.DeleteFunc(o, option.AsksForNothing) }

// unwelcomeToReserve has those that varq reserve excludes as well.
var unwelcomeToReserve = []option.Why{
	{Name: "array", Why: "each of its jobs is one job; sbatch --begin-by promises the start of an array's tasks"},
	{Name: "wait", Why: "sbatch would wait for a job that waits for sbatch; use --dependency of another job, or sacct, to wait for its end"},
	{Name: "test-only", Why: "use --dry-run of varq reserve"},
}

// window has those options of varq's for which varq reserve has its own: it says itself when the
// work is to start.
var window = []string{finishBy, risk, beginAfter}

// unwelcomeToEvery has those that varq every excludes as well.
var unwelcomeToEvery = []option.Why{
	{Name: "array", Why: "the job that recurs is one job; leave it out"},
	{Name: "wait", Why: "sbatch has to submit a job that recurs, and end; leave it out"},
	{Name: "test-only", Why: "sbatch would submit no job; leave it out (varq quote tells what can be promised)"},
	{Name: "quiet", Why: "sbatch would not print the job's number, not even with --parsable; leave it out"},
}

// unwelcomeToChain has those that varq chain excludes as well.
var unwelcomeToChain = []option.Why{
	{Name: "array", Why: "each link of a chain is one job; leave it out"},
	{Name: "wait", Why: "sbatch has to submit the next link, and end; leave it out"},
	{Name: "test-only", Why: "sbatch would submit no job; leave it out (varq quote tells what can be promised)"},
	{Name: "quiet", Why: "sbatch would not print the job's number, not even with --parsable; leave it out"},
}

// unwelcomeToSize has those that exclude the choice of a size, which promises nothing: with them,
// the forecasts would be of jobs of other sizes, or of another cluster.
var unwelcomeToSize = []string{"cluster-constraint", "clusters", "ntasks-per-tres", "spread-job", "time-min", "tres-per-task"}

// variables has what follows SBATCH_, SLURM_ or SALLOC_ in the environment variable from which
// Slurm takes an option that is unwelcome.
var variables = map[string]string{
	"batch": "BATCH", "bb": "BURST_BUFFER", "cluster-constraint": "CLUSTER_CONSTRAINT", "clusters": "CLUSTERS",
	"consolidate-segments": "CONSOLIDATE_SEGMENTS", "core-spec": "CORE_SPEC", "cores-per-socket": "NCORES_PER_SOCKET",
	"delay-boot": "DELAY_BOOT", "dependency": "DEPENDENCY", "distribution": "DISTRIBUTION", "exclusive": "EXCLUSIVE",
	"gpus-per-socket": "GPUS_PER_SOCKET", "gres-flags": "GRES_FLAGS", "hint": "HINT", "immediate": "IMMEDIATE", "jobid": "JOB_ID",
	"ntasks-per-tres": "NTASKS_PER_TRES", "segment": "SEGMENT_SIZE", "sockets-per-node": "NSOCKETS_PER_NODE",
	"spread-job": "SPREAD_JOB", "spread-segments": "SPREAD_SEGMENTS", "switches": "REQ_SWITCH", "thread-spec": "THREAD_SPEC",
	"tres-per-task": "TRES_PER_TASK", "wait": "WAIT",
}

// variable returns the environment variable from which a command takes an option, or "". A variable
// that asks for nothing is none.
func variable(command, name string, environment []string) string {
	suffix, known := variables[name]
	if !known {
		return ""
	}
	names := []string{map[string]string{"sbatch": "SBATCH_", "srun": "SLURM_", "salloc": "SALLOC_"}[command] + suffix}
	switch {
	case name == "clusters" || name == "hint":
		names = append(names, "SLURM_"+suffix)
	case name == "segment" && command == "srun":
		names = []string{"SRUN_" + suffix}
	}
	for _, variable := range names {
		asks := func(v string) bool {
			value, is := strings.CutPrefix(v, variable+"=")
			return is && !option.AsksForNothing(name, value)
		}
		if slices.ContainsFunc(environment, asks) {
			return variable
		}
	}
	return ""
}

// byReserve reports whether varq reserve runs the command.
func byReserve(order *sbatch.Order) bool { return order != nil && !order.Recurs && !order.Chain }

// conflicts returns an error for the options that a reservation excludes. Slurm's JSON has those
// that come from the environment too, except --switches.
func conflicts(o options, command string, environment []string, order *sbatch.Order) error {
	var errs []error
	asked, reserves := o.asked(), byReserve(order)
	with, all := "--"+asked, option.Unwelcome
	switch {
	case reserves:
		with, all = "varq reserve", slices.Concat(option.Unwelcome, unwelcomeToReserve)
	case order != nil && order.Chain:
		with, all = "varq chain", slices.Concat(option.Unwelcome, unwelcomeToChain)
	case order != nil:
		with, all = "varq every", slices.Concat(option.Unwelcome, unwelcomeToEvery)
	}
	refuse := func(name, given, why string) {
		if v := variable(command, name, environment); v != "" {
			given += " (" + v + " in the environment)"
		}
		errs = append(errs, fmt.Errorf("--%s does not go together with %s: %s", given, with, why))
	}
	for _, u := range all {
		if u.Name == begin && asked != beginBy {
			u.Why = "the job is eligible at once"
		}
		if o.has(u.Name) || u.Name == "switches" && variable(command, u.Name, environment) != "" {
			refuse(u.Name, u.Name, u.Why)
		}
	}
	if reserves {
		for _, name := range window {
			if _, given := o.own(name); given {
				errs = append(errs, fmt.Errorf("--%s is given to sbatch, or the script has it: give varq reserve --latest, --finish-by or --earliest instead, before --", name))
			}
		}
	}
	for _, u := range option.UnwelcomeValues {
		value, given := o[u.Name]
		switch {
		case !given || !u.Excluded(value):
		case u.Name == "clusters" && reserves:
			errs = append(errs, errors.New("--clusters is given to sbatch, or SBATCH_CLUSTERS is set: give it to varq reserve instead, before --"))
		case u.Name == "clusters":
			refuse(u.Name, u.Name, u.Why)
		default:
			refuse(u.Name, u.Name+"="+value, u.Why)
		}
	}
	for _, name := range o.unknown() {
		refuse(name, name, "this varq does not know what that changes about the job")
	}
	return errors.Join(errs...)
}

// unknown returns Slurm's options that are in none of the lists, in order.
func (o options) unknown() (names []string) {
	for name := range o {
		if !strings.HasPrefix(name, ownPrefix) && !option.Listed(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
