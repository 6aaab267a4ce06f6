// Package study is the command that repeats the experiments of papers. It runs the cases of a
// study, here or as a Slurm job array, and shows its report.
package study

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq-lab/cases"
	"github.com/varq-project/varq/predictor/cmd/varq-lab/progress"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/logs/failures"
	"github.com/varq-project/varq/predictor/logs/trace"
	"github.com/varq-project/varq/predictor/plot"
	"github.com/varq-project/varq/predictor/trial/study"
)

// flags has the options of study.
type flags struct {
	traces, failures, out, part string
	seeds                       int
	quick, json, slurm          bool
}

// mostSeeds is the largest value of --seeds.
const mostSeeds = 1000

// New returns the command study, of these studies by name.
func New(env *cli.Env, studies map[string]study.Study) *cobra.Command {
	names := slices.Sorted(maps.Keys(studies))
	cmd := &cobra.Command{
		Use:   "study STUDY [options]",
		Short: "Reproduce the figures of a paper",
		Long: `Study simulates what a paper did, and puts its numbers next to those found, with
their 95 % confidence intervals over several seeds, and every difference of the
setting: smith is Smith, Foster and Taylor's "Scheduling with Advanced Reservations"
(2000), downey Downey's "Using Queue Time Predictions for Processor Allocation"
(1997), varq Nurmi, Wolski and Brevik's "VARQ: Implementing Probabilistic Advanced
Reservations for Batch-scheduled Parallel Machines" (2007), oliner Oliner, Rudolph,
Sahoo, Moreira and Gupta's "Probabilistic QoS Guarantees for Supercomputing Systems"
(2005), and roblitz Röblitz, Schintke and Wendler's "Elastic Grid Reservations with
User-Defined Optimization Policies" (2005). Forecasters holds VARQ's reservations as
varqd's blend plans them against those that plain QBETS does, also around outages.
Faults tells how well failures of nodes are forecast, and checkpoints holds varq's
advice when to checkpoint against known rules, under failures that happened.
Deadlines holds ends promised by distributions against those promised by point
estimates and by limits, as in Park, Tumanov, Jiang, Kozuch and Ganger's "3Sigma:
Distribution-based Cluster Scheduling for Runtime Uncertainty" (2018). Joint tells
how often promises about two sites are kept, a start at any of both or at both, with
probabilities as of independent sites, and with dependence that is measured.
Moldable tells what jobs gain whose sizes are chosen by forecasts of their waits, as
varq size does, against Downey's strategies, on his machine and on real logs. Chains
tells how often a job goes on without a gap where the one before it had to stop, as
in Ding et al.'s "Mirage: Towards Low-interruption Services on Batch GPU Clusters
with Reinforcement Learning" (2023).

Chains, checkpoints, deadlines, forecasters, joint, moldable, oliner, roblitz, smith
and varq replay logs of
` + trace.Archive + `.
Checkpoints, faults and oliner also read failures/LANL-*.csv.gz in their folder, of
` + trace.LosAlamos + `; faults and oliner with --failures a table of a site's
own: a line for each failure, below the header node,down,up,cause. Times are Unix
seconds, or as Slurm prints them, in TZ; a line without down names a node that never
failed.

With --out, a report with pictures is written to FOLDER/report.md, and the outcome
of every case is kept: the command goes on where it was interrupted. With --slurm
the cases run as a job array, and FOLDER must be one that all nodes share, and so
must the folder of the logs and varq-lab itself be. Options for sbatch are taken from
its environment, SBATCH_PARTITION for instance.`,
		Example: `  varq-lab study downey --quick
  varq-lab study downey --seeds=5 --json
  varq-lab study varq --traces=traces --out=varq-study
  varq-lab study smith --traces=traces --quick
  varq-lab study roblitz --traces=traces --quick
  varq-lab study oliner --traces=traces --failures=failures.csv`,
		ValidArgs: names,
	}
	f := &flags{}
	options := cmd.Flags()
	options.StringVar(&f.traces, "traces", "", "the `folder` with the logs (default $VARQ_TRACES)")
	options.StringVar(&f.failures, "failures", "", "for faults and oliner: a `file` with the failures of a system's nodes, instead of Los Alamos'")
	options.IntVar(&f.seeds, "seeds", 0, "repeat everything with this `number` of seeds (default: as many as the study needs)")
	options.BoolVar(&f.quick, "quick", false, "only the beginning of each workload, with few seeds")
	options.BoolVar(&f.json, "json", false, "show the report in JSON")
	options.StringVar(&f.out, "out", "", "keep outcomes, and write the report, in this `folder`")
	options.BoolVar(&f.slurm, "slurm", false, "run the cases as a Slurm job array, and wait for it")
	options.StringVar(&f.part, "part", "", "run only a part of the cases, `FIRST/OF`: every OF-th from FIRST on, 0 being the first; without a report")
	cmd.Args = func(cmd *cobra.Command, args []string) error { return oneStudy(cmd, args, names) }
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.check(options.Changed("seeds")); err != nil {
			return cli.Usage(cmd, err)
		}
		if f.failures != "" && args[0] != "oliner" && args[0] != "faults" {
			return cli.Usage(cmd, fmt.Errorf("--failures: no file of failures is read by %s, only by faults and oliner", args[0]))
		}
		return f.run(cmd.Context(), env, args[0], studies[args[0]])
	}
	return cmd
}

