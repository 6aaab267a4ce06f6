package every

import (
	"context"
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// try makes sure that sbatch would submit the job for the occurrence at a time: sbatch and
// varq-filter read the options as they will then, and nothing is submitted.
func (s *Series) try(ctx context.Context, at int64, environ []string) error {
	program := sbatch.Program{Path: s.Program, Env: environ, Own: s.own(at), Args: s.Args}
	job, err := program.Describe(ctx, sbatch.Order{Recurs: true})
	if err != nil {
		return err
	}
	return checkOptions(s.Args[:max(0, len(s.Args)-job.Arguments)])
}

// checkOptions refuses options of sbatch that would take the place of the series' own.
func checkOptions(options []string) error {
	for _, option := range options {
		name, _, _ := strings.Cut(option, "=")
		for _, own := range []struct{ name, why string }{
			{"--begin-by", "is what the schedule says, for each occurrence; leave it out"},
			{"--prob", "is for varq every itself: give it before --"},
		} {
			// sbatch takes abbreviations
			if len(name) > len("--") && strings.HasPrefix(own.name, name) {
				return fmt.Errorf("%s %s", own.name, own.why)
			}
		}
	}
	return nil
}
