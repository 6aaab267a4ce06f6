package sbatch

import (
	"context"
	"errors"
	"testing"
)

// What sbatch or varq-filter say of options and of the script is an error of the command line; what
// they say of anything else is not.
func TestMisuse(t *testing.T) {
	exit := errors.New("exit status 1")
	for said, want := range map[string]bool{
		"": false,
		"sbatch: error: Unable to open file job.sh\n":                                                                   true,
		"sbatch: error: Batch script is empty!\n":                                                                       true,
		"sbatch: error: Invalid --exclusive specification\n":                                                            true,
		"sbatch: error: Maximum node count 1 is less than minimum node count 2\n":                                       true,
		"varq: --hold does not go together with varq reserve\nsbatch: error: cli_filter plugin terminated with error\n": true,
		"varq: /etc/varq/varq.yaml:1: unknown key \"x\"\nsbatch: error: cli_filter plugin terminated with error\n":      false,
		"sbatch: fatal: Could not establish a configuration source\n":                                                   false,
		"sbatch: error: There is a problem talking to the database: Connection refused.\n":                              false,
		"sbatch: error: Batch job submission failed: Invalid account\n":                                                 false,
	} {
		_, misuse := errors.AsType[*Misuse](failure(t.Context(), exit, said))
		if misuse != want {
			t.Errorf("%q: an error of the command line: %v, want %v", said, misuse, want)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, misuse := errors.AsType[*Misuse](failure(over, exit, "sbatch: error: Invalid\n")); misuse {
		t.Error("an sbatch that did not end in time is an error of the command line")
	}
}
