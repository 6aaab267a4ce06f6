package advise

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/promise/checkpoint"
	"github.com/varq-project/varq/predictor/varqd/jobrisk"
)

// ground is what the risk of the job's nodes rests on.
type ground struct {
	source string // in words
	known  *jobrisk.Known
}

// learn completes a request by the risk that the job's nodes fail: as --mtbf says, or as varqd
// does.
func (f *flags) learn(ctx context.Context, env *cli.Env, link *link.Link, r *checkpoint.Request) (ground, error) {
	if f.given("mtbf") {
		return f.constant(env, r)
	}
	if f.given("nodes") {
		return ground{}, errors.New("--nodes needs --mtbf: without it varqd is asked about the nodes of the job")
	}
	job, nodes := env.Getenv("SLURM_JOB_ID"), env.Getenv("SLURM_JOB_NODELIST")
	if job == "" || nodes == "" {
		return ground{}, errors.New("--mtbf is missing: the mean time between failures of one node, 400-0 for 400 days; in a job varqd knows it")
	}
	finder := jobrisk.Finder{Job: job, Nodes: nodes, Dir: jobrisk.Dir(env.Getenv), Now: env.Now, Ask: func(ctx context.Context, nodes string) (api.Risk, error) {
		varqd, err := link.Dial()
		if err != nil {
			return api.Risk{}, err
		}
		return varqd.Risk(ctx, nodes)
	}}
	known, err := finder.Find(ctx)
	if err != nil {
		return ground{}, notKnown{err}
	}
	known.Tell(r, env.Now())
	return ground{"varqd's forecast for " + nodes, &known}, nil
}

// notKnown is the error of a risk that nobody knows now. It hides what kind of error that is: an
// exit code of 1 would be an advice.
type notKnown struct{ error }

func (n notKnown) Error() string {
	return "the risk of the job's nodes is not known: " + oneLine(n.error) + "; --mtbf, the mean time between failures of one node, would do"
}

// oneLine writes an error on one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// mostNodes is the largest value of --nodes.
const mostNodes = 10_000_000

// constant completes a request as --mtbf says.
func (f *flags) constant(env *cli.Env, r *checkpoint.Request) (ground, error) {
	mtbf, err := span("--mtbf", f.mtbf)
	if err != nil {
		return ground{}, err
	}
	if mtbf == 0 {
		return ground{}, errors.New("--mtbf: 0 is too short")
	}
	nodes, name := f.nodes, "--nodes"
	if text := env.Getenv("SLURM_JOB_NUM_NODES"); !f.given("nodes") && text != "" {
		name = "SLURM_JOB_NUM_NODES"
		if nodes, err = strconv.Atoi(text); err != nil {
			return ground{}, fmt.Errorf("%s: %.40q is not a number of nodes; --nodes says how many there are", name, text)
		}
	} else if !f.given("nodes") {
		nodes = 1
	}
	if nodes < 1 || nodes > mostNodes {
		return ground{}, fmt.Errorf("%s: %d is not in 1..%d", name, nodes, mostNodes)
	}
	r.Hazard = checkpoint.Constant(float64(nodes) / mtbf)
	return ground{source: fmt.Sprintf("one every %s on a node (--mtbf), and there are %d", cli.Rounded(mtbf), nodes)}, nil
}
