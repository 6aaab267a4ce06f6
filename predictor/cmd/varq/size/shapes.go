package size

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/slurm/jobsize"
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

// shapes returns the sizes that the options give.
func (f *shapeFlags) shapes(ctx context.Context, env *cli.Env, past history, job *options.Job) (shapes, error) {
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
		return usage(errors.New("--sizes, --speedup and --fit do not go together: each says how long the job runs"))
	case f.speedup == "" && f.refNodes != 0:
		return usage(errors.New("--ref-nodes is for --speedup"))
	case f.speedup == "" && job.Time != "":
		return usage(errors.New("--time is for --speedup; --sizes has a time for each size, and --fit finds them"))
	case f.sizes != "" && job.Size.Nodes != "":
		return usage(errors.New("--sizes does not go together with --nodes"))
	case job.Size.NTasks != 0:
		return usage(errors.New("--ntasks is the same for all sizes; say --ntasks-per-node"))
	}
	var nodes []int32
	if job.Size.Nodes != "" {
		var err error
		if nodes, err = elastic.ParseNodes(job.Size.Nodes); err != nil {
			return usage(fmt.Errorf("--nodes: %w", err))
		}
	}
	smallest := shape{nodes: 1, limit: 60}
	if _, err := smallest.request(job); err != nil {
		return usage(err)
	}
	if f.fit != "" {
		return past.fit(ctx, env, f.fit, f.since, nodes)
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
func (f *shapeFlags) stated(job *options.Job, nodes []int32) ([]elastic.Size, error) {
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
	case job.Time == "" || f.refNodes == 0:
		return nil, errors.New("--speedup needs a time, and the number of nodes on which it is that: --time=2:00:00 --ref-nodes=8")
	}
	curve, err := options.ParseSpeedup(f.speedup)
	if err != nil {
		return nil, err
	}
	limit, err := jobsize.Limit(job.Time)
	if err != nil {
		return nil, fmt.Errorf("--time: %w", err)
	}
	reference := elastic.Reference{Size: elastic.Size{Nodes: f.refNodes, Seconds: limit}, Curve: curve}
	return reference.Sizes(nodes)
}