// oneStudy accepts the name of one study.
func oneStudy(cmd *cobra.Command, args, names []string) error {
	one := strings.Join(names, ", ")
	switch {
	case len(args) == 0:
		return cli.Usage(cmd, fmt.Errorf("which study? One of %s", one))
	case len(args) > 1:
		return cli.Usage(cmd, fmt.Errorf("%q is one too many: one study at a time", args[1]))
	case !slices.Contains(names, args[0]):
		return cli.Usage(cmd, fmt.Errorf("%q is none of %s", args[0], one))
	}
	return nil
}

// check returns what is wrong with the options. seeds says that --seeds is given.
func (f *flags) check(seeds bool) error {
	switch {
	case seeds && f.seeds < 1 || f.seeds > mostSeeds:
		return fmt.Errorf("--seeds: %d is not in 1..%d", f.seeds, mostSeeds)
	case f.out == "" && f.slurm:
		return errors.New("--slurm needs --out: a folder that all nodes share")
	case f.out == "" && f.part != "":
		return errors.New("--part needs --out: the folder that the parts are gathered in")
	case f.slurm && f.part != "":
		return errors.New("--slurm makes the parts itself: leave --part out")
	}
	if f.part != "" {
		if _, err := cases.ParsePart(f.part); err != nil {
			return fmt.Errorf("--part: %w", err)
		}
	}
	return nil
}

