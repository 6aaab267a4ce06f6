package simulate

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/trial/scenario"
)

// usualKinds is the default of --reservations.
var usualKinds = []string{"varq=10%", "hard=10%", "varq=20%", "hard=20%", "varq=10%,prob=.75"}

func newCompare(env *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compare --trace=FILE|--model=downey [options]",
		Short: "Tell what reservations of several kinds do to the users of a cluster",
		Long: `Compare replays the same jobs without reservations and with several kinds of
them, and puts side by side what each does to those who do not reserve, and what
those get who do: hard reservations, for fixed times that the scheduler keeps
free, and varq's, planned by the code of varqd with the forecasts, the bounds and
the ceiling on the cost that varqd has. First it says what the first of varq's
comes to: how many promises are kept, at what cost, and how much longer all
others wait.

It takes the log's first 10,000 jobs unless --jobs says otherwise: a minute or
two, nearly all of it for varqd's forecasts. In the tables, "varq at 0.75, 10 %"
stands for 10 % of the jobs, which ask for promises of .75. Change is against the
cluster without reservations; the jobs whose waits are compared are the same in
every line, those that never reserve. Utilisation counts what varq's jobs hold
before their work.

Of those with fixed times, Exact start at the very time they asked for; Offset is
the mean distance of all of them from it. Of varq's promises, which Granted counts,
Kept were; Delivered is Kept / Granted, which lies with 95 % confidence between Low
and High. Ratio is what their jobs used, holding included, / what the work took.

--reservations says who reserves, and how, once for each kind; varq-lab-simulate(1) tells more:

` + kinds,
		Example: `  varq-lab simulate compare --trace=log.swf.gz
  varq-lab simulate compare --trace=log.swf.gz --plot=page
  varq-lab simulate compare --model=downey --jobs=1000 --reservations=varq=5%,max-cost=2x --json`,
		Args:                  cli.NoArguments,
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().SortFlags = false
	f := addSimulation(cmd)
	f.jobs = defaultJobs
	cmd.Flags().Lookup("jobs").Usage = fmt.Sprintf("only this `number` of the log's first jobs, or of the model's (default %d)", defaultJobs)
	kinds := cmd.Flags().StringArray("reservations", usualKinds, "the `kind` of the reservations, and how many, as told above; any number of times")
	cmd.Flags().Lookup("reservations").DefValue = strings.Join(usualKinds, " ")
	cmd.Flags().Lookup("plot").Usage = "write a page that tells it all, " + comparePage + ", into the folder `DIR`"
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		usage := func(err error) error { return cli.Usage(cmd, err) }
		s, err := f.simulation(cmd.Flags())
		if err != nil {
			return usage(err)
		}
		if err := f.readTwice(); err != nil {
			return usage(err)
		}
		trials := []*trial{{Reservations: "none"}}
		for _, kind := range *kinds {
			t, err := newTrial(kind)
			if err != nil {
				return usage(err)
			}
			if t.share() == 0 {
				return usage(fmt.Errorf("--reservations: %s is compared with anyway; leave it out", kind))
			}
			trials = append(trials, t)
			s.scenario.Aside = max(s.scenario.Aside, t.share())
		}
		if err := s.check(trials); err != nil {
			return usage(err)
		}
		if err := s.run(cmd.Context(), env, trials, ""); err != nil {
			return err
		}
		c := newComparison(s.setting, f.trace != "" && trials[0].Jobs == f.jobs, trials)
		if f.plot != "" {
			if err := c.save(f.plot); err != nil {
				return fmt.Errorf("--plot: %w", err)
			}
		}
		if f.json {
			return cli.WriteJSON(env.Stdout, c)
		}
		return c.show(env.Stdout)
	}
	return cmd
}

// readTwice returns an error if the jobs can be read only once.
func (f *jobsFlags) readTwice() error {
	if f.trace == "" {
		return nil
	}
	info, err := os.Stat(f.trace)
	if err != nil || info.Mode().IsRegular() || info.IsDir() {
		return nil // opening it returns a better error
	}
	return fmt.Errorf("--trace: %s can be read only once, but is needed for every kind of reservations: save it to a file", f.trace)
}

// comparison compares trials with the first, in which nobody reserves.
type comparison struct {
	setting
	cut    bool       // only the first jobs of a log were simulated
	Trials []compared `json:"scenarios"`
}

// compared is a trial with its difference from the first.
type compared struct {
	*trial
	Change *change `json:"change,omitempty"` // nil for the first
}

// change has the relative changes from the trial without reservations: .1 means 10 % more.
// A change is nil if the value of that trial is 0.
type change struct {
	Wait        *float64 `json:"mean_wait"`
	Slowdown    *float64 `json:"bounded_slowdown"`
	Utilisation *float64 `json:"utilisation"`
}

