package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/speedup"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// reserveFlags has the options of reserve, which a file may have, too.
type reserveFlags struct {
	Earliest   string   `yaml:"earliest"`
	Latest     string   `yaml:"latest"`
	FinishBy   string   `yaml:"finish_by"`
	Sizes      string   `yaml:"sizes"`
	Nodes      string   `yaml:"nodes"`
	RefNodes   int32    `yaml:"ref_nodes"`
	Speedup    string   `yaml:"speedup"`
	Power      float64  `yaml:"ref_power"`
	Clusters   string   `yaml:"clusters"`
	Partitions string   `yaml:"partitions"`
	Prefer     string   `yaml:"prefer"`
	MinProb    string   `yaml:"min_prob"`
	BestEffort bool     `yaml:"best_effort"`
	AnyOf      bool     `yaml:"any_of"`
	AllOf      bool     `yaml:"all_of"`
	Slots      int      `yaml:"slots"`
	Gap        string   `yaml:"gap"`
	Patience   string   `yaml:"patience"`
	Command    []string `yaml:"command"`

	file   string
	lines  map[string]int // of the options that come from the file
	dryRun bool
	esr    bool
}

func (f *reserveFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Latest, "latest", "", "the work begins at this `time` at the latest, in any format of sbatch --begin")
	flags.StringVar(&f.FinishBy, "finish-by", "", "it has ended by this `time` if it begins when promised, and takes no longer than its limit")
	flags.StringVar(&f.Earliest, "earliest", "", "it begins at this `time` at the earliest (default now)")
	flags.StringVar(&f.Sizes, "sizes", "", "shapes the job may have: `NODES:TIME,...`")
	flags.StringVar(&f.Nodes, "nodes", "", "numbers of `nodes` it may have: 2-32, 2,4,8 or 1-15:4")
	flags.Int32Var(&f.RefNodes, "ref-nodes", 0, "sbatch's --time is meant for `N` nodes")
	flags.StringVar(&f.Speedup, "speedup", "", "how much faster more nodes are: `amdahl:SERIAL|downey:A,SIGMA|table:FILE`")
	flags.Float64Var(&f.Power, "ref-power", 0, "times are meant for processors of this `power`, in the unit in which clusters tell their own")
	flags.StringVarP(&f.Clusters, "clusters", "M", "", "`clusters` where it may run, or all (default this one); alpha,beta/gamma of --all-of has alternatives")
	flags.StringVarP(&f.Partitions, "partitions", "p", "", "`partitions` where it may run; with main/long, --all-of has a job in each as alternatives")
	flags.StringVar(&f.Prefer, "prefer", elastic.DefaultPreferences().String(), "what counts, first things first: `end,start,time,nodes,work,cost,prob`; - before one prefers the most")
	flags.StringVar(&f.MinProb, "min-prob", "", "the least `probability` that will do: 0.9 or 90% (default is the cluster's)")
	flags.BoolVar(&f.BestEffort, "best-effort", false, "the work may start as soon as the job does")
	flags.BoolVar(&f.AnyOf, "any-of", false, "submit the job to all clusters and partitions: the first to start runs, the others are cancelled")
	flags.BoolVar(&f.AllOf, "all-of", false, "submit the job to all clusters: all of them run at the same time, or none does; of alternatives, as beta/gamma, one")
	flags.IntVar(&f.Slots, "slots", 12, "`number` of times of the window that are looked at, of each size and partition")
	flags.StringVar(&f.Gap, "gap", "5m", "these are at least this `time` apart")
	flags.StringVar(&f.Patience, "patience", "1m", "a cluster that does not take and confirm the job within this `time` is left, and nothing there")
	flags.StringVar(&f.file, "file", "", "read options from this YAML `file`; its keys are theirs, with _ for -, and command")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show the slots in order, and reserve nothing")
	flags.BoolVar(&f.esr, "esr", false, "with --dry-run: show the success rates by the methods static, history and load, too")
	_ = cmd.MarkFlagFilename("file", "yaml", "yml")
}

// reserveRequest is what reserve asks for.
type reserveRequest struct {
	probe    api.ProbeRequest
	prefer   elastic.Preferences
	kind     string  // of the group: api.GroupAny, api.GroupAll, or empty
	least    float64 // the probability of the group
	sized    bool    // the job may have several sizes
	parsable bool    // sbatch is to print the job's number alone
	notes    []string
	curve    speedup.Curve
	nodes    []int32
	// patience is in seconds.
	patience int64
	// parts are the clusters of each part of a group of the kind api.GroupAll, and apart is true if
	// the partitions are alternatives of one another.
	parts [][]string
	apart bool
}

// minPatience bounds --patience, in seconds: a cluster at work takes a few.
const minPatience = 5

