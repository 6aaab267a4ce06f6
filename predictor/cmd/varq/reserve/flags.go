package reserve

import (
	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/promise/elastic"
)

// flags has the options of reserve, which a file may have, too.
type flags struct {
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

func (f *flags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Latest, "latest", "", "the work begins at this `time` at the latest, in any format of sbatch --begin")
	flags.StringVar(&f.FinishBy, "finish-by", "", "it begins early enough to end by this `time` within its limit (sbatch --finish-by promises the end itself)")
	flags.StringVar(&f.Earliest, "earliest", "", "it begins at this `time` at the earliest (default now)")
	flags.StringVar(&f.Sizes, "sizes", "", "shapes the job may have: `NODES:TIME,...`")
	flags.StringVar(&f.Nodes, "nodes", "", "numbers of `nodes` it may have: 2-32, 2,4,8 or 1-15:4")
	flags.Int32Var(&f.RefNodes, "ref-nodes", 0, "sbatch's --time is meant for `N` nodes")
	flags.StringVar(&f.Speedup, "speedup", "", "how much faster more nodes are: `CURVE` amdahl:SERIAL, downey:A,SIGMA or table:FILE")
	flags.Float64Var(&f.Power, "ref-power", 0, "times are meant for processors of this `power`, in the unit in which clusters tell their own")
	flags.StringVarP(&f.Clusters, "clusters", "M", "", "`clusters` where it may run, or all (default this one); alpha,beta/gamma of --all-of has alternatives")
	flags.StringVarP(&f.Partitions, "partitions", "p", "", "`partitions` where it may run; with main/long, --all-of has a job in each as alternatives")
	flags.StringVar(&f.Prefer, "prefer", elastic.DefaultPreferences().String(), "the `criteria` that count, first things first: end, start, time, nodes, work, cost, prob; - before one prefers the most")
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
	_ = cmd.RegisterFlagCompletionFunc("prefer", cli.CompleteList(elastic.Criteria()))
	_ = cmd.MarkFlagFilename("file", "yaml", "yml")
}
