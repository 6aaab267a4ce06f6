package limits

import (
	"cmp"
	"maps"
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// Claims returns what Slurm's own reservations have between two times, as claims on the nodes of
// the job's partition that can be used, in order of time. A job can have nothing of theirs while
// its time limit reaches into them. Of those that float, a job can only have nodes if MaxLimit
// bounds its time limit by them. The pieces are what the job needs of single nodes, as far as that
// is known.
//
// A claim has its nodes alone if the job can have no part of them, and otherwise CPUs of each.
// However many reservations have a node at once, or one after the other without a gap, one claim
// has it, for all of that time.
func (j *Job) Claims(pieces workload.Pieces, after, before int64) []workload.Claim {
	edges := j.edgesWithin(after, before)
	if len(edges) == 0 {
		return nil
	}
	room := j.emptyPartition(pieces)
	claims := claims{job: j, by: map[claimed]*workload.Claim{}}
	since := make([]claimed, len(room.taken)) // what each node is claimed for, and from when on
	var touched []int
	for i, e := range edges {
		room.change(&e)
		for _, has := range e.nodes {
			touched = append(touched, has.node)
		}
		if i+1 < len(edges) && edges[i+1].at == e.at {
			continue
		}
		slices.Sort(touched)
		for _, n := range slices.Compact(touched) {
			is := room.claimed(&room.taken[n])
			if was := since[n]; is.whole != was.whole || is.cpus != was.cpus {
				was.End = e.at
				claims.add(n, was)
				is.Start = e.at
				since[n] = is
			}
		}
		touched = touched[:0]
	}
	return claims.list()
}

// edgesWithin returns the starts and ends of those reservations that have usable nodes of the job's
// partition between two times, in order of time.
func (j *Job) edgesWithin(after, before int64) []edge {
	reservations, known := j.others(), j.cluster.Nodes
	bound, usable := reservations.floating(&j.partition, j.Nodes), map[string]int(nil)
	var edges []edge
	for i := range reservations {
		v := &reservations[i]
		var nodes []place
		times := v.times()
		if v.Floats && (bound == nil || v.Ahead < bound.Ahead) {
			times = slices.Values([]Span{{after, before}})
		}
		for s := range times {
			if s.Start >= before || s.End <= after {
				continue
			}
			if usable == nil {
				usable = j.partition.index(func(name string) bool { return known[name].Usable })
			}
			if nodes == nil {
				nodes = v.places(usable, known)
			}
			edges = append(edges, edge{s.Start, true, v, nodes}, edge{s.End, false, v, nodes})
		}
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	return edges
}

// claimed is for how long a node is claimed, and how much of it: all, or some CPUs.
type claimed struct {
	Span
	whole bool
	cpus  int64
}

// claimed returns what reservations claim of a node: all if no piece of the job fits beside them.
func (m *room) claimed(n *split) claimed {
	if m.fits(n) == 0 {
		return claimed{whole: true}
	}
	return claimed{cpus: min(n.part, n.cpus)}
}

// claims are the claims on a partition, by time and by how much they have of each of their nodes.
type claims struct {
	job *Job
	by  map[claimed]*workload.Claim
}

// add adds what is claimed of a node, if that is anything.
func (l *claims) add(n int, is claimed) {
	if !is.whole && is.cpus == 0 {
		return
	}
	claim := l.by[is]
	if claim == nil {
		claim = &workload.Claim{Request: workload.Request{Partition: l.job.Partition, Limit: is.End - is.Start}, Start: is.Start, From: is.Start}
		l.by[is] = claim
	}
	name := l.job.partition.Nodes[n]
	claim.Names = append(claim.Names, name)
	claim.Nodes++
	if !is.whole {
		claim.CPUs += int32(is.cpus)
		claim.Pieces = workload.Pieces{Count: claim.Nodes, Each: workload.Size{CPUs: int32(is.cpus)}}
		return
	}
	has := l.job.cluster.Nodes[name]
	claim.CPUs += int32(has.CPUs)
	claim.GPUs += int32(has.Gres["gpu"])
	claim.Memory += has.Memory
}

// list returns the claims in order of time.
func (l *claims) list() []workload.Claim {
	order := slices.SortedFunc(maps.Keys(l.by), func(a, b claimed) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.cpus, b.cpus))
	})
	var list []workload.Claim
	for _, is := range order {
		list = append(list, *l.by[is])
	}
	return list
}
