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

// A job that may run in several partitions is told of in one of them, which is named.
func TestWaitingInPartition(t *testing.T) {
	w := api.Waiting{Job: 4711, Partition: "main,short", About: "main", Ahead: 2, AheadNodes: 7200}
	got := Waiting(&w, 1795266000, time.UTC)
	for _, want := range []Line{
		{"About", "partition main; Slurm may start the job in another of these sooner"},
		{"Ahead", "2 jobs go first in partition main, with up to 2.0 node-hours"},
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	w.Partition = "main"
	if got := Waiting(&w, 1795266000, time.UTC); slices.ContainsFunc(got, func(l Line) bool { return l.Name == "About" }) {
		t.Errorf("%q", got)
	}
}

// It is said which jobs have the nodes, and when nothing would help. Nothing is said of what was
// not looked for.
func TestWaitingWhy(t *testing.T) {
	moment := int64(1795266000)
	w := api.Waiting{Job: 4711, Partition: "main", About: "main", Nodes: 2, Help: []api.Help{}, Holders: &api.Holders{Jobs: 3, Nodes: 7, Of: 8, Until: moment, First: 12}}
	told := func() (lines []Line) {
		for _, l := range Waiting(&w, moment, time.UTC) {
			if l.Name == "Running" || l.Name == "Sooner" {
				lines = append(lines, l)
			}
		}
		return lines
	}
	want := []Line{
		{"Running", "3 jobs have 7 of the 8 nodes there; the first of them ends by 2026-11-21T13:00:00 at the latest (job 12)"},
		{"Sooner", "neither a shorter time limit nor half of the nodes would start it much sooner"},
	}
	if got := told(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	w.Nodes, w.Holders.First = 1, 0
	want[0].Text, want[1].Text = "3 jobs have 7 of the 8 nodes there; the first of them ends by 2026-11-21T13:00:00 at the latest", "a shorter time limit would not start it much sooner"
	if got := told(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	w.Help, w.Holders = nil, &api.Holders{Of: 8}
	if got := told(); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// A job is named as squeue names it.
func TestJobID(t *testing.T) {
	for want, w := range map[string]api.Waiting{
		"23": {Job: 23}, "22_6": {Job: 23, Array: 22, Tasks: "6"}, "22_[0-3%2]": {Job: 22, Array: 22, Tasks: "0-3%2"}, "22_[1,5]": {Job: 22, Tasks: "1,5"},
	} {
		if got := JobID(w.Job, w.Array, w.Tasks); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
