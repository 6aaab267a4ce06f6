// Command varq-filter asks varqd for a reservation. varq.lua runs it inside Slurm's
// cli_filter if a command has one of varq's options.
//
//	varq-filter plan
//
// reads the options from the file that the SPANK plugin has opened, whose descriptor is in
// VARQ_BOX. It asks varqd for a reservation, and prints lines that change or refuse the
// submission; see package filter.
//
//	varq-filter bind PLAN JOB
//
// reports to varqd the ID of the job that was submitted for the plan.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/varq-project/varq/plugin/filter"
	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "varq-filter: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "--version":
		_, err := fmt.Println("varq-filter", api.Version)
		return err
	case len(args) == 1 && args[0] == "plan":
		if err := plan(); err != nil {
			return filter.WriteError(os.Stdout, err)
		}
		return nil
	case len(args) == 3 && args[0] == "bind":
		return bind(args[1], args[2])
	default:
		return errors.New("usage: varq-filter plan | varq-filter bind PLAN JOB")
	}
}

func plan() error {
	text, err := readBox()
	if err != nil {
		return err
	}
	s, err := filter.Read(text, time.Now().Unix(), time.Local)
	if err != nil {
		return err
	}
	varqd, err := dial()
	if err != nil {
		return err
	}
	ask := varqd.Plan
	if s.Quote {
		ask = varqd.Quote
	}
	answer, err := ask(context.Background(), s.Request)
	if errors.Is(err, client.ErrUnreachable) {
		return fmt.Errorf("no reservation can be made now: %w", err)
	}
	if err != nil {
		return err
	}
	return s.Write(os.Stdout, answer)
}

func bind(plan, job string) error {
	id, err := strconv.ParseInt(job, 10, 64)
	if err != nil {
		return fmt.Errorf("bind: %q is no job's number", job)
	}
	varqd, err := dial()
	if err != nil {
		return err
	}
	return varqd.Bind(context.Background(), api.Binding{Plan: plan, Job: id})
}

// readBox reads the options that varq.lua has written into the box, the file of VARQ_BOX.
func readBox() ([]byte, error) {
	fd, err := strconv.ParseUint(os.Getenv("VARQ_BOX"), 10, 31)
	if err != nil {
		return nil, fmt.Errorf("VARQ_BOX: %w: this command is for varq's cli_filter", err)
	}
	box := os.NewFile(uintptr(fd), "VARQ_BOX")
	defer box.Close()
	return io.ReadAll(io.NewSectionReader(box, 0, filter.MaxOptions+1))
}

func dial() (*client.Client, error) {
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
