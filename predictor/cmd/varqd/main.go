// Command varqd makes and keeps the reservations of a Slurm cluster; see
// varqd(8).
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/varqd/daemon"
	"github.com/varq-project/varq/predictor/varqd/doctor"
)

func main() { os.Exit(run()) }

func run() int {
	// A terminal that is closed does not end varqd: it reads its policy anew.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := command(hangups).ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "varqd:", err)
		return 1
	}
	return 0
}

// command returns the command varqd, which reads its policy anew at each of the signals hangups.
func command(hangups <-chan os.Signal) *cobra.Command {
	var path string
	var check, live, asJSON, standby bool
	cmd := &cobra.Command{
		Use:   "varqd",
		Short: "The daemon that makes and keeps varq's reservations",
		Example: `  varqd --check --live
  varqd --standby`,
		Version:       api.Version,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Load(path)
			if err != nil {
				return err
			}
			if standby && check {
				return errors.New("--standby does not go with --check")
			}
			if check {
				return examine(cmd, path, c, live, asJSON)
			}
			if live || asJSON {
				return errors.New("--live and --json go with --check")
			}
			reload := daemon.Reload{Signals: hangups, Read: func() (config.Config, error) { return config.Load(path) }}
			return daemon.Main(cmd.Context(), c, reload, standby, os.Stderr)
		},
	}
	cmd.Flags().StringVar(&path, "config", config.Path(os.Getenv), "configuration file")
	cmd.Flags().BoolVar(&standby, "standby", false, "if another varqd uses the ledger, wait until it has ended, and take its place")
	cmd.Flags().BoolVar(&check, "check", false, "check the configuration, and the files that it names, and exit")
	cmd.Flags().BoolVar(&live, "live", false, "with --check: examine Slurm, varqd's rights in it, and this host as well")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --check: write the findings as JSON")
	return cmd
}

// errUnwell ends a check that has found a failure.
var errUnwell = errors.New("varqd would not work as it is configured")

// examine shows what is found of the configuration c, which is in the file path.
func examine(cmd *cobra.Command, path string, c config.Config, live, asJSON bool) error {
	findings, err := daemon.Examine(cmd.Context(), c, live)
	if err != nil {
		return err
	}
	findings = append([]doctor.Finding{{Of: "configuration", Verdict: doctor.OK, Found: path + " is well-formed"}}, findings...)
	write := doctor.Write
	if asJSON {
		write = doctor.WriteJSON
	}
	if err := write(cmd.OutOrStdout(), findings); err != nil {
		return err
	}
	if doctor.Failed(findings) {
		return errUnwell
	}
	return nil
}
