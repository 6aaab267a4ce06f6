package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/forecast/speedup"
	"github.com/varq-project/varq/predictor/forecast/speedup/fit"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/slurm/sacct"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// shapeFlags has the options that say which sizes a job can have, and how long it runs there.
type shapeFlags struct {
	sizes    string
	refNodes int32
	speedup  string
	fit      string
	since    string
}

func (f *shapeFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.sizes, "sizes", "", "the sizes that the job can have, and its time on each: `NODES:TIME,...`")
	flags.StringVar(&f.speedup, "speedup", "", "how much faster the program is on more nodes: `CURVE` amdahl:SERIAL, downey:A,SIGMA or table:FILE")
	flags.Int32Var(&f.refNodes, "ref-nodes", 0, "the number of `nodes` for which --time is the time, with --speedup")
	flags.StringVar(&f.fit, "fit", "", "learn the speedup from your past jobs of this `name`")
	flags.StringVarP(&f.since, "starttime", "S", "now-90days", "with --fit, only jobs from this `time` on")
}

// shape is a size that the job can have.
type shape struct {
	nodes     int32
	limit     int64     // its time limit, seconds
	times     []float64 // the run times expected, seconds, each equally likely
	low, high float64   // the interval of their median, if it was fitted
}

// shapes are all sizes of a job, by their nodes. The past is nil unless they come from past runs.
type shapes struct {
	list []shape
	past *past
}

// past is what was learnt from past runs.
type past struct {
	*fit.Model
	others int // runs that did not complete
}

// mostTable is the largest file of --speedup=table:FILE, in bytes.
const mostTable = 1 << 20

// shapes returns the sizes that the options give.
func (f *shapeFlags) shapes(ctx context.Context, env *Env, link *link, job *jobFlags) (shapes, error) {
	usage := func(err error) (shapes, error) { return shapes{}, cli.UsageError{Command: "varq size", Err: err} }
	given := 0
	for _, text := range []string{f.sizes, f.speedup, f.fit} {
		if text != "" {
			given++
		}
	}
	switch {
	case given == 0:
		return usage(errors.New("how long does the job run? Say by --sizes=4:2h,8:1h10m, by --speedup with --time and --ref-nodes, or by --fit=JOBNAME"))
	case given > 1:
		return usage(errors.New("--sizes, --speedup and --fit exclude each other: each says how long the job runs"))
	case f.speedup == "" && f.refNodes != 0:
		return usage(errors.New("--ref-nodes is for --speedup"))
	case f.speedup == "" && job.time != "":
		return usage(errors.New("--time is for --speedup; --sizes has a time for each size, and --fit finds them"))
	case f.sizes != "" && job.size.Nodes != "":
		return usage(errors.New("--sizes and --nodes exclude each other"))
	case job.size.NTasks != 0:
		return usage(errors.New("--ntasks is the same for all sizes; say --ntasks-per-node"))
	}
	var nodes []int32
	if job.size.Nodes != "" {
		var err error
		if nodes, err = elastic.ParseNodes(job.size.Nodes); err != nil {
			return usage(fmt.Errorf("--nodes: %w", err))
		}
	}
	if _, err := job.ofShape(shape{nodes: 1, limit: 60}); err != nil {
		return usage(err)
	}
	if f.fit != "" {
		return f.fitted(ctx, env, link, nodes)
	}
	sizes, err := f.stated(job, nodes)
	if err != nil {
		return usage(err)
	}
	var all shapes
	for _, s := range sizes {
		all.list = append(all.list, shape{nodes: s.Nodes, limit: s.Seconds, times: []float64{float64(s.Seconds)}})
	}
	return all, nil
}

// stated returns the sizes of --sizes, or of --speedup.
func (f *shapeFlags) stated(job *jobFlags, nodes []int32) ([]elastic.Size, error) {
	if f.sizes != "" {
		sizes, err := elastic.ParseSizes(f.sizes)
		if err != nil {
			return nil, fmt.Errorf("--sizes: %w", err)
		}
		return sizes, nil
	}
	switch {
	case nodes == nil:
		return nil, errors.New("--speedup needs the sizes that the job can have, as in --nodes=2-32")
	case job.time == "" || f.refNodes == 0:
		return nil, errors.New("--speedup needs a time, and the number of nodes on which it is that: --time=2:00:00 --ref-nodes=8")
	}
	curve, err := speedup.Parse(f.speedup, readTable)
	if err != nil {
		return nil, fmt.Errorf("--speedup: %w", err)
	}
	limit, err := slurmtime.ParseDuration(job.time)
	if err != nil {
		return nil, fmt.Errorf("--time: %w", err)
	}
	reference := elastic.Reference{Size: elastic.Size{Nodes: f.refNodes, Seconds: limit}, Curve: curve}
	return reference.Sizes(nodes)
}

