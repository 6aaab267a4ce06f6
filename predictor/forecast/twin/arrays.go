package twin

import (
	"math"

	"github.com/varq-project/varq/predictor/cluster/queue"
)

// arrays turn the tasks of job arrays that wait into tasks of a rollout.
//
// An array may have millions of tasks, and each forecast simulates them. So no array makes
// more than mostTasks tasks of a rollout, and all together hardly more than allTasks. If it
// has more, each stands for a block of them: some side by side, and some one after another.
// The work remains the same. What blocks lose is that other jobs may start between two tasks.
//
// If only some tasks of an array may run at once, a task that runs is followed by others in
// its place, and only the places that are left are for tasks that wait.
type arrays struct {
	runs   map[int64]int32 // by array with such a limit: tasks that run
	blocks int64           // of tasks that wait
}

const (
	mostTasks = 128
	allTasks  = 4096
	// leastBeside is how many blocks run at once at least, if there are as many places:
	// with few, other jobs would find no gaps between them.
	leastBeside = 8
)

// waitingJob is a job of a Snapshot that waits, or a block of an array's tasks.
type waitingJob struct {
	*job
	procs int32 // of the whole block
	takes int32 // of one of its tasks
	depth int64 // tasks one after another
	// priority is Slurm's now, or 0 where it is not known.
	priority int64
}

// count returns how many tasks the block has, or the most that fit.
func (w *waitingJob) count() uint16 {
	return uint16(min(math.MaxUint16, int64(w.procs/w.takes)*w.depth))
}

// run returns how long the block runs, in seconds, at the level q in [0,1) of a task's run
// times.
func (w *waitingJob) run(q float64) int64 { return w.depth * w.length(q) }

func (a *arrays) reset() {
	clear(a.runs)
	a.blocks = 0
}

// follow returns how many waiting tasks of its array follow a running job in its place.
func (a *arrays) follow(q *queue.Queue, j *queue.Job) int64 {
	if j.Array == 0 {
		return 0
	}
	rest := q.Job(j.Array)
	if rest == nil || rest.Start != 0 || rest.AtOnce == 0 {
		return 0
	}
	if a.runs == nil {
		a.runs = make(map[int64]int32)
	}
	a.runs[rest.ID]++
	return ceil(int64(rest.Count()), int64(rest.AtOnce))
}

// add adds a waiting job of the queue, or the tasks of an array, to a snapshot.
func (a *arrays) add(s *Snapshot, j *queue.Job, k *job) {
	tasks, takes := s.portion(int64(j.Count()), k)
	priority := s.twin.priorities.of(&j.Job, s.Now)
	if tasks <= 1 {
		if tasks == 1 {
			s.waitingJobs = append(s.waitingJobs, waitingJob{k, takes, takes, 1, priority})
		}
		return
	}
	// A round is the blocks that run at once. Its number of blocks is beside, and all of them
	// together have a number of tasks side by side, which is places. Blocks have several tasks one
	// after another only if there would be too many rounds otherwise.
	places, depth := max(1, int64(s.processors(hypotheses[s.twin.believed(s.pool)].size)/takes)), int64(1)
	if j.AtOnce > 0 {
		depth = ceil(tasks, int64(j.AtOnce))
		places = min(places, int64(j.AtOnce-a.runs[j.ID]))
		tasks = min(tasks, places*depth)
	}
	beside := places
	if most := max(leastBeside, min(mostTasks, allTasks-a.blocks)); tasks > most {
		depth = max(depth, ceil(tasks, places*(most/leastBeside)))
		beside = min(places, most/ceil(tasks, places*depth))
	}
	for i := int64(0); tasks > 0; i = (i + 1) % beside {
		width := min(tasks, (i+1)*places/beside-i*places/beside)
		n := min(tasks, width*depth)
		s.waitingJobs = append(s.waitingJobs, waitingJob{k, int32(width) * takes, takes, ceil(n, width), priority})
		a.blocks++
		tasks -= n
	}
}

// portion returns how many tasks of a waiting job are in a snapshot, and how many processors each
// takes. A job that may run elsewhere, too, is there in part: one of several nodes with some of its
// processors, and others now and then. Jobs that may run on some nodes of the stage only are not in
// the way of others beyond these nodes, however many wait.
func (s *Snapshot) portion(tasks int64, k *job) (int64, int32) {
	takes := s.keeps(k.takes, &k.size)
	if k.in == s.in {
		return tasks, takes
	}
	share := s.share(k.in, nil)
	if share == 1 && !s.twin.partitions.stage(k.in).partly {
		return tasks, takes
	}
	needs := min(share*float64(tasks)*float64(takes), s.left(k.in, share))
	s.narrow[k.in] -= needs
	s.rest += needs
	if tasks == 1 {
		takes = int32(min(float64(takes), s.rest))
	}
	if takes == 0 {
		return 0, 0
	}
	tasks = min(tasks, int64(s.rest)/int64(takes))
	s.rest -= float64(tasks) * float64(takes)
	return tasks, takes
}

// left returns how many processors more waiting jobs of a partition may have, which has a share of
// the stage.
func (s *Snapshot) left(in *partition, share float64) float64 {
	left, known := s.narrow[in]
	if !known {
		if s.narrow == nil {
			s.narrow = make(map[*partition]float64)
		}
		left = share * float64(in.part.CPUs)
		s.narrow[in] = left
	}
	return left
}

// ceil returns a/b, rounded up.
func ceil(a, b int64) int64 { return (a + b - 1) / b }
