// Command skewed is a varqd for tests that runs as if its host's clock were wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/varqd/daemon"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "skewed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	file := flag.String("config", "", "varqd's configuration")
	ahead := flag.Duration("ahead", 0, "by how much the clock is ahead")
	flag.Parse()
	c, err := config.Load(*file)
	if err != nil {
		return err
	}
	d, err := daemon.New(daemon.Options{
		Config: c,
		Now:    func() time.Time { return time.Now().Add(*ahead) },
		Log:    slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		return err
	}
	return errors.Join(d.Run(ctx), d.Close())
}
