package flow

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
)

// excluded are the options of sbatch that a job of a flow does not have, and what to do instead: a
// clause without a full stop.
var excluded = map[string]string{
	"begin-by": promisedWhole, "finish-by": promisedWhole, "prob": promisedWhole,
	"hold":      "leave it out, as flow itself holds jobs until all are promised",
	"parsable":  "leave it out, as flow itself reads what sbatch prints",
	"test-only": "leave it out, as it submits nothing",
	"wait":      "leave it out, and name the job in those that wait for it (afterany: ...)",
}

// promisedWhole is what to do instead of a promise to one job.
const promisedWhole = "leave it out: 'varq flow FILE --finish-by=TIME --prob=P' has the end of all jobs promised"

// withValue are the options with values that varq gives sbatch.
const withValue = "begin-by finish-by prob begin-after on-miss risk checkpoint-interval risky-nodes sizes size risk-aversion lock-in size-by tasks accounts max-cost"

// check returns what is wrong with what follows sbatch on the command line of a job.
func (j *Job) check() error {
	words, err := cli.Words(j.Sbatch)
	if err != nil {
		return fmt.Errorf("it is not a command line: %w", err)
	}
	var errs []error
	found := func(flag *pflag.Flag, _ string) error {
		instead := excluded[flag.Name]
		if of := j.conditions(); flag.Name == "dependency" && len(of) > 0 {
			instead = fmt.Sprintf("it would take the place of %s; name a job of the file as '%[1]s: %[2]s' does", of[0].kind, of[0].on[0])
		}
		if instead != "" {
			errs = append(errs, fmt.Errorf("--%s does not go together with varq flow: %s", flag.Name, instead))
		}
		return nil
	}
	_ = sbatchFlags().ParseAll(words, found) // sbatch says what it does not understand
	return errors.Join(errs...)
}

// sbatchFlags returns the options of sbatch. They end with the script, and may be abbreviated.
func sbatchFlags() *pflag.FlagSet {
	cmd := new(cobra.Command)
	options.AddJob(cmd, nil).AddOthers()
	flags := cmd.Flags()
	for name := range strings.FieldsSeq(withValue) {
		flags.String(name, "", "")
	}
	flags.Bool("best-effort", false, "")
	flags.Usage = func() {}
	flags.SetInterspersed(false)
	flags.ParseErrorsAllowlist.UnknownFlags = true // of other plugins
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		var meant []string
		flags.VisitAll(func(flag *pflag.Flag) {
			if strings.HasPrefix(flag.Name, name) {
				meant = append(meant, flag.Name)
			}
		})
		if len(meant) == 1 {
			name = meant[0]
		}
		return pflag.NormalizedName(name)
	})
	return flags
}
