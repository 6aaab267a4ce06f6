// Package every is the command for recurring jobs and flows, each with a promise. It keeps the
// series of a user's jobs in a folder of the user. Crontab or Slurm's scrontab calls 'varq every
// run' for her. The command then runs sbatch or varq flow, as the user, to reserve what is due. No
// daemon takes part: varqd runs nothing for a user.
package every

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// defaultAhead is how long before its time an occurrence is reserved.
const defaultAhead = "1-0"

// command is what the subcommands share.
type command struct {
	env       *cli.Env
	dial      func() (Varqd, error)
	checkFlow func(path string) error
}

// New returns the command every with its subcommands. dial connects to varqd, and checkFlow says
// what is wrong with the file of a flow.
func New(env *cli.Env, dial func() (Varqd, error), checkFlow func(path string) error) *cobra.Command {
	c := &command{env, dial, checkFlow}
	var prob, ahead string
	cmd := &cobra.Command{
		Use:   "every SCHEDULE [--prob=P] [--ahead=DURATION] -- sbatch ... SCRIPT | varq flow FILE.yaml",
		Short: "Reserve a job or a flow that recurs, each time by its time",
		Long: `Every makes a series: the job is to be running at each time of the schedule, with
the probability asked for, and each of these occurrences is reserved by itself, as
sbatch --begin-by does, a day before (--ahead).

SCHEDULE is a time of day, with days of the week or without ('Mon-Fri 06:00',
'06:00 daily', '18:30 Mon,Thu'), or has the five fields of crontab(5) ('30 6 1 * *',
@weekly). It is meant in your time zone ($TZ), or else in that of this host.

What follows -- is given to sbatch, now and then, in this directory. Nobody but you
runs it: 'varq every run' does, which your crontab or Slurm's has to call. It
reserves what is due and not reserved yet, and is quiet if all is well. So call it
often; by 'crontab -e', or 'scrontab -e' where Slurm has that:

  17 * * * * varq every run

What is refused is tried again by each run until its time, and does not keep later
ones from being reserved.

A flow recurs, too: 'varq flow FILE.yaml' after -- submits its jobs with the promise
that all of them have ended at the time of the schedule. A flow begins as soon as it is
submitted, so --ahead is how long it may take.`,
		Example: `  varq every 'Mon-Fri 06:00' --prob=.95 -- sbatch -N4 -t 30 forecast.sh
  varq every '07:00 daily' --ahead=9:00:00 -- varq flow nightly.yaml
  varq every list`,
		Args: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash == 1 && len(args) > 2 {
				return nil
			}
			return cli.Usage(cmd, errors.New("give a schedule, and after -- sbatch and its job: varq every 'Mon-Fri 06:00' -- sbatch job.sh"))
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.add(cmd, args, prob, ahead) },

		SuggestionsMinimumDistance: 2,
	}
	cmd.Flags().StringVar(&prob, "prob", "", "the `probability` asked for (default: the site's)")
	cmd.Flags().StringVar(&ahead, "ahead", defaultAhead, "how long before its time an occurrence is reserved, as `DAYS-HOURS` or another time limit of Slurm's")
	cmd.AddCommand(c.newRun(), c.newList(), c.newShow(), c.newCancel())
	for _, sub := range cmd.Commands() {
		sub.DisableFlagsInUseLine = true
	}
	return cmd
}

