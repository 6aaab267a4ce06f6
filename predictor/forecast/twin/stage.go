package twin

import (
	"math"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/workload"
)

// stage is the nodes on which a rollout takes place: those of a pool or, if the jobs of a partition
// may run on some of them only, these.
type stage struct {
	*pool
	in     *partition
	partly bool // whether in has some nodes of the pool only
}

// stage returns where the jobs of a partition wait.
func (p *partitions) stage(in *partition) stage {
	return stage{p.pool(in), in, in.configured != nil && len(in.nodes) > 0 && in.part != in.configured.size}
}

// processors returns how many the stage has, by an estimate of the pool's size.
func (s stage) processors(size int) int32 {
	if s.partly {
		return s.in.part.CPUs
	}
	return s.procs[size]
}

// reserved returns when Slurm's own reservations have nodes of the stage. They may be over.
func (s stage) reserved() rollout.Windows {
	if s.partly {
		return s.in.windows
	}
	return s.windows
}

// share returns the share of a job's nodes that are in the stage, given their names if they are
// known. Otherwise the job is taken to have any nodes of its partition, which is of the same pool.
func (s stage) share(of *partition, names []string) float64 {
	switch {
	case !s.partly || of == s.in:
		return 1
	case len(names) == 0:
		return s.in.shareOf(of)
	}
	in := 0
	for _, name := range names {
		if _, ok := s.in.index[name]; ok {
			in++
		}
	}
	return float64(in) / float64(len(names))
}

// rounding is what a number of processors may be above a whole one because of rounding.
const rounding = 1e-6

// keeps returns how many processors a job of a size keeps from others, given those that it takes:
// where every node has GPUs, and where jobs have memory for themselves, it may be that nobody can
// use those beside the GPUs or the memory that it takes.
func (s stage) keeps(takes int32, size *workload.Size) int32 {
	if s.in.perGPU == 0 && s.in.perMiB == 0 {
		return takes
	}
	keeps := max(float64(takes), s.in.perGPU*float64(size.GPUs), s.in.perMiB*float64(size.Memory))
	return int32(min(math.Ceil(keeps-rounding), math.MaxInt32))
}

// part returns how many processors of the stage a job keeps from others, given its nodes if they
// are known.
func (s stage) part(k *job, names []string) int32 {
	keeps := s.keeps(k.takes, &k.size)
	if !s.partly || k.in == s.in {
		return keeps
	}
	return int32(math.Ceil(s.share(k.in, names)*float64(keeps) - rounding))
}
