package e2e

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
)

// insideReservation: while others have all other nodes, a job is promised inside of a reservation
// of Slurm's, and starts on its nodes. What does not end before the reservation does is refused.
func insideReservation(t *testing.T, s *site.Site) {
	mustRun(t, s, "root", "scontrol", "create", "reservation", "ReservationName=course", "StartTime=now", "Duration=60", "Users=alice", "Nodes=node[1-2]")
	defer mustRun(t, s, "root", "scontrol", "delete", "ReservationName=course")
	others := strings.TrimSpace(mustRun(t, s, "bob", "sbatch", "--parsable", "-p", "main", "--exclusive", "-N6", "-t", "120", "-o/dev/null", "--wrap=exec sleep 1d").Stdout)
	defer mustRun(t, s, "root", "scancel", others)
	id, err := strconv.ParseInt(others, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.WaitState(t.Context(), id, "RUNNING"); err != nil {
		t.Fatal(err)
	}
	quote := func(options ...string) string {
		return quoteOf(t, s, "20minutes", append(options, "-p", "main", "-N1")...)
	}
	eventually(t, "a quote inside of the reservation", func() bool {
		return strings.Contains(quote("--reservation=course"), "Can be promised")
	})
	if said := quote("--reservation=course", "--time=50"); !strings.Contains(said, "one of Slurm's reservations is over when the work is to run") {
		t.Errorf("beyond its end: %s", said)
	}
	file, out := script(t, s, "course", "", "")
	s.InTime(t, 2*time.Minute, func(lead time.Duration) bool {
		id, _, at := reserveIn(t, s, lead, "alice", "--prob=0.9", "--time=5", "-p", "main", "-N1", "--reservation=course", file)
		r := settled(t, s, "alice", id, api.StateKept, api.StateMissed)
		if r.Yielded || r.Inside != "course" || r.NodeSet != "node[1-2]" {
			t.Errorf("%+v", r)
		}
		if r.State != api.StateKept {
			return false
		}
		wantStart(t, out, at)
		return true
	})
}
