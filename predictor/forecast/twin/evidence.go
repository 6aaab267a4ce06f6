package twin

import "fmt"

// Evidence is what an answer rests on.
type Evidence struct {
	Runs             int // simulations
	Waiting, Running int // jobs of the machine when it was looked at
	Procs            int32
	Policy           Policy
}

// String tells it in words: "40 simulations of the queue: 31 jobs waiting, 80
// running, FCFS with EASY backfilling".
func (e Evidence) String() string {
	return fmt.Sprintf("%d simulations of the queue: %d jobs waiting, %d running, %v", e.Runs, e.Waiting, e.Running, e.Policy)
}

// evidence is that of a snapshot.
func (s *snapshot) evidence(p Policy, runs int) Evidence {
	return Evidence{Runs: runs, Waiting: len(s.pending), Running: len(s.running), Procs: s.procs, Policy: p}
}
