package e2e

import (
	"runtime"
	"testing"

	"golang.org/x/sync/semaphore"
)

// A private Slurm with its varqd takes a few percent of a processor when it has nothing to do, and
// all of one for some seconds when it starts. With more of them than these at a time a machine does
// little else, and deadlines pass.
var (
	atOnce   = int64(4 * runtime.GOMAXPROCS(0))
	clusters = semaphore.NewWeighted(atOnce)
)

// inTurn lets the test run beside others, once there is room for so many clusters more. It is
// called before the test starts them, and gives the room back after they have stopped.
func inTurn(t *testing.T, n int64) {
	t.Helper()
	t.Parallel()
	n = min(n, atOnce)
	if err := clusters.Acquire(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { clusters.Release(n) })
}