// read reads the file, whose options the command line overrides, and the command.
func (f *reserveFlags) read(ctx context.Context, flags *pflag.FlagSet, args []string) error {
	for name, empty := range map[string]bool{"sizes": f.Sizes == "", "ref-power": f.Power == 0} {
		if flags.Changed(name) && empty {
			return fmt.Errorf("--%s needs a value: is a variable of your shell empty?", name)
		}
	}
	if f.file != "" {
		if err := f.readFile(ctx, flags); err != nil {
			return err
		}
	}
	if len(args) > 0 {
		f.Command = args
	}
	switch {
	case len(f.Command) == 0:
		return errors.New("nothing to submit: give sbatch and its options after --")
	case f.Command[0] != "sbatch" && !strings.HasSuffix(f.Command[0], "/sbatch"):
		return fmt.Errorf("%.40q is not sbatch: give sbatch and its options after --", f.Command[0])
	case len(f.Command) == 1:
		return errors.New("nothing to submit: give sbatch a script or --wrap")
	}
	return nil
}

// request returns what the options ask for, as far as the job need not be known.
func (f *reserveFlags) request(env *Env) (*reserveRequest, error) {
	r := &reserveRequest{}
	p := &r.probe
	var err error
	for _, t := range []struct {
		name, text string
		at         *int64
	}{{"--earliest", f.Earliest, &p.Earliest}, {"--latest", f.Latest, &p.Latest}, {"--finish-by", f.FinishBy, &p.FinishBy}} {
		if *t.at, err = env.Time(t.name, t.text); err != nil {
			return nil, err
		}
	}
	if r.prefer, err = elastic.ParsePreferences(f.Prefer); err != nil {
		return nil, fmt.Errorf("--prefer: %w", err)
	}
	if f.MinProb != "" {
		if p.Prob, err = prob.Parse(f.MinProb); err != nil {
			return nil, fmt.Errorf("--min-prob: %w", err)
		}
	}
	if p.Gap, err = slurmtime.ParseSpan(f.Gap); err != nil {
		return nil, fmt.Errorf("--gap: %w", err)
	}
	if r.patience, err = slurmtime.ParseSpan(f.Patience); err != nil {
		return nil, fmt.Errorf("--patience: %w", err)
	}
	if f.Partitions != "" {
		if p.Partitions, r.apart, err = splitPartitions(f.Partitions); err != nil {
			return nil, err
		}
	}
	p.Slots, p.BestEffort, p.Power, p.ESR = f.Slots, f.BestEffort, f.Power, f.esr
	now := env.Now()
	switch {
	case p.Latest != 0 && p.Latest <= now:
		return nil, fmt.Errorf("--latest: %s is in the past", env.Moment(p.Latest))
	case p.FinishBy != 0 && p.FinishBy <= now:
		return nil, fmt.Errorf("--finish-by: %s is in the past", env.Moment(p.FinishBy))
	case r.patience < minPatience || r.patience > api.MaxTentative:
		return nil, fmt.Errorf("--patience: %s is not between %s and %s", slurmtime.FormatDuration(r.patience), slurmtime.FormatDuration(minPatience), slurmtime.FormatDuration(api.MaxTentative))
	case f.esr && (!f.dryRun || f.AnyOf || f.AllOf):
		return nil, errors.New("--esr needs --dry-run, of a job that runs once: it compares slots, and nothing is reserved by it")
	}
	if err := p.CheckSearch(); err != nil {
		return nil, api.ByOption(err, env.Moment)
	}
	for i, partition := range p.Partitions {
		if partition == "" || slices.Contains(p.Partitions[:i], partition) {
			return nil, fmt.Errorf("--partitions: %q is there twice, or no name", partition)
		}
	}
	if err := f.readGroup(r, now); err != nil {
		return nil, err
	}
	return r, f.readSizes(r)
}

// splitPartitions returns the partitions of --partitions, and whether they are alternatives that
// have a job each.
func splitPartitions(text string) (partitions []string, apart bool, err error) {
	if !strings.Contains(text, alternatives) {
		return strings.Split(text, ","), false, nil
	}
	if strings.Contains(text, ",") {
		return nil, false, errors.New("--partitions: with , between them the best one is taken, and with / there is a job in each, of which one runs; give either")
	}
	return strings.Split(text, alternatives), true, nil
}

