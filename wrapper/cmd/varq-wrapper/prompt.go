package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/checkpoint"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/varqd/jobrisk"
	"github.com/varq-project/varq/wrapper"
	"github.com/varq-project/varq/wrapper/prompt"
)

// flagPrompt is the option with which startPrompting runs varq-wrapper.
const flagPrompt = "prompt"

// variableFile is the environment variable that names to the command the file that prompts it.
const variableFile = "VARQ_CHECKPOINT_FILE"

// parsePrompts reads the options about checkpoints, in a job or outside of one.
func parsePrompts(o *prompt.Options) (prompt.Settings, error) {
	s, err := o.Parse()
	if err == nil && s.Signal != 0 && !s.Alone && number("SLURM_JOB_ID") == 0 {
		err = errors.New("--checkpoint-signal: outside of a job there are no steps to prompt; B:SIG prompts the command")
	}
	return s, err
}

// startPrompting starts a process that prompts the command that will replace this process. In a
// step, one task does so for all. If it fails, the command runs without prompts.
func startPrompting(s *prompt.Settings, options []string) {
	first := number("SLURM_PROCID") == 0
	if s.File != "" {
		var err error
		if first {
			err = prompt.RemovePrompt(s.File) // left from before the job was requeued
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "varq: %v\n", err)
		} else {
			_ = os.Setenv(variableFile, s.File) // cannot fail: neither has a NUL
		}
	}
	if !first {
		return
	}
	self, err := prompt.Self()
	if err == nil {
		defer self.Close()
		err = wrapper.StartBeside(self, append([]string{"--" + flagPrompt}, options...)...)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "varq: nobody prompts the work to checkpoint: %v\n", err)
	}
}

// promptUntilEnd prompts the process whose descriptor this process has inherited, until that
// process ends.
func (f *flags) promptUntilEnd() (int, error) {
	signal.Notify(make(chan os.Signal, 1)) // signals are meant for the work
	s, err := parsePrompts(&f.checkpoint)
	if err != nil {
		return exitUsage, err
	}
	application := prompt.Inherited(wrapper.FileBeside)
	job := number("SLURM_JOB_ID")
	slurm := wrapper.Slurm{Getenv: os.Getenv}
	ways := prompt.Ways{Settings: s, Application: application, Output: os.Stderr, SignalSteps: func(signal syscall.Signal) error {
		return slurm.Signal(job, step(os.Getenv("SLURM_STEP_ID")), signal)
	}}
	p := prompt.Prompter{Settings: s, Tell: teller(&s), Ready: ways.Ready, Prompt: ways.Prompt, Log: os.Stderr, End: func() (int64, error) {
		if job == 0 {
			return 0, nil
		}
		j, err := slurm.Job(job)
		return j.End, err
	}}
	p.Run(application.Ended())
	return 0, nil
}

// endOfSteps is the least number that no step of srun has (Slurm's SLURM_MAX_NORMAL_STEP_ID).
const endOfSteps = 0xfffffff0

// step returns the number of a step of srun, or "" for any other step. Slurm 26.05 gives the batch
// script the step number -5; other versions give it none.
func step(id string) string {
	if n, err := strconv.ParseUint(id, 10, 32); err != nil || n >= endOfSteps {
		return ""
	}
	return id
}

// teller returns the function that tells the risk of the job's nodes: from --checkpoint-mtbf, or
// from varqd.
func teller(s *prompt.Settings) func(context.Context, *checkpoint.Request) error {
	if s.MTBF > 0 {
		nodes := max(1, number("SLURM_JOB_NUM_NODES"))
		return func(_ context.Context, r *checkpoint.Request) error {
			r.Hazard = checkpoint.Constant(float64(nodes) / s.MTBF.Seconds())
			return nil
		}
	}
	now := func() int64 { return time.Now().Unix() }
	finder := jobrisk.Finder{
		Job: os.Getenv("SLURM_JOB_ID"), Nodes: os.Getenv("SLURM_JOB_NODELIST"), Dir: jobrisk.Dir(os.Getenv), Ask: askVarqd, Now: now,
	}
	return func(ctx context.Context, r *checkpoint.Request) error {
		if finder.Job == "" {
			return errors.New("not known outside of a job: --checkpoint-mtbf tells it")
		}
		known, err := finder.Find(ctx)
		if err != nil {
			return fmt.Errorf("not known, and checkpoints are prompted only before the job is stopped: %w", err)
		}
		known.Tell(r, now())
		if known.Trouble != nil {
			age := slurmtime.FormatDuration(max(0, known.Age(now())))
			return fmt.Errorf("as varqd knew it %s ago: %w", age, known.Trouble)
		}
		return nil
	}
}

func askVarqd(ctx context.Context, nodes string) (api.Risk, error) {
	varqd, err := dialVarqd()
	if err != nil {
		return api.Risk{}, err
	}
	return varqd.Risk(ctx, nodes)
}

// dialVarqd returns a client of the site's varqd.
func dialVarqd() (*client.Client, error) {
	c, err := config.FindClient(os.Getenv)
	if err != nil {
		return nil, err
	}
	varqd, err := client.New(c.Endpoint, c.MungeSocket)
	if err != nil {
		return nil, err
	}
	varqd.User = c.User
	return varqd, nil
}
