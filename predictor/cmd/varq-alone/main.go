// Command varq-alone is varq in one file for a user of any Slurm cluster: where there is no varqd,
// a process of her own forecasts for her, from what Slurm's commands tell; see varq(1).
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/varq-project/varq/predictor/cmd/varq/command"
	"github.com/varq-project/varq/predictor/varqd/alone"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == alone.Command {
		os.Exit(forecast())
	}
	os.Exit(command.Main(os.Args[1:], alone.User{Getenv: os.Getenv, Program: ownPath()}))
}

// forecast is the process that forecasts, until nobody asks any more. It returns the exit code.
func forecast() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	at, err := alone.Find(os.Getenv)
	if err == nil {
		err = alone.Run(ctx, at, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "varq-alone:", err)
		return command.ExitFailed
	}
	return command.ExitOK
}

// ownPath returns the path of this program, as it was called: not that of a file to which a link
// leads.
func ownPath() string {
	found, err := exec.LookPath(os.Args[0])
	if err != nil {
		found = os.Args[0]
	}
	if path, err := filepath.Abs(found); err == nil {
		return path
	}
	return found
}
