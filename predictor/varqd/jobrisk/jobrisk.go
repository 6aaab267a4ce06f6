// Package jobrisk finds the risk of a job's nodes. It runs on one of these nodes. It asks varqd,
// and keeps the answer in a file of the user's on the node. So the job gets advice at once, even
// while varqd cannot be reached.
package jobrisk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/checkpoint"
)

const (
	// fresh is the age, in seconds, up to which an answer is taken from the cache.
	fresh = 600
	// skew is by how many seconds the clocks of a node and of varqd's host may differ without being
	// called wrong.
	skew = 60
	// pause is the time, in seconds, for which varqd is not asked again when it has not answered.
	pause = 60
	// patience bounds the wait for varqd.
	patience = time.Second
	// maxNodes is the longest list of nodes, in bytes: varqd takes no longer ones.
	maxNodes = 16 << 10
)

// Finder finds the risk of one job's nodes.
type Finder struct {
	// Job is the job's number, and Nodes are its nodes, both as Slurm writes them.
	Job, Nodes string
	// Dir is the folder for the cache; see Dir.
	Dir string
	// Ask asks varqd about the nodes.
	Ask func(ctx context.Context, nodes string) (api.Risk, error)
	// Now returns the time in Unix seconds.
	Now func() int64
}

// Known is what is known of a job's nodes.
type Known struct {
	api.Risk
	// Read is when varqd told it, Unix seconds.
	Read int64
	// Trouble is why it is older than it should be, or cannot be kept, or nil.
	Trouble error
}

// Find returns what is known: from the cache if that is fresh, else from varqd, and if varqd does
// not answer from the cache, however old. It returns an error if neither has it.
func (f *Finder) Find(ctx context.Context) (Known, error) {
	if strings.Trim(f.Job, "0123456789") != "" || len(f.Job) == 0 || len(f.Job) > 20 {
		return Known{}, fmt.Errorf("%.40q is not a number of a job", f.Job)
	}
	if len(f.Nodes) > maxNodes {
		return Known{}, fmt.Errorf("the list of the job's nodes is longer than %d bytes", maxNodes)
	}
	cache, trouble := openCache(f.Dir, f.Job)
	var e entry
	if trouble == nil {
		defer cache.close()
		e, trouble = cache.read()
	}
	if e.Nodes != f.Nodes {
		e = entry{Nodes: f.Nodes} // it was requeued
	}
	now := f.Now()
	switch {
	case e.Risk != nil && lately(e.Read, now, fresh) && e.Risk.At <= now+skew:
		return Known{Risk: *e.Risk, Read: e.Read}, nil
	case lately(e.Tried, now, pause):
		trouble = errAway
	default:
		asking, cancel := context.WithTimeout(ctx, patience)
		risk, err := f.Ask(asking, f.Nodes)
		cancel()
		if err == nil {
			err = check(&risk)
		}
		if e.Tried = now; err == nil {
			e = entry{Nodes: f.Nodes, Read: now, Risk: &risk}
		}
		if cache != nil {
			trouble = errors.Join(trouble, cache.write(&e))
		}
		trouble = errors.Join(err, trouble)
	}
	if e.Risk == nil {
		return Known{}, trouble
	}
	return Known{Risk: *e.Risk, Read: e.Read, Trouble: trouble}, nil
}

var errAway = errors.New("varqd did not answer a moment ago")

// lately reports whether at is within the last seconds. What lies ahead of now, by a clock that was
// wrong, is not.
func lately(at, now, seconds int64) bool { return at <= now && now-at <= seconds }

// Age returns how many seconds ago varqd looked at the nodes. It is negative if that was ahead of
// now by more than clocks differ by.
func (k *Known) Age(now int64) int64 {
	age := now - k.At
	if -skew <= age && age < 0 {
		return 0
	}
	return age
}

// Tell completes a request by what is known: the hazard, and what ends the job earlier or has begun
// to.
func (k *Known) Tell(r *checkpoint.Request, now int64) {
	table := &checkpoint.Table{LongRun: k.Rate}
	for _, w := range k.Within {
		table.Expected = append(table.Expected, checkpoint.Expected{Within: float64(w.Within), Failures: w.Failures})
	}
	r.Hazard = table
	if m := k.Maintenance; m != nil && m.Start > now {
		if until := float64(m.Start - now); until <= checkpoint.Longest && (r.Ends == 0 || until < r.Ends) {
			r.Ends = until
		}
	}
	r.Warned = k.Drain != nil && k.Drain.Since >= now-int64(r.Since)
}
