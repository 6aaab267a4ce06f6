// Package agent measures signs that the node on which it runs may fail, and sends the measurements
// to varqd.
//
// Invariant: the agent stores and queues nothing. Most signals are counts since the node booted. So
// if one measurement cannot be sent, the next one contains what it had to say.
package agent

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// Options configure an Agent.
type Options struct {
	Node     string // as Slurm names it
	Reader   Reader
	Interval time.Duration // between two measurements
	// Send sends a measurement to varqd.
	Send func(context.Context, api.Vitals) error
	// Now is the host's clock, Pause waits, and reports false if ctx is done first, and Rand
	// spreads the agents of a cluster.
	Now   func() time.Time
	Pause func(context.Context, time.Duration) bool
	Rand  *rand.Rand
	Log   *slog.Logger
}

const (
	// longest is the longest time between two attempts to send, unless Interval is longer.
	longest = time.Hour
	// first is the longest time before the first attempt: the nodes of a cluster may boot together.
	first = time.Minute
	// jitter is by which part of itself a pause is shortened at most.
	jitter = .2
)

// errNothing is the error of a node of which nothing can be measured.
var errNothing = errors.New("nothing can be measured on this node")

// Run measures and sends until ctx is done. After failures it sends less often.
func Run(ctx context.Context, o Options) {
	pause := time.Duration(o.Rand.Float64() * float64(min(first, o.Interval)))
	failures := 0
	for o.Pause(ctx, pause) {
		measured := o.Measure()
		err := errNothing
		if len(measured.Signals) > 0 {
			err = o.Send(ctx, measured)
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && failures == 0:
			o.Log.Warn("varqd does not take what is measured; more attempts follow", "error", err)
		case err == nil && failures > 0:
			o.Log.Info("varqd takes what is measured again", "failures", failures)
		}
		if err == nil {
			failures = 0
		} else {
			failures++
		}
		pause = o.after(failures)
	}
}

// Measure returns what is to be sent now.
func (o *Options) Measure() api.Vitals {
	return api.Vitals{Node: o.Node, At: o.Now().Unix(), Signals: o.Reader.Read()}
}

// after returns the pause after so many failures in a row.
func (o *Options) after(failures int) time.Duration {
	pause := o.Interval
	for range failures {
		pause = min(2*pause, max(longest, o.Interval))
	}
	return time.Duration(float64(pause) * (1 - jitter*o.Rand.Float64()))
}

// Pause waits for a time, and reports false if ctx is done first.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
