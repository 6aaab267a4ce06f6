package alone

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/user"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/varq-project/varq/predictor/slurm/program"
)

// niceness is how far the process steps back on a host that others use too, and processors how many
// it takes at most.
const (
	niceness   = 10
	processors = 2
)

// newOptions returns the Options of the user of this process at a place.
func newOptions(at Place, log *slog.Logger) (Options, error) {
	who, err := user.Current()
	if err != nil {
		return Options{}, err
	}
	return Options{
		Folder: at.Folder, User: who.Username, Slurm: NewCommands(program.Sparing{Folder: at.Folder, Now: time.Now}),
		Now: func() int64 { return time.Now().Unix() }, Zone: time.Local, Log: log,
	}, nil
}

// Run forecasts for the user of this process at a place until ctx is done, or nobody has asked for
// long. The error is ErrRunning if another process does.
func Run(ctx context.Context, at Place, log *slog.Logger) (err error) {
	// The group is this process with all of its threads. Where that is not allowed, all is as it was.
	_ = syscall.Setpriority(syscall.PRIO_PGRP, 0, niceness)
	runtime.GOMAXPROCS(min(processors, runtime.GOMAXPROCS(0)))
	debug.SetGCPercent(50)
	o, err := newOptions(at, log)
	if err != nil {
		return err
	}
	f, err := New(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// Invariant: the lock is this process's, so that a socket that is there is one left behind.
	if err := os.Remove(at.Socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l, err := net.Listen("unix", at.Socket)
	if err != nil {
		return err
	}
	id := pidOf(at.Folder)
	if err := os.WriteFile(id, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		log.Warn("the number of this process is in no file", "error", err)
	}
	defer os.Remove(id)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var serving sync.WaitGroup
	var failed error
	serving.Go(func() {
		defer stop()
		failed = f.Serve(ctx, l)
	})
	err = f.Follow(ctx)
	stop()
	serving.Wait()
	return errors.Join(err, failed)
}