// run runs a study, shows its report and saves it.
func (f *flags) run(ctx context.Context, env *cli.Env, name string, s study.Study) error {
	folder, err := absolute(f.traces, env.Getenv("VARQ_TRACES"))
	if err != nil {
		return fmt.Errorf("--traces: %w", err)
	}
	nodes, err := f.readFailures(env.Zone)
	if err != nil {
		return fmt.Errorf("--failures: %w", err)
	}
	meter := progress.New(env.Stderr, env.Elapsed)
	defer meter.Close()
	run := cases.Run{
		Study:    s,
		Options:  study.Options{Seeds: f.seeds, Quick: f.quick, Failures: nodes, Background: cli.Background},
		Progress: meter,
	}
	if folder != "" {
		run.Options.Traces = trace.Folder(folder)
	}
	if f.out != "" {
		run.Folder, err = cases.Open(f.out, cases.Setting{Version: api.Version, Study: name, Quick: f.quick, Traces: folder, Failures: f.failures})
		if err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	all := run.Study.Cases(run.Options)
	var outcomes []study.Outcome
	switch {
	case f.part != "":
		part, err := cases.ParsePart(f.part)
		if err != nil {
			return err
		}
		_, err = run.Local(ctx, part.Choose(all))
		return err
	case f.slurm:
		outcomes, err = run.Slurm(ctx, all, "varq-study-"+name, f.task(name, folder, run.Folder))
	default:
		outcomes, err = run.Local(ctx, all)
	}
	meter.Close()
	if len(outcomes) > 0 {
		report := run.Study.Report(run.Options, outcomes)
		err = errors.Join(err, show(env.Stdout, report, f.json), save(report, run.Folder))
	}
	if errors.Is(err, study.ErrNoTraces) {
		err = fmt.Errorf("%w\nSay by --traces, or VARQ_TRACES, in which folder they are", err)
	}
	return err
}

// readFailures reads the file of --failures, which must be of one system, and makes its path
// absolute. It returns nil if there is none.
func (f *flags) readFailures(zone *time.Location) (*study.NodeFailures, error) {
	if f.failures == "" {
		return nil, nil
	}
	path, err := filepath.Abs(f.failures)
	if err != nil {
		return nil, err
	}
	f.failures = path
	systems, err := failures.Open(path, zone)
	switch {
	case err != nil:
		return nil, err
	case len(systems) == 0:
		return nil, fmt.Errorf("%s has no node", path)
	case len(systems) > 1:
		return nil, fmt.Errorf("%s has nodes of %d systems, %s and %s among them: leave the lines of one", path, len(systems), systems[0].Name, systems[1].Name)
	}
	return &study.NodeFailures{Nodes: systems[0].Nodes, Failures: systems[0].Failures}, nil
}

// absolute returns the absolute path of folder, or of otherwise if folder is empty.
func absolute(folder, otherwise string) (string, error) {
	if folder == "" {
		folder = otherwise
	}
	if folder == "" {
		return "", nil
	}
	return filepath.Abs(folder)
}

// task returns the shell command that runs a part of the study on another node, without
// its last option, --part.
func (f *flags) task(name, traces string, folder *cases.Folder) string {
	self, err := os.Executable()
	if err != nil {
		self = "varq-lab"
	}
	words := []string{cli.Quote(self), "study", name, "--out=" + cli.Quote(folder.Path())}
	if traces != "" {
		words = append(words, "--traces="+cli.Quote(traces))
	}
	if f.failures != "" {
		words = append(words, "--failures="+cli.Quote(f.failures))
	}
	if f.seeds > 0 {
		words = append(words, "--seeds="+strconv.Itoa(f.seeds))
	}
	if f.quick {
		words = append(words, "--quick")
	}
	return strings.Join(words, " ")
}

// show prints a report.
func show(w io.Writer, r study.Report, json bool) error {
	if json {
		return cli.WriteJSON(w, r)
	}
	fmt.Fprintf(w, "%s: %s\n", r.Name, r.Title)
	for _, t := range r.Tables {
		fmt.Fprintf(w, "\n%s\n", t.Title)
		if err := table.Write(w, columns(), t.Rows, table.Style{}); err != nil {
			return err
		}
	}
	if len(r.Differences) > 0 {
		fmt.Fprint(w, "\nHow the setting differs from the paper's:\n")
	}
	for _, d := range r.Differences {
		fmt.Fprintf(w, "- %s\n", d)
	}
	return nil
}

func columns() []table.Column[study.Row] {
	type row = study.Row
	return []table.Column[row]{
		table.Text("Measure", row.Label),
		table.Number("Paper", func(r row) string { paper, _, _ := r.Numbers(); return paper }),
		table.Number("Ours", func(r row) string { _, ours, _ := r.Numbers(); return ours }),
		table.Number("95 % CI", func(r row) string { _, _, interval := r.Numbers(); return interval }),
		table.Text("Note", func(r row) string { return r.Note }),
	}
}

// save writes a report and its pictures into the folder. It does nothing if folder is nil.
func save(r study.Report, folder *cases.Folder) error {
	if folder == nil {
		return nil
	}
	for _, figure := range r.Figures {
		if err := plot.Save(folder.Path(figure.Name+".svg"), picture(&figure)); err != nil {
			return err
		}
	}
	return os.WriteFile(folder.Path("report.md"), []byte(r.Markdown()), 0o666)
}

// picture returns what is drawn of a figure.
func picture(f *study.Figure) plot.Figure {
	p := plot.Figure{Title: f.Title, X: f.X, Y: f.Y, Labels: f.Labels, Near: f.Near}
	for _, s := range f.Series {
		p.Series = append(p.Series, plot.Series(s))
	}
	return p
}
