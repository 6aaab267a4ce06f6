// Command varq-wrapper holds a job's work until its time, and prompts it to checkpoint.
//
//	varq-wrapper [--begin-by=TIME] [--on-miss=run|cancel] [--checkpoint-...] -- COMMAND [ARG]...
//
// executes COMMAND at TIME, which has any format of sbatch --begin. Without --begin-by, COMMAND
// starts at the time of the reservation that varq-wrapper runs in, or at once if there is none.
// Batch scripts and steps of srun do not need varq-wrapper, because the SPANK plugin runs it for
// them. But a command that salloc runs on its own host starts with the allocation. To hold such a
// command:
//
//	salloc --begin-by=17:00 varq-wrapper -- ./work
//
// The options --checkpoint-... say how COMMAND is prompted to checkpoint. A second process then
// prompts it; see package prompt. In any case COMMAND replaces this process, and so keeps its
// signals and its exit code.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/wrapper"
	"github.com/varq-project/varq/wrapper/prompt"
	"github.com/varq-project/varq/wrapper/ticket"
)

// Exit codes besides the command's own. The SPANK plugin depends on exitCancelled.
const (
	exitFailed    = 1
	exitUsage     = 2
	exitCancelled = 3
	exitNotRun    = 126
	exitNotFound  = 127
)

const usage = `usage: varq-wrapper [--begin-by=TIME] [--on-miss=run|cancel] [checkpoint options] -- COMMAND [ARGUMENT...]

Becomes COMMAND at TIME, or when the reservation that it runs in lets its work
start. COMMAND is prompted to checkpoint before its job is stopped, and whenever the
risk that a node fails makes that worth its cost:

  --checkpoint-signal=[B:]SIG[,SECONDS]  by a signal to the job's steps, or to COMMAND
  --checkpoint-file=PATH                 by a file, which it removes when it is done
  --checkpoint-command=COMMAND           by running a command
  --checkpoint-cost=DURATION             how long a checkpoint stops the work
  --checkpoint-interval=DURATION         how often to ask; without it only before the job is stopped
  --checkpoint-mtbf=DURATION             between failures of a node; without it varqd knows
`

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "varq-wrapper: %v\n", err)
	}
	os.Exit(code)
}

// flags has the options of all three ways to run the program.
type flags struct {
	version bool

	// by hand, with a command
	beginBy, onMiss string

	// from the SPANK plugin, which starts the work itself
	hold     bool
	restarts int
	lead     bool
	config   string // the path of the configuration file, if it is not the default one

	// from wrapper.StartTrim
	trim  bool
	begin int64

	// from the SPANK plugin and from wrapper.StartTrim
	ticket string
	job    int64
	array  string // ARRAY_TASK, of a task of an array

	checkpoint prompt.Options
	// from startPrompting
	prompt bool
}

func run(args []string) (code int, err error) {
	var f flags
	set := flag.NewFlagSet("varq-wrapper", flag.ContinueOnError)
	set.Usage = func() { fmt.Fprint(set.Output(), usage) }
	set.BoolVar(&f.version, "version", false, "")
	set.StringVar(&f.beginBy, "begin-by", "", "")
	set.StringVar(&f.onMiss, "on-miss", api.OnMissRun, "")
	set.BoolVar(&f.hold, "hold", false, "")
	set.StringVar(&f.ticket, wrapper.FlagTicket, "", "")
	set.IntVar(&f.restarts, "restarts", 0, "")
	set.BoolVar(&f.lead, "lead", false, "")
	set.StringVar(&f.config, "config", "", "")
	set.BoolVar(&f.trim, wrapper.FlagTrim, false, "")
	set.Int64Var(&f.begin, wrapper.FlagBegin, 0, "")
	set.Int64Var(&f.job, wrapper.FlagJob, 0, "")
	set.StringVar(&f.array, "array", "", "")
	set.StringVar(&f.checkpoint.Signal, "checkpoint-signal", "", "")
	set.StringVar(&f.checkpoint.File, "checkpoint-file", "", "")
	set.StringVar(&f.checkpoint.Command, "checkpoint-command", "", "")
	set.StringVar(&f.checkpoint.Cost, "checkpoint-cost", "", "")
	set.StringVar(&f.checkpoint.Interval, "checkpoint-interval", "", "")
	set.StringVar(&f.checkpoint.MTBF, "checkpoint-mtbf", "", "")
	set.BoolVar(&f.prompt, flagPrompt, false, "")
	switch err := set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0, nil
	case err != nil:
		return exitUsage, nil // Parse has printed the error
	}
	set.Visit(func(option *flag.Flag) {
		if option.Value.String() == "" {
			err = fmt.Errorf("--%s: there is no value; a variable that is not set, perhaps? Without the option its default holds", option.Name)
		}
	})
	if err != nil {
		return exitUsage, err
	}
	switch {
	case f.version:
		fmt.Println("varq-wrapper", api.Version)
		return 0, nil
	case f.trim:
		return f.trimLimit()
	case f.hold:
		return f.holdTask()
	case f.prompt:
		return f.promptUntilEnd()
	case set.NArg() == 0:
		set.Usage()
		return exitUsage, nil
	default:
		return f.become(args[:len(args)-set.NArg()], set.Args())
	}
}

