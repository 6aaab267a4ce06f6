package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/test/cluster"
)

func execCommand() *cobra.Command {
	var user string
	cmd := &cobra.Command{
		Use:   "exec DIR [-u USER] -- COMMAND [ARG]...",
		Short: "Run a command as a user of the cluster",
		Args:  cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := cluster.Open(args[0])
			if err != nil {
				return err
			}
			run := c.Command(cmd.Context(), user, args[1], args[2:]...)
			run.Stdin, run.Stdout, run.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			err = run.Run()
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return exitStatus(max(1, exit.ExitCode()))
			}
			return err
		},
	}
	cmd.Flags().StringVarP(&user, "user", "u", "alice", "user to be")
	return cmd
}

// exitStatus is the exit status of a failed command. slurmlab exits with it and prints no
// message, because the command has already reported its error.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

func envCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "env DIR",
		Short: "Print the shell variables that select the cluster",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := cluster.Open(args[0])
			if err != nil {
				return err
			}
			for _, v := range c.Env() {
				fmt.Fprintln(cmd.OutOrStdout(), "export", v)
			}
			if len(c.Programs) > 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "export PATH=%s:$PATH\n", strings.Join(c.Programs, ":"))
			}
			return nil
		},
	}
}
