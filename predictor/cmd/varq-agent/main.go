// Command varq-agent measures signs that its node may fail, and sends the measurements to varqd;
// see varq-agent(8).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/varq-project/varq/predictor/agent"
	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
)

const usage = `usage: varq-agent [-N NODE] [--interval=DURATION] [--textfiles=FOLDER,...] [--once [--json]]

Measures on this node what may announce its failure, such as memory errors, and
sends that to varqd.

  -N, --node=NODE          the node's name in Slurm; by default this host's short name
  --interval=DURATION      between two measurements: 5m
  --textfiles=FOLDER,...   where *.prom files may have metrics of GPUs
  --once                   print what would be sent, and send nothing
  --json                   with --once: as JSON
  --config=FILE            the configuration, whose section client says where varqd is
  --root=FOLDER            where /proc, /sys and the folders of --textfiles are, for tests
  --version
`

// textfiles are the folders of node_exporter's textfile collector, by Debian and by its
// documentation, and of others.
const textfiles = "/var/lib/prometheus/node-exporter,/var/lib/node_exporter/textfile_collector,/run/prometheus"

const (
	// leastInterval and mostInterval bound --interval.
	leastInterval, mostInterval = 10 * time.Second, 24 * time.Hour
	// sendTime bounds one attempt to send: nobody waits for it.
	sendTime = 20 * time.Second
)

func main() {
	// What measures nodes must not be felt by their jobs.
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(20)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends whatever hangs
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// errUsage ends a command line that makes no sense.
var errUsage = errors.New("varq-agent --help lists the options")

// run is main with all that it depends on. It returns the exit code: 2 for a command line that
// makes no sense.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	switch err := start(ctx, args, getenv, stdout, stderr); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintln(stderr, "varq-agent:", err)
		return 2
	case err != nil:
		fmt.Fprintln(stderr, "varq-agent:", err)
		return 1
	}
	return 0
}

func start(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	o := agent.Options{Now: time.Now, Pause: agent.Pause, Rand: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), Log: slog.New(slog.NewTextHandler(stderr, nil))}
	var folders, path string
	var once, asJSON, version bool
	set := flag.NewFlagSet("varq-agent", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&o.Node, "N", "", "")
	set.StringVar(&o.Node, "node", "", "")
	set.DurationVar(&o.Interval, "interval", 5*time.Minute, "")
	set.StringVar(&folders, "textfiles", textfiles, "")
	set.StringVar(&o.Reader.Root, "root", "/", "")
	set.StringVar(&path, "config", config.Path(getenv), "")
	set.BoolVar(&once, "once", false, "")
	set.BoolVar(&asJSON, "json", false, "")
	set.BoolVar(&version, "version", false, "")
	err := set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil:
		return fmt.Errorf("%w; %w", err, errUsage)
	case version:
		_, err := fmt.Fprintln(stdout, "varq-agent", api.Version)
		return err
	case set.NArg() > 0:
		return fmt.Errorf("%q is not an option; %w", set.Arg(0), errUsage)
	case o.Interval < leastInterval || o.Interval > mostInterval:
		return fmt.Errorf("--interval: %v does not lie between %v and %v; %w", o.Interval, leastInterval, mostInterval, errUsage)
	case asJSON && !once:
		return fmt.Errorf("--json goes with --once; %w", errUsage)
	}
	if o.Node == "" {
		host, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("this host has no name; -N names the node: %w", err)
		}
		o.Node, _, _ = strings.Cut(host, ".")
	}
	if folders != "" {
		o.Reader.Textfiles = strings.Split(folders, ",")
	}
	if once {
		v := o.Measure()
		if len(v.Signals) == 0 {
			return fmt.Errorf("nothing can be measured below %s", o.Reader.Root)
		}
		return show(stdout, v, asJSON)
	}
	if path != config.Path(getenv) {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("--config: %w", err)
		}
	}
	varqd, err := dial(path, getenv)
	if err != nil {
		return err
	}
	o.Send = func(ctx context.Context, v api.Vitals) error {
		defer varqd.Close() // the next message is minutes away
		return varqd.Vitals(ctx, v)
	}
	o.Log.Info("varq-agent starts", "version", api.Version, "node", o.Node, "interval", o.Interval)
	agent.Run(ctx, o)
	return nil
}

// dial returns a client of the varqd that the configuration names.
func dial(path string, getenv func(string) string) (*client.Client, error) {
	c, err := config.FindClient(func(name string) string {
		if name == "VARQ_CONFIG" {
			return path
		}
		return getenv(name)
	})
	if err != nil {
		return nil, err
	}
	varqd, err := client.New(c.Endpoint, c.MungeSocket)
	if err != nil {
		return nil, err
	}
	varqd.User, varqd.Timeout = c.User, sendTime
	return varqd, nil
}

// show prints a measurement.
func show(w io.Writer, v api.Vitals, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(v)
	}
	fmt.Fprintf(w, "%s at %s:\n", v.Node, time.Unix(v.At, 0).Format(time.RFC3339))
	for _, s := range v.Signals {
		name := s.Name
		if s.Of != "" {
			name += " of " + s.Of
		}
		if _, err := fmt.Fprintf(w, "  %-40s %.6g\n", name, s.Value); err != nil {
			return err
		}
	}
	return nil
}
