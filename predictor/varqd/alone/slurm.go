package alone

import (
	"context"
	"errors"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/program"
	"github.com/varq-project/varq/predictor/slurm/sacct"
	"github.com/varq-project/varq/predictor/slurm/scontrol"
	"github.com/varq-project/varq/predictor/slurm/squeue"
	"github.com/varq-project/varq/predictor/workload"
)

// How often Slurm is asked at most, by all processes with the same folder together.
const (
	// Every is the least time from one squeue to the next, and so of sacct.
	Every = time.Minute
	// Kept is for how long what scontrol says of nodes, partitions and the configuration serves.
	Kept = 5 * time.Minute
	// patience is how long squeue and scontrol may take: less than an answer.
	patience = 25 * time.Second
)

// Commands is a Slurm of which squeue, scontrol and sacct tell.
type Commands struct {
	squeue   squeue.Command
	scontrol scontrol.Command
	sacct    sacct.Command
	sparing  *program.Sparing
}

// NewCommands returns the Commands that sparing runs, which is to have a folder and a clock.
func NewCommands(sparing program.Sparing) *Commands {
	sparing.Patience = patience
	often, seldom := sparing, sparing
	often.Every, seldom.Every = Every, Kept
	return &Commands{
		squeue: squeue.Command{Run: often.Output}, scontrol: scontrol.Command{Run: seldom.Output}, sacct: sacct.Command{Run: often.Once}, sparing: &often,
	}
}

// Queue implements Slurm.
func (c *Commands) Queue(ctx context.Context) (queue []slurm.QueueEntry, at int64, err error) {
	at = c.sparing.Now().Unix()
	queue, err = c.squeue.Queue(ctx)
	if told := c.sparing.Told("squeue", squeue.Arguments()...); err == nil && !told.IsZero() {
		at = min(at, told.Unix())
	}
	return queue, at, err
}

// Cluster implements premises.Slurm.
func (c *Commands) Cluster(ctx context.Context) (limits.Cluster, error) {
	return c.scontrol.Layout(ctx)
}

// Nodes implements premises.Slurm. It returns none if the user may not see them.
func (c *Commands) Nodes(ctx context.Context) ([]slurm.Node, error) {
	nodes, err := c.scontrol.Nodes(ctx)
	if errors.Is(err, slurm.ErrPermission) {
		return nil, nil
	}
	return nodes, err
}

// Operators implements premises.Slurm: who they are is not known, and nothing depends on it.
func (c *Commands) Operators(context.Context) ([]string, error) { return nil, nil }

// History implements ingest.Source.
func (c *Commands) History(ctx context.Context, from, to int64, progress func(slurm.Progress)) iter.Seq2[workload.Job, error] {
	return c.sacct.History(ctx, from, to, progress)
}

// Environment returns those variables of an environment that are meant for all of Slurm's commands.
// Others would select jobs, or another cluster, or another format.
func Environment() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SQUEUE_") && !strings.HasPrefix(v, "SACCT_") && !strings.HasPrefix(v, "SCONTROL_") && !strings.HasPrefix(v, "SLURM_CLUSTERS=") {
			env = append(env, v)
		}
	}
	return env
}
