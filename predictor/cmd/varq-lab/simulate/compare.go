package simulate

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/trial/scenario"
)

// usualKinds is the default of --reservations.
var usualKinds = []string{"varq=10%", "varq=10%,take-offers", "hard=10%", "varq=20%", "hard=20%", "varq=10%,prob=.75"}

// The default of --seeds, and its bound.
const (
	usualSeeds = 3
	mostSeeds  = 1000
)

func newCompare(env *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compare --trace=FILE|--model=downey [options]",
		Short: "Tell what reservations of several kinds do to the users of a cluster",
		Long: `Compare replays the same jobs without reservations and with several kinds of
them, and puts side by side what each does to those who do not reserve, and what
those get who do: hard reservations, for fixed times that the scheduler keeps
free, and varq's, planned by the code of varqd with the forecasts, the bounds and
the ceiling on the cost that varqd has. First it says what the first of varq's
comes to: how many promises are kept, at what cost, how much longer all others
wait, what becomes of those that are refused, and how sure all that is.

It takes the jobs of the log's first eight weeks, and 10,000 at least, unless
--jobs says otherwise, with three seeds: some minutes, nearly all of them for
varqd's forecasts.

In the tables, "varq at 0.75, 10 %" stands for 10 % of the jobs, which ask for
promises of .75. Change is against the cluster without reservations; that of the
mean wait lies with 95 % confidence between Low and High. The jobs whose waits are
compared are the same in every line, those that never reserve. Utilisation counts
processors that wait idle for the work of varq's jobs.

Of those with fixed times, Exact start at the very time they asked for; Offset is
the mean distance of all of them from it. Of varq's promises, which Granted counts,
Kept were; Delivered is Kept / Granted, which lies with 95 % confidence between Low
and High. Plain is how many of the same jobs would have started by then if simply
submitted. Ratio is what their jobs used, holding included, / what the work took,
and HardRatio what hard reservations for them cost where 1.5 times the booked time
is charged. Of the Refused, so many are Offered something, and so many a Later
deadline, half of them by By or less, which they take if it is within a day.

--reservations says who reserves, and how, once for each kind; varq-lab-simulate(1) tells more:

` + kinds,
		Example: `  varq-lab simulate compare --trace=log.swf.gz --plot=page
  varq-lab simulate compare --trace=log.swf.gz --reservations=varq=10%,prob=.9 --seeds=5
  varq-lab simulate compare --model=downey --jobs=1000 --reservations=varq=5%,max-cost=2x --json`,
		Args:                  cli.NoArguments,
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().SortFlags = false
	f := addSimulation(cmd)
	f.enough = true
	cmd.Flags().Lookup("jobs").Usage = fmt.Sprintf("this `number` of the log's first jobs, or of the model's (default: those of eight weeks, and %d at least)", defaultJobs)
	cmd.Flags().Lookup("seed").Usage = "who reserves is drawn by this `number`, and by those after it"
	seeds := cmd.Flags().Int("seeds", usualSeeds, "the `number` of seeds with which all is replayed, one after the other")
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
		if *seeds < 1 || *seeds > mostSeeds {
			return usage(fmt.Errorf("--seeds: %d is not between 1 and %d", *seeds, mostSeeds))
		}
		s.Seeds = *seeds
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
		rounds := make([][]*trial, s.Seeds)
		for i := range rounds {
			for _, t := range trials {
				rounds[i] = append(rounds[i], &trial{Reservations: t.Reservations, kind: t.kind, starts: make(starts)})
			}
		}
		if err := s.run(cmd.Context(), env, rounds, ""); err != nil {
			return err
		}
		c := newComparison(s, rounds)
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
	if refusing := c.refusing(); len(refusing) > 0 {
		fmt.Fprint(w, "\nThose that ask varq and get no promise for their deadline:\n\n")
		if err := table.Write(w, refusedColumns(), refusing, table.Style{}); err != nil {
			return err
		}
	}
	for _, sentence := range slices.Concat(c.sentences(), c.certainty()) {
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
	within := func(name string, end func(*interval) float64) table.Column[row] {
		return table.Number(name, func(r row) string {
			switch {
			case r.Change == nil:
				return ""
			case r.Change.WaitWithin == nil:
				return cli.None
			}
			x := end(r.Change.WaitWithin)
			return signed(&x)
		})
	}
	return []table.Column[row]{
		table.Text("Reservations", func(r row) string { return r.name() }),
		table.Number("MeanWait", func(r row) string { return cli.Rounded(r.Others.Mean) }),
		changed(func(c *change) *float64 { return c.Wait }),
		within("Low", func(i *interval) float64 { return i.Low }),
		within("High", func(i *interval) float64 { return i.High }),
		table.Number("Median", func(r row) string { return seconds(r.Others.Median) }),
		table.Number("P95", func(r row) string { return seconds(r.Others.P95) }),
		table.Number("Slowdown", func(r row) string { return strconv.FormatFloat(r.Others.Slowdown, 'f', 2, 64) }),
		changed(func(c *change) *float64 { return c.Slowdown }),
		table.Number("Utilisation", func(r row) string { return cli.Percent(r.Utilisation) }),
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
		table.Number("Plain", func(r row) string {
			if r.Plain == nil || r.Plain.Promised == 0 {
				return cli.None
			}
			return cli.Share(r.Plain.inTime())
		}),
		promise("Ratio", ratio),
		promise("HardRatio", hardRatio),
	}
}

// refusing returns the trials with jobs that ask varq, singly.
func (c *comparison) refusing() []compared {
	var some []compared
	for _, r := range c.Trials {
		if r.Plain != nil && r.Plain.Refused > 0 {
			some = append(some, r)
		}
	}
	return some
}

// refusedColumns returns the columns about the jobs that ask varq and get no promise for their
// deadline.
func refusedColumns() []table.Column[compared] {
	type row = compared
	offer := func(name string, value func(*scenario.OffersResult) string) table.Column[row] {
		return table.Number(name, func(r row) string {
			if r.VARQ.Offers == nil {
				return cli.None
			}
			return value(r.VARQ.Offers)
		})
	}
	taken := func(name string, value func(*scenario.OffersResult) string) table.Column[row] {
		return offer(name, func(o *scenario.OffersResult) string {
			if o.Later == 0 {
				return cli.None
			}
			return value(o)
		})
	}
	return []table.Column[row]{
		table.Text("Reservations", func(r row) string { return r.name() }),
		table.Number("Refused", func(r row) string { return strconv.Itoa(r.Plain.Refused) }),
		table.Number("Plain", func(r row) string { return cli.Share(r.Plain.refusedInTime()) }),
		offer("Offered", func(o *scenario.OffersResult) string { return strconv.Itoa(o.Offered) }),
		offer("Later", func(o *scenario.OffersResult) string { return strconv.Itoa(o.Later) }),
		table.Number("By", func(r row) string {
			if o := r.VARQ.Offers; o == nil || o.Later == 0 {
				return cli.None
			}
			return seconds(r.Plain.Later)
		}),
		taken("Kept", func(o *scenario.OffersResult) string { return strconv.Itoa(o.Kept) }),
		taken("Delivered", func(o *scenario.OffersResult) string { return cli.Share(keptOffers(o)) }),
		taken("Low", func(o *scenario.OffersResult) string { return cli.Share(o.KeptLow) }),
		taken("High", func(o *scenario.OffersResult) string { return cli.Share(o.KeptHigh) }),
	}
}
