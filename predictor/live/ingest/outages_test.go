package ingest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

func TestOutages(t *testing.T) {
	a := accounts(past(now-day, now-2*3600))
	g := start(t, filepath.Join(t.TempDir(), "history.db"), &a)
	cluster := limits.Cluster{Partitions: map[string]limits.Partition{
		"main": {Name: "main", Up: true}, "closed": {Name: "closed"}, "empty": {Name: "empty", Up: true},
	}}
	nodes := func(up, drained bool) []slurm.Node {
		return []slurm.Node{
			{Name: "a", CPUs: 4, Partitions: []string{"main"}, Up: up, Drained: drained},
			{Name: "b", CPUs: 4, Partitions: []string{"main", "closed"}, Up: true, Maintenance: true},
		}
	}
	down := func(partition string) string {
		r := past(now, now+1)[0].Request
		r.Partition = partition
		answer, _ := g.Predict(r, 0)
		return answer.Down
	}
	g.ObserveCluster(&cluster, nodes(false, false)) // before the past is loaded
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, want := down("main"), "no node of partition main can start jobs: of 2, 1 are down and 1 drained"; got != want {
			t.Errorf("down: %q, want %q", got, want)
		}
		if got, want := down("closed"), "partition closed is down"; got != want {
			t.Errorf("down: %q, want %q", got, want)
		}
		if got := down("empty"); !strings.HasPrefix(got, "0 jobs are known to have started") {
			t.Errorf("down: %q", got)
		}
		g.clock += 60
		g.ObserveCluster(&cluster, nodes(true, true))
	}
	est := make([]workload.Estimate, 1)
	r := past(now, now+1)[0].Request
	g.Forecast(r, g.clock, []workload.Candidate{{Submit: g.clock + 7200, Limit: r.Limit, Budget: 3600}}, est)
	if est[0].Prob != 0 || !strings.Contains(est[0].Down, "partition main") {
		t.Errorf("during the outage is promised %+v", est[0])
	}
	g.clock += 60
	g.ObserveCluster(&cluster, nodes(true, false))
	if got := down("main"); got != "" {
		t.Errorf("after the outage: %q", got)
	}
	if n := len(g.outages.list); n != 2 {
		t.Errorf("%d outages were seen", n)
	}
	floating := cluster
	floating.Reservations = []limits.Reservation{{Name: "tf", Nodes: []string{"b"}, Maintenance: true, Floats: true}}
	g.clock += 60
	g.ObserveCluster(&floating, nodes(false, false))
	if got := down("main"); got != "" {
		t.Errorf("a maintenance that is always ahead: %q", got)
	}
	begun := cluster
	// of a reservation that is over, and of one that is not
	for left, want := range []bool{true, false} {
		g.clock += 60
		begun.Reservations = []limits.Reservation{{Name: "maint", Start: g.clock - 1, End: g.clock + int64(left), Nodes: []string{"b"}, Maintenance: true}}
		g.ObserveCluster(&begun, nodes(false, false))
		if got := down("main"); (got != "") != want {
			t.Errorf("a maintenance that lasts for %d s: %q", left, got)
		}
		if last := g.outages.list[len(g.outages.list)-1]; last.Partition != "main" || last.To != 0 || last.Planned == want {
			t.Errorf("a maintenance that lasts for %d s: %+v", left, last)
		}
	}
	for range 3 * mostOutages {
		g.clock += 60
		g.ObserveCluster(&cluster, nodes(g.clock%120 == 0, false))
	}
	if n := len(g.outages.list); n > mostOutages+1 { // one is not over
		t.Errorf("%d outages are kept", n)
	}
}

// However many partitions are down at once, each outage ends. Only the newest outages that
// are over are kept.
func TestManyOutagesEnd(t *testing.T) {
	cluster := func(up bool) *limits.Cluster {
		partitions := map[string]limits.Partition{}
		for i := range 3 * mostOutages {
			name := fmt.Sprint(i)
			partitions[name] = limits.Partition{Name: name, Up: up}
		}
		return &limits.Cluster{Partitions: partitions}
	}
	var s outages
	for i, want := range [...]int{3 * mostOutages, 0, 3 * mostOutages, 0} {
		up := i >= 2
		if changed := s.update(cluster(up), nil, now+int64(i)); len(changed) != want {
			t.Errorf("update %d: %d outages have begun or are over, want %d", i, len(changed), want)
		}
	}
	if len(s.list) != mostOutages {
		t.Errorf("%d outages are kept", len(s.list))
	}
}
