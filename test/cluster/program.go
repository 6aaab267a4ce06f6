package cluster

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Main is the main function of a command that uses a private Slurm. SIGINT and SIGTERM end the
// context of run, so that it can stop the cluster. Main writes an error of run after what failed,
// and exits with 1 then.
func Main(failed string, run func(context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", failed, err)
		os.Exit(1)
	}
}

// Sleep waits for d. If ctx ends first, Sleep returns its error.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
