package command

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/varqd/doctor"
)

// newDoctor returns the command doctor. host examines this host; see Env.
func newDoctor(env *cli.Env, link *link.Link, host func(ctx context.Context, mungeSocket string) []doctor.Finding) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor [--json]",
		Short: "Say whether reservations can be made on this host, and if not, why",
		Long: `varq doctor examines what a host needs so that its users can ask for
reservations: that varqd answers and is well, munge, and varq's parts in Slurm's
commands. Each line is ok, a warning or a failure with its remedy.

'varqd --check --live' on varqd's host examines what varqd needs of Slurm.`,
		Example: `  varq doctor`,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := config.FindClient(env.Getenv)
			if err != nil {
				return err
			}
			varqd, err := link.Dial()
			if err != nil {
				return err
			}
			findings := append(doctor.Varqd(cmd.Context(), varqd, time.Unix(env.Now(), 0)), host(cmd.Context(), found.MungeSocket)...)
			write := doctor.Write
			if asJSON {
				write = doctor.WriteJSON
			}
			if err := write(env.Stdout, findings); err != nil {
				return err
			}
			if doctor.Failed(findings) {
				return cli.ErrNo
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the findings as JSON")
	return cmd
}
