package daemon

import (
	"context"
	"iter"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// placed is the Slurm whose jobs say on which nodes of their partitions they may run.
type placed struct {
	Slurm
	setNodeSet func(*workload.Job)
}

// Queue implements Slurm.
func (p placed) Queue(ctx context.Context) ([]slurm.QueueEntry, error) {
	queue, err := p.Slurm.Queue(ctx)
	for i := range queue {
		p.setNodeSet(&queue[i].Job)
	}
	return queue, err
}

// Job implements keeper.Slurm.
func (p placed) Job(ctx context.Context, id int64) (slurm.QueueEntry, error) {
	j, err := p.Slurm.Job(ctx, id)
	p.setNodeSet(&j.Job)
	return j, err
}

// History implements ingest.Source.
func (p placed) History(ctx context.Context, from, to int64, progress func(slurm.Progress)) iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		for j, err := range p.Slurm.History(ctx, from, to, progress) {
			p.setNodeSet(&j)
			if !yield(j, err) {
				return
			}
		}
	}
}