// readTable reads a file of at most mostTable bytes.
func readTable(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostTable+1))
	if err == nil && len(text) > mostTable {
		err = fmt.Errorf("%s is larger than %d bytes", path, mostTable)
	}
	return string(text), err
}

// fitted returns the sizes by the past runs of the user's jobs of a name: those asked for, or if
// there are none those that were run, doubled up to twice the largest.
func (f *shapeFlags) fitted(ctx context.Context, env *Env, link *link, nodes []int32) (shapes, error) {
	since, err := env.PastTime("--starttime", f.since)
	if err != nil {
		return shapes{}, cli.UsageError{Command: "varq size", Err: err}
	}
	if since > env.Now() {
		return shapes{}, cli.UsageError{Command: "varq size", Err: fmt.Errorf("--starttime: %s is in the future: --fit goes by jobs of the past", env.Moment(since))}
	}
	here, err := link.openSites("")
	if err != nil {
		return shapes{}, err
	}
	runs, others, err := env.pastRuns(ctx, here[0], f.fit, since)
	if err != nil {
		return shapes{}, err
	}
	// Any seed will do, as long as the same runs always give the same interval.
	model, err := fit.Fit(runs, rand.New(rand.NewPCG(1, 1)))
	if errors.Is(err, fit.ErrTooLittle) {
		left := ""
		if others > 0 {
			left = fmt.Sprintf(" (%s not, and are left out)", cli.Count(others, "other did", "others did"))
		}
		return shapes{}, fmt.Errorf("%w\nThese are your jobs %q that completed since %s%s. Say by --sizes how long the job runs, or look further back with --starttime",
			err, f.fit, env.Moment(since), left)
	}
	if err != nil {
		return shapes{}, err
	}
	if nodes == nil {
		nodes = around(model)
	}
	all := shapes{past: &past{model, others}}
	for _, n := range nodes {
		_, low, high := model.At(n)
		all.list = append(all.list, shape{
			nodes: n, low: low, high: high, times: model.Times(n),
			limit: 60 * slurmtime.Minutes(int64(math.Ceil(model.Enough(n)))),
		})
	}
	return all, nil
}

// around returns the sizes of a model's runs, and those between and up to twice as large that
// double the least; if the program turned slower at some size, none above that.
func around(m *fit.Model) []int32 {
	least, most := m.Runs[0].Nodes, 2*m.Runs[len(m.Runs)-1].Nodes
	if turn := m.Turn(); turn != 0 {
		most = turn
	}
	var nodes []int32
	for n := least; n <= most; n *= 2 {
		nodes = append(nodes, n)
	}
	for _, r := range m.Runs {
		if r.Nodes <= most {
			nodes = append(nodes, r.Nodes)
		}
	}
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	if len(nodes) > elastic.MaxSizes {
		nodes = nodes[:elastic.MaxSizes]
	}
	return nodes
}

// pastRuns asks a site's sacct for the user's jobs of a name since a time. It returns the runs of
// those that completed, and how many others ended.
func (e *Env) pastRuns(ctx context.Context, at *site, name string, since int64) (runs []fit.Run, others int, err error) {
	out, err := at.sacct(ctx, e, "-X", "-P", "--name="+name, "--starttime="+slurmtime.Format(since, e.Zone), "--format="+strings.Join(sacct.Fields, ","))
	if err != nil {
		return nil, 0, fmt.Errorf("the past jobs %q: %w", name, err)
	}
	type dated struct {
		fit.Run
		end int64
	}
	var all []dated
	for r, err := range sacct.Records("sacct", bytes.NewReader(out), e.Zone) {
		switch {
		case err != nil:
			return nil, 0, err
		case !r.State.Finished() || r.Start == 0 || r.Allocated.Nodes < 1:
		case r.State != workload.Completed || r.End <= r.Start:
			others++
		default:
			all = append(all, dated{fit.Run{Nodes: r.Allocated.Nodes, Seconds: float64(r.End - r.Start)}, r.End})
		}
	}
	slices.SortStableFunc(all, func(a, b dated) int { return cmp.Compare(a.end, b.end) })
	for _, r := range all {
		runs = append(runs, r.Run)
	}
	return runs, others, nil
}