// readSizes reads the options about sizes.
func (f *reserveFlags) readSizes(r *reserveRequest) (err error) {
	switch {
	case f.Sizes != "" && f.Nodes != "":
		return errors.New("--sizes and --nodes exclude each other: sizes have their nodes")
	case f.Nodes == "" && (f.RefNodes != 0 || f.Speedup != ""):
		return errors.New("--ref-nodes and --speedup need --nodes: the numbers of nodes among which to choose")
	case f.RefNodes < 0:
		return fmt.Errorf("--ref-nodes: %d is not a number of nodes", f.RefNodes)
	case f.Nodes != "" && (f.RefNodes == 0 || f.Speedup == ""):
		return errors.New("--nodes needs --ref-nodes and --speedup: they say how long the work takes on each")
	case f.Sizes != "":
		_, err = elastic.ParseSizes(f.Sizes)
		if err != nil {
			return fmt.Errorf("--sizes: %w", err)
		}
	case f.Nodes != "":
		if r.nodes, err = elastic.ParseNodes(f.Nodes); err != nil {
			return fmt.Errorf("--nodes: %w", err)
		}
		if r.curve, err = speedup.Parse(f.Speedup, readTable); err != nil {
			return fmt.Errorf("--speedup: %w", err)
		}
	}
	return nil
}

// sbatchFailed is the error of a job that sbatch does not read, for another reason than its
// options.
type sbatchFailed struct{ error }

func (f *sbatchFailed) Unwrap() error { return f.error }

// notRead returns the error of a job that sbatch has not read.
func notRead(err error) error {
	if strings.Contains(err.Error(), "Batch script is empty") {
		return fmt.Errorf("%w (varq reserve runs sbatch several times: give it the script as a file, or --wrap)", err)
	}
	if _, wrong := errors.AsType[*sbatch.Misuse](err); wrong {
		return err
	}
	return &sbatchFailed{err}
}

// describe has sbatch read what the job needs, completes the request with it, and returns it. An
// error that is no *sbatchFailed is one of the command line.
func (f *reserveFlags) describe(ctx context.Context, s *site, r *reserveRequest) (*sbatch.Description, error) {
	p := &r.probe
	by := max(p.Latest, p.FinishBy)
	options := []string{"--begin-by=uts" + strconv.FormatInt(by, 10)}
	sizes := f.Sizes
	if r.nodes != nil {
		// The job's own time is needed for the sizes.
		rigid, err := s.describe(ctx, options)
		if err != nil {
			return nil, notRead(err)
		}
		if rigid.Job.Limit == 0 {
			return nil, errors.New("nobody knows how long the work takes: give sbatch its --time on --ref-nodes")
		}
		all, err := elastic.Reference{Size: elastic.Size{Nodes: f.RefNodes, Seconds: rigid.Job.Limit}, Curve: r.curve}.Sizes(r.nodes)
		if err != nil {
			return nil, err
		}
		sizes = elastic.FormatSizes(all)
	}
	if sizes != "" {
		options = append(options, "--sizes="+sizes)
	}
	job, err := s.describe(ctx, options)
	if err != nil {
		return nil, notRead(err)
	}
	script := scriptOf(f.Command, job.Arguments)
	if heterogeneous(f.Command, job.Arguments, script) {
		return nil, errors.New("the job is heterogeneous, and a reservation is of one job: submit its components apart, or without varq")
	}
	notes, err := f.giveWay(job.Arguments, script)
	if err != nil {
		return nil, err
	}
	sized, err := givenSizes(sizes)
	if err != nil {
		return nil, err
	}
	if job.BeginBy != by || job.Prob != 0 && f.MinProb == "" || job.BestEffort && !f.bestEffort() || !slices.EqualFunc(job.Sizes, sized, func(a api.Alternative, s elastic.Size) bool { return a.Nodes == s.Nodes && a.Limit == s.Seconds }) {
		return nil, errors.New("leave varq's options (--begin-by, --prob, --sizes and others) to varq reserve; give them before --")
	}
	p.Job, p.Needs, p.MaxCost, p.Sizes, r.sized, r.parsable, r.notes = job.Job, job.Needs, job.MaxCost, job.Sizes, sizes != "", job.Parsable, slices.Concat(notes, job.Notes)
	switch of := job.Job.Partition; {
	case len(p.Partitions) > 0 && of != "" && !slices.Equal(p.Partitions, []string{of}):
		r.notes = append(r.notes, fmt.Sprintf("instead of --partition=%s of sbatch's: --partitions of varq reserve", of))
	case len(p.Partitions) == 0 && strings.Contains(of, ","):
		return nil, fmt.Errorf("--partition=%s are several: give varq reserve --partitions=%[1]s, before --", of)
	}
	if len(p.Sizes) == 0 {
		if job.Job.Limit == 0 {
			return nil, errors.New("nobody knows how long the work takes: give sbatch its --time, or use --sizes")
		}
		p.Sizes = []api.Alternative{{Size: job.Job.Size, Limit: job.Job.Limit}}
	}
	return job, nil
}

// givenSizes returns the sizes that sbatch is to be given; none for "".
func givenSizes(text string) ([]elastic.Size, error) {
	if text == "" {
		return nil, nil
	}
	return elastic.ParseSizes(text)
}
