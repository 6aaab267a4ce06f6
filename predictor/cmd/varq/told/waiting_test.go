package told

import (
	"slices"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// What is told of a job that waits has times in the zone of its reader, also those in varqd's own
// words.
func TestWaitingInZone(t *testing.T) {
	zone := time.FixedZone("east", 3600)
	w := api.Waiting{
		Job: 4711, Name: "wrf", User: "alice", Partition: "main", Nodes: 1, Limit: 3600, Since: 1795266000, Reason: "Priority",
		Why:     []string{"a reservation has all nodes from 2026-11-21T14:00:00Z on"},
		Unknown: "nothing is known of partition main before 2026-11-21T15:00:00Z",
	}
	got := Waiting(&w, 1795266000, zone)
	for _, want := range []Line{
		{"Job", "4711 wrf, of alice, in partition main: 1 node for up to 01:00:00"},
		{"Waits", "since 2026-11-21T14:00:00"},
		{"", "a reservation has all nodes from 2026-11-21T15:00:00 on"},
		{"Start", "not forecast: nothing is known of partition main before 2026-11-21T16:00:00"},
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}
