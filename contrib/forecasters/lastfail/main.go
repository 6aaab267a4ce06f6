// Lastfail is an example of a site's own forecaster of failures. It expects a node that has failed
// lately to fail again soon, with the frequency of such repeated failures so far. About all other
// nodes it says that it knows nothing.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/live/extern"
)

func main() {
	soon := flag.Duration("soon", 24*time.Hour, "for how long a failure counts")
	flag.Parse()
	if *soon < time.Minute || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: lastfail [-soon DURATION], at least 1m")
		os.Exit(2)
	}
	extern.ServeFaults(newLastFail(*soon), fmt.Sprintf("lastfail 1.0 -soon %v", *soon))
}

// lastFail implements extern.FaultModel.
type lastFail struct {
	soon int64            // seconds
	last map[string]int64 // by node, Unix seconds
	// again counts the failures soon after another of the same node
	failures, again float64
}

// newLastFail returns a model that has seen, before anything else, one node fail again and three
// that did not.
func newLastFail(soon time.Duration) *lastFail {
	return &lastFail{soon: int64(soon.Seconds()), last: map[string]int64{}, failures: 4, again: 1}
}

// Observe implements extern.FaultModel. An event may come twice.
func (l *lastFail) Observe(e fault.Event) {
	if last, ok := l.last[e.Node]; e.Kind != fault.Failure || ok && e.At <= last {
		return
	} else if ok && e.At-last < l.soon {
		l.again++
	}
	l.failures++
	l.last[e.Node] = e.At
}

// Expected implements extern.FaultModel.
func (l *lastFail) Expected(nodes []string, now, span int64) []float64 {
	expected := make([]float64, len(nodes))
	for i, node := range nodes {
		expected[i] = -1
		if last, ok := l.last[node]; ok && now-last < l.soon {
			expected[i] = l.again / l.failures * float64(span) / float64(l.soon)
		}
	}
	return expected
}
