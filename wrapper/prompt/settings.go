package prompt

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/varq-project/varq/predictor/promise/checkpoint"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// Options are the options of varq-wrapper about checkpoints, as the user writes them.
type Options struct {
	Signal, File, Command string
	Cost, Interval, MTBF  string
}

// Given reports whether one of the options was given.
func (o *Options) Given() bool { return *o != Options{} }

// Settings are the parsed Options.
type Settings struct {
	// Cost is how long a checkpoint stops the work. If it is Guessed, it equals Lead.
	Cost    time.Duration
	Guessed bool
	// Interval is the time between two questions whether to checkpoint. If it is 0, there are
	// prompts only before the job is stopped.
	Interval time.Duration
	// Lead is how long before the job is stopped the last prompt comes. It is at least Cost.
	Lead time.Duration
	// MTBF is the mean time between failures of one node, or 0 if varqd knows the risk.
	MTBF time.Duration
	// Signal prompts the application, unless it is 0. If Alone, it is sent to the command itself,
	// and otherwise to the steps of its job.
	Signal syscall.Signal
	Alone  bool
	// File is created to prompt the application, unless it is "". The application removes it.
	File string
	// Command prompts the application, unless it is "".
	Command string
}

// defaultLead is the default of Lead. It equals the default of Slurm's --signal.
const defaultLead = time.Minute

// Parse parses the options. An error names the option.
func (o *Options) Parse() (s Settings, err error) {
	if o.Signal == "" && o.File == "" && o.Command == "" {
		return s, errors.New("nothing is to prompt the application: --checkpoint-signal, --checkpoint-file or --checkpoint-command says what")
	}
	if o.Interval != "" && o.Cost == "" {
		return s, errors.New("--checkpoint-interval needs --checkpoint-cost: how long a checkpoint stops the work")
	}
	if o.MTBF != "" && o.Interval == "" {
		return s, errors.New("--checkpoint-mtbf needs --checkpoint-interval: without it there are prompts only before the job is stopped")
	}
	for _, option := range []struct {
		name, text string
		value      *time.Duration
		least      int64 // seconds
	}{
		{"--checkpoint-cost", o.Cost, &s.Cost, 0},
		{"--checkpoint-interval", o.Interval, &s.Interval, 1},
		{"--checkpoint-mtbf", o.MTBF, &s.MTBF, 1},
	} {
		if option.text == "" {
			continue
		}
		seconds, err := slurmtime.ParseSpan(option.text)
		if err != nil {
			return s, fmt.Errorf("%s: %w", option.name, err)
		}
		if seconds < option.least || float64(seconds) > checkpoint.Longest {
			return s, fmt.Errorf("%s: %s is not between %d s and a century", option.name, option.text, option.least)
		}
		*option.value = time.Duration(seconds) * time.Second
	}
	s.Lead = defaultLead
	if o.Signal != "" {
		if err := s.parseSignal(o.Signal); err != nil {
			return s, fmt.Errorf("--checkpoint-signal: %w", err)
		}
	}
	s.Lead = max(s.Lead, s.Cost)
	if o.Cost == "" {
		s.Cost, s.Guessed = s.Lead, true
	}
	s.Command = o.Command
	if o.File != "" {
		s.File, err = filepath.Abs(o.File)
	}
	return s, err
}

// parseSignal reads [B:]SIG[,SECONDS].
func (s *Settings) parseSignal(text string) error {
	name, seconds, timed := strings.Cut(text, ",")
	if to, rest, ok := strings.Cut(name, ":"); ok && strings.EqualFold(to, "B") {
		name, s.Alone = rest, true
	}
	if number, err := strconv.Atoi(name); err == nil {
		s.Signal = syscall.Signal(number)
	} else {
		name = strings.ToUpper(name)
		s.Signal = unix.SignalNum("SIG" + strings.TrimPrefix(name, "SIG"))
	}
	if s.Signal < 1 || s.Signal > 64 || s.Signal == unix.SIGKILL || s.Signal == unix.SIGSTOP {
		return fmt.Errorf("%.40q is not a signal that prompts: USR1, USR2, and their like", name)
	}
	if !timed {
		return nil
	}
	n, err := strconv.ParseInt(seconds, 10, 32)
	if err != nil || n < 0 {
		return fmt.Errorf("%.40q is not a number of seconds", seconds)
	}
	s.Lead = time.Duration(n) * time.Second
	return nil
}
