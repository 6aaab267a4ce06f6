// Package cli has what the commands of varq and varq-lab share: the environment of a command, the
// errors of a command line, and the formats of numbers, lists and JSON.
package cli

import (
	"errors"
	"io"
	"os"
	"time"
)

// Env is the environment of a command.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Now            func() int64         // Unix seconds
	Elapsed        func() time.Duration // since the process began; the clock of progress
	Zone           *time.Location       // of the times that are read and shown
	Terminal       bool                 // Stdout is a terminal
	Width          int                  // of a line of the terminal, in characters; 0 if unknown
}

// NewEnv returns the environment of this process, which begins now.
func NewEnv(stdin io.Reader, stdout, stderr io.Writer) Env {
	began := time.Now()
	terminal, width := Terminal(stdout)
	return Env{
		Stdin:    stdin,
		Stdout:   stdout,
		Stderr:   stderr,
		Getenv:   os.Getenv,
		Now:      func() int64 { return time.Now().Unix() },
		Elapsed:  func() time.Duration { return time.Since(began) },
		Zone:     time.Local,
		Terminal: terminal,
		Width:    width,
	}
}

// ErrInterrupted is the error of a command whose context has ended.
var ErrInterrupted = errors.New("interrupted")