func (c *command) add(cmd *cobra.Command, args []string, probability, ahead string) error {
	usage := func(err error) error { return cli.Usage(cmd, err) }
	now := c.env.Now()
	if probability != "" {
		if _, err := prob.Parse(probability); err != nil {
			return usage(fmt.Errorf("--prob: %w", err))
		}
	}
	lead, err := slurmtime.ParseDuration(ahead)
	if err != nil || lead < minGap || lead > maxMissedBy {
		return usage(fmt.Errorf("--ahead: %.40q is not a time between 15 minutes and 7 days (try 12:00:00 or 2-0)", ahead))
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	s := &Series{ID: api.NewPlanID()[:6], Schedule: args[0], Zone: c.env.Getenv(zoneVariable), Prob: probability, Ahead: lead, Args: args[2:], Dir: here, Made: now}
	program := args[1]
	switch name := filepath.Base(program); {
	case name == "varq" && len(args) == 4 && args[2] == "flow" && args[3] != "-":
		s.Flow, s.Args = true, args[3:]
	case name == "varq":
		return usage(errors.New("of varq a flow recurs, whose jobs are in a file: varq every '07:00 daily' -- varq flow nightly.yaml"))
	case name != "sbatch":
		return usage(fmt.Errorf("%.40q is neither sbatch nor varq flow, which alone submit what recurs", program))
	}
	if s.Program, err = exec.LookPath(program); err == nil {
		s.Program, err = filepath.Abs(s.Program)
	}
	if err != nil {
		return usage(fmt.Errorf("%s: %w", filepath.Base(program), err))
	}
	host, err := c.host()
	if err != nil {
		return err
	}
	if _, err := s.check(now, host); err != nil {
		return usage(err)
	}
	if s.Flow {
		err = c.checkFlow(s.Args[0])
	} else {
		err = s.try(cmd.Context(), s.Next(now, host), cleaned(os.Environ()))
	}
	if err != nil {
		return usage(err)
	}
	return c.locked(cmd.Context(), func(r *runner) error {
		all, broken := r.store.list()
		if len(all) >= maxSeries {
			return fmt.Errorf("you have %d series, and no more may be; end one by varq every cancel", len(all))
		}
		if err := r.save(s); err != nil {
			return err
		}
		fmt.Fprintf(c.env.Stdout, "series %s: next %s\n", s.ID, slurmtime.Format(s.Next(now, host), c.env.Zone))
		well, err := r.one(cmd.Context(), s)
		if err := errors.Join(append(broken, err)...); err != nil {
			return fmt.Errorf("the series is there, but: %w", err)
		}
		for i := range s.Occurrences {
			if o := &s.Occurrences[i]; o.Job != 0 {
				fmt.Fprintf(c.env.Stdout, "job %d is reserved for %s\n", o.Job, slurmtime.Format(o.At, c.env.Zone))
			}
		}
		c.remind(r.store)
		if !well {
			fmt.Fprintf(c.env.Stderr, "varq: the series is there: 'varq every run' tries again, and 'varq every cancel %s' ends it\n", s.ID)
			return cli.ErrNo
		}
		return nil
	})
}

// quiet is for how long, in seconds, nobody has to call varq every run without being reminded.
const quiet = 12 * 3600

// remind tells that nobody calls varq every run, if that seems to be so.
func (c *command) remind(s *store) {
	last := s.lastRun()
	if c.env.Now()-last < quiet {
		return
	}
	when := "has never run"
	if last != 0 {
		when = "has not run since " + slurmtime.Format(last, c.env.Zone)
	}
	fmt.Fprintf(c.env.Stderr, "varq: 'varq every run' %s: without it nothing is reserved; 'crontab -e' or 'scrontab -e': 17 * * * * varq every run\n", when)
}

// locked calls do while no other varq every is at work.
func (c *command) locked(ctx context.Context, do func(*runner) error) (err error) {
	dir, err := folder(c.env)
	if err != nil {
		return err
	}
	s, err := openStore(dir, true)
	if err != nil {
		return err
	}
	defer s.close()
	whose, err := me()
	if err != nil {
		return err
	}
	turn, err := s.takeTurn(ctx, patience, whose, c.env.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, turn.end()) }()
	host, err := c.host()
	if err != nil {
		return err
	}
	varqd, err := c.dial()
	if err != nil {
		return err
	}
	return do(&runner{
		store: s, varqd: varqd, now: c.env.Now, zone: c.env.Zone, host: host, environ: cleaned(os.Environ()), turn: turn,
		tell: func(format string, args ...any) {
			fmt.Fprintf(c.env.Stderr, "varq: %s\n", cli.Printable(fmt.Sprintf(format, args...)))
		},
	})
}

// zoneVariable is the variable of the environment that has a user's own time zone.
const zoneVariable = "TZ"

// host returns the time zone of this host, whatever the user's own is: crontab(1) calls varq every
// run without that.
func (c *command) host() (*time.Location, error) {
	if c.env.Getenv(zoneVariable) == "" {
		return c.env.Zone, nil
	}
	const file = "/etc/localtime"
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return time.UTC, nil
	} else if err != nil {
		return nil, err
	}
	return time.LoadLocationFromTZData(file, data)
}

func (c *command) newRun() *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Reserve what is due of all series, and say what is refused or missed",
		Long: `Run reserves the occurrences of all your series that are due and not reserved yet. It
may be called at any time and as often as you like, also twice at once. It prints
what was refused or missed, each once, and nothing if all is well: cron mails it to
you then. The exit code is 1 if there was such news.`,
		Example: `  varq every run`,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.locked(cmd.Context(), func(r *runner) error {
				all, broken := r.store.list()
				well, err := r.all(cmd.Context(), all)
				if err := errors.Join(append(broken, err, r.store.ran(c.env.Now()))...); err != nil {
					return err
				}
				if !well {
					return cli.ErrNo
				}
				return nil
			})
		},
	}
}

func (c *command) newCancel() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel ID...",
		Short: "End series, and cancel their jobs that wait",
		Long: `Cancel ends series: their jobs that have not started are cancelled, those that run go
on, and no others are reserved. A job that varqd does not know for the series' own is
named and left alone.`,
		Example: `  varq every cancel bbbbbb`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usage(cmd, errors.New("name the series; 'varq every list' has them all"))
			}
			return checkIDs(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.locked(cmd.Context(), func(r *runner) error {
				for _, id := range args {
					s, err := r.store.load(id)
					if err != nil {
						return err
					}
					jobs, err := r.cancel(context.WithoutCancel(cmd.Context()), s)
					if err != nil {
						return err
					}
					fmt.Fprintf(c.env.Stdout, "series %s is over; %d of its jobs are cancelled\n", id, jobs)
				}
				return nil
			})
		},
	}
}

func checkIDs(cmd *cobra.Command, args []string) error {
	for _, id := range args {
		if !validID.MatchString(id) {
			return cli.Usage(cmd, fmt.Errorf("%.40q is not a series: a series has 6 letters and digits; 'varq every list' has them all", id))
		}
	}
	return nil
}
