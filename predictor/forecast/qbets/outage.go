package qbets

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// Outage is a time in which jobs could not start. Waiting during an outage is not queueing
// delay.
type Outage struct {
	Partition string // or a queue of it, see workload.Request; empty: the whole cluster
	From      int64  // Unix seconds
	To        int64  // Unix seconds; 0 while it lasts
	Reason    string // a sentence without a full stop
	// Planned is true if it is known when jobs will start again. Promises are then made for later.
	Planned bool
}

// mostOutages is the most outages remembered. Only a wait that began before the oldest of
// them could be mistaken for queueing delay.
const mostOutages = 64

// Outage takes in an outage that is known, as from the states of nodes. When the outage is
// over, the caller calls Outage again with the same Partition and From.
func (p *Predictor) Outage(o Outage) {
	for i := range p.outages {
		if p.outages[i].Partition == o.Partition && p.outages[i].From == o.From {
			p.outages[i] = o
			return
		}
	}
	if len(p.outages) == mostOutages {
		p.outages = append(p.outages[:0], p.outages[1:]...)
	}
	p.outages = append(p.outages, o)
}

// Down returns why nothing can be promised at a time for a job: a sentence without a full stop, or
// "" when there is no outage.
func (p *Predictor) Down(r *workload.Request, now int64) string {
	in := startsIn(r)
	for i := len(p.outages) - 1; i >= 0; i-- {
		if o := &p.outages[i]; !o.Planned && o.hits(now, now+1, in...) {
			return cmp.Or(o.Reason, named(o.Partition)+" is down")
		}
	}
	for _, where := range in {
		s := p.starts[where]
		if s == nil {
			continue
		}
		if q, ok := s.outage(now, p.resumed(now, in...), p.apart(where)); ok {
			return fmt.Sprintf("no job has started for %s while %s: %s seems to be down", span(now-q.since), waitingJobs(q.waiting), named(where))
		}
	}
	return ""
}

// named names a partition, or the cluster, in a sentence.
func named(partition string) string {
	if partition == "" {
		return "the cluster"
	}
	return "partition " + partition
}

func waitingJobs(n int) string {
	if n == 1 {
		return "1 waits"
	}
	return fmt.Sprintf("%d wait", n)
}

// span writes a number of seconds in whole minutes: "2h10m".
func span(seconds int64) string {
	hours, minutes := seconds/hour, seconds%hour/minute
	switch {
	case hours == 0:
		return fmt.Sprintf("%dm", minutes)
	case minutes == 0:
		return fmt.Sprintf("%dh", hours)
	}
	return fmt.Sprintf("%dh%dm", hours, minutes)
}

// hits reports whether the outage affects jobs at any time from from until to, where starts of such
// jobs are watched.
func (o *Outage) hits(from, to int64, watched ...string) bool {
	return (o.Partition == "" || slices.Contains(watched, o.Partition)) && from < o.end() && to > o.From
}

func (o *Outage) end() int64 {
	if o.To == 0 {
		return math.MaxInt64
	}
	return o.To
}

// resumed returns when the last outage that hit jobs and had begun by now was over: now if it is
// not, and 0 if there was none.
func (p *Predictor) resumed(now int64, watched ...string) (at int64) {
	for i := range p.outages {
		if o := &p.outages[i]; o.hits(0, now+1, watched...) {
			at = max(at, min(now, o.end()))
		}
	}
	return at
}

// interrupted reports whether an outage hit jobs at any time from from until to.
func (p *Predictor) interrupted(from, to int64, watched ...string) bool {
	for i := range p.outages {
		if p.outages[i].hits(from, to, watched...) {
			return true
		}
	}
	return false
}

// watch returns the starts of the cluster, if where is empty, or of a partition or a queue. It
// makes them if they are missing.
func (p *Predictor) watch(where string) *starts {
	s := p.starts[where]
	if s == nil {
		s = &starts{}
		p.starts[where] = s
	}
	return s
}

// startsIn returns where the starts of jobs with a request are watched: in the cluster, in their
// partition, and in their queue, unless that is one for licences, which others may have for days.
func startsIn(r *workload.Request) []string {
	in := make([]string, 1, 3)
	if r.Partition != "" {
		in = append(in, r.Partition)
	}
	if r.Line != "" && r.Licences == "" {
		in = append(in, r.Line)
	}
	return in
}

// waitsIn returns where a job with a request counts as waiting: if nothing starts there, something
// is wrong. One that may run on some nodes only counts in its own queue, and one that needs
// licences that can run out nowhere.
func waitsIn(r *workload.Request) []string {
	switch in := startsIn(r); {
	case r.Licences != "":
		return nil
	case r.NodeSet == "":
		return in
	case r.Line != "":
		return in[len(in)-1:]
	}
	return nil
}

// listen takes in the start of a job, which ends a silence of the cluster, of its partition,
// or of both. If the silence was an outage, listen records the outage. It ignores silences
// during an outage that is already known.
func (p *Predictor) listen(j *workload.Job, eligible int64) {
	for _, where := range startsIn(&j.Request) {
		s := p.watch(where)
		q, ok := s.started(eligible, j.Start)
		if ok && !p.interrupted(q.since, j.Start, where) && s.over(q, j.Start, p.apart(where)) {
			p.Outage(Outage{Partition: where, From: q.since, To: j.Start})
		}
	}
}

// apart returns the expected number of seconds between two outages: of the whole cluster
// if where is empty, otherwise of that partition alone. All partitions together are taken
// to have as many outages as the cluster.
func (p *Predictor) apart(where string) int64 {
	if where == "" {
		return outagesApart
	}
	return outagesApart * int64(len(p.starts)-1)
}
