package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/config"
)

const (
	// gcPercent lets garbage grow to four times the live memory, which is tens of megabytes. So
	// collections are fewer, which makes the slowest plans faster.
	gcPercent = 400
	// memoryLimit, in bytes, is what memory does not grow to for garbage alone. Live memory is some
	// 200 MB at a site where 25,000 jobs wait and 5,000 run. The environment's GOMEMLIMIT takes its
	// place.
	memoryLimit = 512 << 20
)

// Main runs a daemon with the configuration c, which logs to log, until ctx is done. With standby
// it is one that StandBy returns.
func Main(ctx context.Context, c config.Config, reload Reload, standby bool, log io.Writer) error {
	debug.SetGCPercent(gcPercent)
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	logger := newLogger(c.Log, log)
	logger.Info("varqd starts", "version", api.Version)
	o := Options{Config: c, Reload: reload, Log: logger}
	open := func() (*Daemon, error) { return New(o) }
	if standby {
		open = func() (*Daemon, error) { return StandBy(ctx, o) }
	}
	d, err := begin(ctx, open, time.Tick(openingSign), logger)
	if errors.Is(err, context.Canceled) { // it was stopped before it began
		return nil
	}
	if err != nil {
		return err
	}
	if err = d.Run(ctx); errors.Is(err, errUnended) {
		return err // what hangs may keep the files from being closed, too
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	return errors.Join(err, d.closeWithin(closing))
}

// newLogger returns the logger that c describes. Package config has checked c's values.
func newLogger(c config.Log, w io.Writer) *slog.Logger {
	var options slog.HandlerOptions
	var level slog.Level
	if level.UnmarshalText([]byte(c.Level)) == nil {
		options.Level = level
	}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, &options))
	}
	return slog.New(slog.NewTextHandler(w, &options))
}
