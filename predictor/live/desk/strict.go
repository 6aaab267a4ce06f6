package desk

import (
	"cmp"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// mostAhead is the greatest number of waiting jobs that the desk takes into account if no job may
// pass another: those that come first. It bounds the cost of a plan. Inside of a reservation, and
// for licences, nothing new is promised behind more of them.
const mostAhead = 16

// line is jobs that do not pass one another.
type line struct {
	has   func(*workload.Job) bool // whether a job that waits is one of them
	tasks bool                     // whether the tasks of an array follow one another there, too
	ends  bool                     // whether nothing has room behind more than mostAhead jobs
	// beside is Outlook.Room, or Licences, beside others.
	beside func(others []workload.Claim) func(workload.Claim, float64) workload.Room
	// starts returns when a job ahead that does not start before its From is likely to start. It is
	// nil if beside alone says so.
	starts func(first workload.Claim) int64
}

// roomInOrder is Outlook.Room for a job like c if no job may pass another. It also counts the jobs
// that wait in the partition, or for the reservation of c, before c's job.
func (d *occupancy) roomInOrder(cluster *limits.Cluster, c workload.Claim, now int64, others []workload.Claim, promise bool) func(workload.Claim, float64) workload.Room {
	place, job, inside := c.Place(), c.Job, c.Reservation != ""
	l := line{
		has: func(j *workload.Job) bool {
			if inside {
				return j.Reservation == c.Reservation
			}
			return j.Partition == c.Partition && !j.AtLimit && !j.QOSFull
		},
		tasks: inside, ends: inside && promise,
		beside: func(others []workload.Claim) func(workload.Claim, float64) workload.Room {
			return d.Outlook.Room(place, job, now, others)
		},
	}
	return d.inLine(&l, cluster, c, now, others)
}

// inLine is beside of a line for a job like c, behind the jobs of the line that wait before it.
// Some of these jobs ahead are likely to start later than a claim's begin, and they start first. So
// the room for the claim is bounded by the room for each of them at that time.
func (d *occupancy) inLine(l *line, cluster *limits.Cluster, c workload.Claim, now int64, others []workload.Claim) func(workload.Claim, float64) workload.Room {
	// beside[i] counts i of the jobs ahead, too
	beside := []func(workload.Claim, float64) workload.Room{l.beside(others)}
	var ahead []workload.Claim
	takes := cluster.Takes()
	start := now
	waiting := d.waitingBefore(l, cluster, c, now, others)
	if len(waiting) > mostAhead && l.ends {
		return func(workload.Claim, float64) workload.Room { return workload.Room{} }
	}
	for _, j := range waiting[:min(len(waiting), mostAhead)] {
		r := j.Request
		r.Partition, _, _ = strings.Cut(r.Partition, ",")
		var pieces workload.Pieces
		if l.tasks {
			view := cluster.Job(r, nil)
			tasks := max(1, view.MostTogether(max(1, min(j.Tasks, cmp.Or(j.AtOnce, j.Tasks)))))
			r.Size, r.Limit = r.Times(tasks), r.Limit*int64(rounds(int32(j.Count()), tasks))
			pieces = view.Pieces().Times(tasks)
		}
		r.CPUs, r.Memory = takes.CPUs(r), takes.Memory(r)
		start = likely(workload.Claim{Request: r, From: start}, beside[len(ahead)])
		if l.starts != nil {
			r.Limit += l.starts(workload.Claim{Request: r, Pieces: pieces, From: start}) - start
		}
		ahead = append(ahead, workload.Claim{Request: r, Start: start, From: start})
		beside = append(beside, l.beside(slices.Concat(others, ahead)))
	}
	return func(c workload.Claim, least float64) workload.Room {
		room := beside[len(ahead)](c, least)
		for i, first := range ahead {
			if first.From > c.From {
				room.Next = append(room.Next, first.From)
				first.Start, first.From = 0, c.From
				room.Prob = min(room.Prob, beside[i](first, 0).Prob)
			}
		}
		return room
	}
}

// waitingBefore returns the jobs of a line that are eligible and wait, in Slurm's order. It leaves
// out those that have a claim among others, and ends before c's job, if that job waits, too.
func (d *occupancy) waitingBefore(l *line, cluster *limits.Cluster, c workload.Claim, now int64, others []workload.Claim) []*workload.Job {
	claims := make(map[int64]bool, len(others))
	for i := range others {
		claims[others[i].Job] = true
	}
	type ranked struct {
		*workload.Job
		rank
	}
	var waiting []ranked
	for j := range d.Outlook.Jobs {
		if j.Start == 0 && j.Since() <= now && l.has(j) && !claims[j.ID] {
			waiting = append(waiting, ranked{j, rankOf(cluster, j, now)})
		}
	}
	slices.SortStableFunc(waiting, func(a, b ranked) int { return a.compare(b.rank) })
	var before []*workload.Job
	for _, w := range waiting {
		if w.ID == c.Job {
			break
		}
		before = append(before, w.Job)
	}
	return before
}

// likely returns the first time from c.From on at which c has room with a probability of at least
// half. It tries the times that the room itself names, and returns the last of them if none is good
// enough.
func likely(c workload.Claim, ask func(workload.Claim, float64) workload.Room) int64 {
	const half = .5
	for {
		room := ask(c, half)
		next := slices.IndexFunc(room.Next, func(at int64) bool { return at > c.From })
		if room.Prob >= half || next < 0 {
			return c.From
		}
		c.From = room.Next[next]
	}
}
