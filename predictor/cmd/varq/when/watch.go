package when

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// watch asks and shows again after each pause, until the user interrupts it. An error that may
// pass, as while varqd restarts, is told, and one that lasts ends it.
func watch(ctx context.Context, env *cli.Env, pause time.Duration, ask func(context.Context) error) error {
	for {
		err := ask(ctx)
		switch {
		case ctx.Err() != nil:
			return cli.ErrInterrupted
		case err != nil && lasts(err):
			return err
		case err != nil:
			fmt.Fprintf(env.Stderr, "varq: %s; varq asks again in %v\n", cli.PrintableLines(err.Error()), pause)
		}
		select {
		case <-ctx.Done():
			return cli.ErrInterrupted
		case <-time.After(pause):
		}
		if err == nil {
			fmt.Fprintln(env.Stdout)
		}
	}
}

// lasts reports whether an error does not pass by itself: varqd has refused, its socket is not for
// this user, or nobody reads what is shown.
func lasts(err error) bool {
	return api.Refused(err) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EPIPE)
}
