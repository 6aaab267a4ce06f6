package idle

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/slurm"
)

func TestCount(t *testing.T) {
	node := func(state string, partitions ...string) slurm.Node {
		return slurm.Node{State: state, Up: true, Partitions: partitions}
	}
	down, drained, kept := node("IDLE+NOT_RESPONDING", "main"), node("IDLE+DRAIN", "main"), node("IDLE+MAINTENANCE", "main")
	down.Up, drained.Drained, kept.Maintenance = false, true, true
	nodes := []slurm.Node{
		node("IDLE", "main", "long"), node("IDLE+POWERED_DOWN", "main"), node("MIXED", "main"), node("ALLOCATED", "busy"), down, drained, kept, node("IDLE"),
	}
	if diff := cmp.Diff(map[string]int{"main": 2, "long": 1, "busy": 0}, Count(nodes)); diff != "" {
		t.Error(diff)
	}
}

const day = 1_795_219_200 // its begin, Unix seconds

// What was recorded survives a restart, once for each interval, and for 28 days.
func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	open := func() *Store {
		t.Helper()
		file, err := statefile.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		return NewStore(file)
	}
	s := open()
	record := func(site string, at int64, idle map[string]int) {
		t.Helper()
		if err := s.Record(t.Context(), site, at, idle); err != nil {
			t.Fatal(err)
		}
	}
	idle := func(site, partition string, at int64) float64 {
		t.Helper()
		h, err := s.History(t.Context(), site, partition, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			return -1
		}
		nodes, ok := h.Idle(at, at+1)
		if !ok {
			return -2
		}
		return nodes
	}
	record("", day+10, map[string]int{"main": 4, "long": 1})
	record("", day+299, map[string]int{"main": 100}) // of the same interval
	record("beta", day, map[string]int{"main": 7})
	record("", day+86400, map[string]int{"main": 6})
	s = open()
	for _, c := range []struct {
		site, partition string
		at              int64
		want            float64
	}{{"", "main", day, 5}, {"", "long", day, 1}, {"beta", "main", day + 86400, 7}, {"", "main", day + 300, -2}, {"", "gone", day, -1}, {"gamma", "main", day, -1}} {
		if got := idle(c.site, c.partition, c.at); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	record("", day+29*86400, map[string]int{"main": 12})
	if got := idle("", "main", day); got != 9 {
		t.Errorf("after 29 days it is %v, want the mean of the last two", got)
	}
	if got := idle("beta", "main", day); got != 7 {
		t.Errorf("that of another site is %v", got)
	}
}

func TestManyPartitions(t *testing.T) {
	file, err := statefile.Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	many := map[string]int{}
	for i := range 1000 {
		many["p"+strconv.Itoa(i)] = i
	}
	if err := NewStore(file).Record(t.Context(), "", day, many); err != nil {
		t.Fatal(err)
	}
	var rows int
	if err := file.QueryRow(`SELECT count(*) FROM idle_nodes`).Scan(&rows); err != nil || rows != mostPartitions {
		t.Errorf("%d rows, %v", rows, err)
	}
}