func newComparison(s setting, cut bool, trials []*trial) *comparison {
	c := &comparison{setting: s, cut: cut}
	for i, t := range trials {
		row := compared{trial: t}
		if base := trials[0]; i > 0 {
			row.Change = &change{
				Wait:        relative(t.Others.Mean, base.Others.Mean),
				Slowdown:    relative(t.Others.Slowdown, base.Others.Slowdown),
				Utilisation: relative(t.Utilisation, base.Utilisation),
			}
		}
		c.Trials = append(c.Trials, row)
	}
	return c
}

func relative(now, before float64) *float64 {
	if before == 0 {
		return nil
	}
	r := now/before - 1
	return &r
}

// replayed says which jobs were simulated, and where.
func (c *comparison) replayed() string {
	first := ""
	if c.cut {
		first = "The first "
	}
	return fmt.Sprintf("%s%s jobs of %s", first, cli.Thousands(c.Trials[0].Jobs), c.setting)
}

// show writes the comparison as tables and sentences.
func (c *comparison) show(w io.Writer) error {
	fmt.Fprintf(w, "%s\n\n", c.replayed())
	c.summary().show(w)
	fmt.Fprintf(w, "\nThe %s jobs that never reserve:\n\n", cli.Thousands(c.Trials[0].Others.Jobs))
	if err := table.Write(w, othersColumns(), c.Trials, table.Style{}); err != nil {
		return err
	}
	fmt.Fprint(w, "\nThose that reserve:\n\n")
	if err := table.Write(w, reserversColumns(), c.Trials[1:], table.Style{}); err != nil {
		return err
	}
	for _, sentence := range c.sentences() {
		fmt.Fprintf(w, "\n%s\n", wrap(sentence))
	}
	_, err := fmt.Fprintf(w, "\nSimulated %s.\n", c.speed())
	return err
}

// othersColumns returns the columns about the jobs that never reserve.
func othersColumns() []table.Column[compared] {
	type row = compared
	changed := func(of func(*change) *float64) table.Column[row] {
		return table.Number("Change", func(r row) string {
			if r.Change == nil {
				return ""
			}
			return signed(of(r.Change))
		})
	}
	return []table.Column[row]{
		table.Text("Reservations", func(r row) string { return r.name() }),
		table.Number("MeanWait", func(r row) string { return cli.Rounded(r.Others.Mean) }),
		changed(func(c *change) *float64 { return c.Wait }),
		table.Number("Median", func(r row) string { return seconds(r.Others.Median) }),
		table.Number("P95", func(r row) string { return seconds(r.Others.P95) }),
		table.Number("Slowdown", func(r row) string { return strconv.FormatFloat(r.Others.Slowdown, 'f', 2, 64) }),
		changed(func(c *change) *float64 { return c.Slowdown }),
		table.Number("Utilisation", func(r row) string { return cli.Percent(r.Utilisation) }),
		changed(func(c *change) *float64 { return c.Utilisation }),
	}
}

// reserversColumns returns the columns about the jobs that reserve.
func reserversColumns() []table.Column[compared] {
	type (
		row  = compared
		hard = *scenario.HardResult
		varq = *scenario.VARQResult
	)
	// column shows the value for the trial's kind of reservations, or none.
	column := func(name string, hard func(hard) string, varq func(varq) string) table.Column[row] {
		return table.Number(name, func(r row) string {
			switch {
			case r.Hard != nil && hard != nil:
				return hard(r.Hard)
			case r.VARQ != nil && varq != nil:
				return varq(r.VARQ)
			default:
				return cli.None
			}
		})
	}
	// promise shows a value of promises, if there are any.
	promise := func(name string, value func(varq) string) table.Column[row] {
		return column(name, nil, func(v varq) string {
			if v.Promised == 0 {
				return cli.None
			}
			return value(v)
		})
	}
	return []table.Column[row]{
		table.Text("Reservations", func(r row) string { return r.name() }),
		column("Asked", func(h hard) string { return strconv.Itoa(h.Jobs) }, func(v varq) string { return strconv.Itoa(v.Asked) }),
		column("Granted", func(h hard) string { return strconv.Itoa(h.Jobs) }, func(v varq) string { return strconv.Itoa(v.Promised) }),
		column("Exact", func(h hard) string { return strconv.Itoa(h.Exact) }, nil),
		column("Offset", func(h hard) string { return cli.Rounded(h.Offset) }, nil),
		promise("Kept", func(v varq) string { return strconv.Itoa(v.Kept) }),
		promise("Delivered", func(v varq) string { return cli.Share(delivered(v)) }),
		promise("Low", func(v varq) string { return cli.Share(v.KeptLow) }),
		promise("High", func(v varq) string { return cli.Share(v.KeptHigh) }),
		promise("Ratio", ratio),
	}
}
