// Command varq-filter stands beside an sbatch, srun or salloc with varq's options, and asks
// varqd for the reservation. The SPANK plugin starts it, and varq.lua gives it orders.
//
//	varq-filter submit
//
// takes the orders from standard input and the options from file descriptor 3, and prints
// lines that change or refuse the submission; see package filter. It ends when Slurm has
// accepted the job, or when the command has ended and the promise is taken back.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/varq-project/varq/plugin/filter"
	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurm/slurmconf"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
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
	case len(args) == 1 && args[0] == "submit":
		return submit()
	default:
		return errors.New("usage: varq-filter submit")
	}
}

// box is the file descriptor of the file with the options, see plugin/spank/helper.c.
const box = 3

// pause is the Pause of the helper.
const pause = 2 * time.Second

func submit() error {
	// The command may end, and with it the reader of the answer. The promise must be taken
	// back even then.
	signal.Ignore(syscall.SIGPIPE)
	h := filter.Helper{
		Orders: os.Stdin, Options: readBox, Script: readScript, Environment: os.Environ(), Answer: os.Stdout, User: os.Stderr, Leave: leave,
		Dial:    func() (filter.Varqd, error) { return dial() },
		Cluster: func() string { return slurmconf.OwnCluster(os.Getenv) },
		Quiet: func() bool {
			c, err := config.FindClient(os.Getenv)
			return err == nil && c.Quiet
		},
		Now: time.Now, Zone: time.Local, Pause: pause,
	}
	return h.Run(context.Background())
}

// readBox reads the options that varq.lua has written into the box.
func readBox() ([]byte, error) {
	file := os.NewFile(box, "options")
	defer file.Close()
	text, err := io.ReadAll(io.NewSectionReader(file, 0, filter.MaxOptions+1))
	if err != nil {
		return nil, fmt.Errorf("file descriptor %d: %w: this command is for varq's cli_filter", box, err)
	}
	return text, nil
}

// readScript reads a batch script. What is not a regular file, such as a pipe, sbatch alone reads:
// here /dev/stdin has the orders.
func readScript(path string) ([]byte, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, filter.MaxScript))
}

// leave makes standard error go nowhere. Whoever reads it need not wait for this process.
func leave() {
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		_ = unix.Dup3(int(null.Fd()), int(os.Stderr.Fd()), 0)
		null.Close()
	}
}

// dial connects to the host's varqd, or to that of the site that an order names.
func dial() (*client.Client, error) {
	order, err := sbatch.ReadOrder(os.Environ())
	if err != nil {
		return nil, err
	}
	find := config.FindClient
	if order != nil && order.Site != "" {
		find = func(getenv func(string) string) (config.Client, error) { return config.FindSite(getenv, order.Site) }
	}
	c, err := find(os.Getenv)
	if err != nil {
		return nil, err
	}
	varqd, err := client.New(c.Endpoint, c.MungeSocket)
	if err != nil {
		return nil, err
	}
	varqd.User, varqd.Site = c.User, c.Relay
	return varqd, nil
}
