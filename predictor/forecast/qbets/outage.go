package qbets

import (
	"cmp"
	"fmt"
	"math"

	"github.com/varq-project/varq/predictor/workload"
)

// Outage is a time in which jobs could not start. Waiting during an outage is not queueing
// delay.
type Outage struct {
	Partition string // empty: the whole cluster
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

// Down returns why nothing can be promised at a time for jobs of a partition: a sentence
// without a full stop, or "" when there is no outage.
func (p *Predictor) Down(partition string, now int64) string {
	for i := len(p.outages) - 1; i >= 0; i-- {
		if o := &p.outages[i]; !o.Planned && o.hits(partition, now, now+1) {
			return cmp.Or(o.Reason, named(o.Partition)+" is down")
		}
	}
	for _, where := range [...]string{"", partition} {
		s := p.starts[where]
		if s == nil {
			continue
		}
		if q, ok := s.outage(now, p.resumed(partition, now), p.apart(where)); ok {
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

// hits reports whether the outage affects a partition at any time from from until to.
func (o *Outage) hits(partition string, from, to int64) bool {
	return (o.Partition == "" || o.Partition == partition) && from < o.end() && to > o.From
}

func (o *Outage) end() int64 {
	if o.To == 0 {
		return math.MaxInt64
	}
	return o.To
}

// resumed returns when the last outage of a partition that had begun by now was over: now if it is
// not, and 0 if there was none.
func (p *Predictor) resumed(partition string, now int64) (at int64) {
	for i := range p.outages {
		if o := &p.outages[i]; o.hits(partition, 0, now+1) {
			at = max(at, min(now, o.end()))
		}
	}
	return at
}

// interrupted reports whether there was an outage of a partition at any time from from until
// to.
func (p *Predictor) interrupted(partition string, from, to int64) bool {
	for i := range p.outages {
		if p.outages[i].hits(partition, from, to) {
			return true
		}
	}
	return false
}

// watch returns the starts of the cluster and then those of the partition. It makes those
// that are missing. Without a partition's name, it returns only the cluster's.
func (p *Predictor) watch(partition string) []*starts {
	watches := make([]*starts, 0, 2)
	for _, where := range [...]string{"", partition} {
		s := p.starts[where]
		if s == nil {
			s = &starts{}
			p.starts[where] = s
		}
		watches = append(watches, s)
		if partition == "" {
			break
		}
	}
	return watches
}

// listen takes in the start of a job, which ends a silence of the cluster, of its partition,
// or of both. If the silence was an outage, listen records the outage. It ignores silences
// during an outage that is already known.
func (p *Predictor) listen(j *workload.Job, eligible int64) {
	for i, s := range p.watch(j.Partition) {
		where := j.Partition
		if i == 0 {
			where = ""
		}
		q, ok := s.started(eligible, j.Start)
		if ok && !p.interrupted(where, q.since, j.Start) && s.over(q, j.Start, p.apart(where)) {
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