func (f *flags) trimLimit() (int, error) {
	t, err := ticket.Parse(f.ticket)
	if err != nil {
		return exitUsage, err
	}
	if err := wrapper.TrimLimit(wrapper.Slurm{Getenv: os.Getenv}, f.job, f.begin, t); err != nil {
		return exitFailed, fmt.Errorf("the job keeps a longer time limit than it needs: %w", err)
	}
	return 0, nil
}

func (f *flags) holdTask() (int, error) {
	t, err := ticket.Parse(f.ticket)
	if err != nil {
		return exitUsage, err
	}
	if f.config != "" {
		if err := os.Setenv("VARQ_CONFIG", f.config); err != nil {
			return exitUsage, fmt.Errorf("--config: %w", err)
		}
	}
	if array, task, is := strings.Cut(f.array, "_"); is {
		// as the job has them: they name the task to Slurm's commands
		if err := errors.Join(os.Setenv("SLURM_ARRAY_JOB_ID", array), os.Setenv("SLURM_ARRAY_TASK_ID", task)); err != nil {
			return exitUsage, fmt.Errorf("--array: %w", err)
		}
	}
	h := hold(t)
	h.Job, h.Restarts, h.Lead = f.job, f.restarts, f.lead
	return wait(h), nil
}

// become replaces this process by a command, at the time that the options say.
func (f *flags) become(options, command []string) (int, error) {
	t, err := f.byHand()
	if err != nil {
		return exitUsage, err
	}
	prompting := f.checkpoint.Given()
	var settings prompt.Settings
	if prompting {
		if settings, err = parsePrompts(&f.checkpoint); err != nil {
			return exitUsage, err
		}
		if settings.File != "" {
			if err := prompt.CheckFile(settings.File); err != nil {
				return exitUsage, fmt.Errorf("--checkpoint-file: %w", err)
			}
		}
	}
	path, err := exec.LookPath(command[0])
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return exitNotFound, err
	}
	if err != nil {
		return exitNotRun, err
	}
	if t != (ticket.Ticket{}) {
		h := hold(t)
		h.Cancel = f.beginBy != "" && f.onMiss == api.OnMissCancel
		h.Job = number("SLURM_JOB_ID")
		h.Restarts = int(number("SLURM_RESTART_COUNT"))
		h.Lead = number("SLURM_PROCID") == 0
		if code := wait(h); code != 0 {
			return code, nil
		}
	}
	if prompting {
		startPrompting(&settings, options)
	}
	return exitNotRun, fmt.Errorf("%s: %w", path, syscall.Exec(path, command, os.Environ()))
}

// byHand returns the ticket of the command line's options. Without options it returns the job's own
// ticket, or an empty one if the job has none.
func (f *flags) byHand() (ticket.Ticket, error) {
	if f.onMiss != api.OnMissRun && f.onMiss != api.OnMissCancel {
		return ticket.Ticket{}, fmt.Errorf("--on-miss: %.40q is neither run nor cancel", f.onMiss)
	}
	if f.beginBy == "" {
		text, ok := os.LookupEnv(ticket.Variable)
		if !ok {
			return ticket.Ticket{}, nil
		}
		return ticket.Parse(text)
	}
	at, err := slurmtime.Parse(f.beginBy, time.Now().Unix(), time.Local)
	if err != nil {
		return ticket.Ticket{}, fmt.Errorf("--begin-by: %w", err)
	}
	return ticket.Ticket{HoldUntil: at, BeginBy: at}, nil
}

func hold(t ticket.Ticket) *wrapper.Hold {
	return &wrapper.Hold{Ticket: t, Array: number("SLURM_ARRAY_JOB_ID"), Queue: wrapper.Slurm{Getenv: os.Getenv}, Clock: wrapper.WallClock{}, Gate: askGate, Trim: wrapper.StartTrim, Log: os.Stderr}
}

// gateTimeout bounds how long varqd may take to ask another site whether the work may begin.
const gateTimeout = 10 * time.Second

// askGate implements wrapper.Gate.
func askGate(plan string, job int64) (api.GateAnswer, error) {
	varqd, err := dialVarqd()
	if err != nil {
		return api.GateAnswer{}, err
	}
	defer varqd.Close()
	varqd.Timeout = gateTimeout
	return varqd.Gate(context.Background(), api.Gate{Plan: plan, Job: job})
}

func wait(h *wrapper.Hold) (code int) {
	defer takeSignals()()
	if h.Wait() != nil {
		return exitCancelled // Wait has logged why
	}
	return 0
}

// number returns the number in an environment variable, or 0 if there is none.
func number(variable string) int64 {
	n, _ := strconv.ParseInt(os.Getenv(variable), 10, 64)
	return n
}

// takeSignals drops the signals that arrive until release is called, because they are meant for a
// command that does not run yet. Signals that end a job still end this process.
func takeSignals() (release func()) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals)
	go func() {
		for s := range signals {
			switch s {
			case syscall.SIGTERM, syscall.SIGINT:
				dieOf(s.(syscall.Signal))
			case syscall.SIGQUIT: // on SIGQUIT Go would print a stack trace and exit with a code
				dieOf(syscall.SIGTERM)
			case syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU:
				_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // cannot fail
			case syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGURG, syscall.SIGWINCH:
			default:
				fmt.Fprintf(os.Stderr, "varq: %v arrived before the work started, and is dropped\n", s)
			}
		}
	}()
	return func() { signal.Stop(signals) }
}

// dieOf ends this process as the default action of the signal does.
func dieOf(s syscall.Signal) {
	signal.Reset(s)
	_ = syscall.Kill(os.Getpid(), s) // cannot fail
}
