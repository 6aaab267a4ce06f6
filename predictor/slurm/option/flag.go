package option

import "strings"

// Flag is an option of sbatch's as its command line has it.
type Flag struct {
	Name   string
	Letter string // "" if it has none
	// Value says that it takes a value, and Must that it does not go without one.
	Value, Must bool
}

// Flags are all options of sbatch but those for which varq's commands have values of their own.
// Some are of one Slurm and not of another.
var Flags = flags()

// The options, each with its letter if it has one.
const (
	withValue = `
	acctg-freq array:a batch bb bbf begin:b chdir:D cluster-constraint comment container container-id container-type
	context core-spec:S cores-per-socket cpu-freq deadline delay-boot dependency:d distribution:m error:e export
	export-file extra extra-node-info:B gid gpu-bind gpu-freq gpus-per-socket gres-flags hint input:i job-name:J
	kill-on-invalid-dep mail-type mail-user mcs-label mem-bind network nodefile:F ntasks-per-core ntasks-per-socket
	ntasks-per-tres open-mode output:o power prefer priority profile resources segment signal sockets-per-node switches
	thread-spec threads-per-core time-min tres-bind tres-per-task uid wait-all-nodes wckey wrap`
	mayHaveValue = `
	get-user-env mem-update nice oom-kill-step propagate requeue`
	withoutValue = `
	consolidate-segments contiguous external hold:H ignore-pbs no-kill:k no-requeue overcommit:O oversubscribe:s
	parsable quiet:Q reboot resv-ports spread-job spread-segments stepmgr test-only use-min-nodes verbose:v wait:W`
)

func flags() (all []Flag) {
	for _, of := range []struct {
		options     string
		value, must bool
	}{{withValue, true, true}, {mayHaveValue, true, false}, {withoutValue, false, false}} {
		for _, text := range strings.Fields(of.options) {
			name, letter, _ := strings.Cut(text, ":")
			all = append(all, Flag{name, letter, of.value, of.must})
		}
	}
	return all
}
