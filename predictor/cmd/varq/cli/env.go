// Package cli holds what the commands of varq have in common: the world they run
// in, the faults they find in a command line, and how they write what they show.
package cli

import (
	"errors"
	"io"
	"time"
)

// Env is the world a command runs in.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Now            func() int64         // Unix seconds
	Elapsed        func() time.Duration // since the process began; progress is shown by this clock
	Zone           *time.Location       // of the times read and shown
}

// ErrInterrupted ends a command whose context has ended.
var ErrInterrupted = errors.New("interrupted")
