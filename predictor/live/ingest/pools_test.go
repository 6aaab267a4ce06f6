package ingest

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// sizes is a Model that notes which sizes of the pool of main it is told of.
type sizes struct {
	Model
	noted *[]int32
}

func (s sizes) Hear(n expert.News) {
	if n.Pools != nil {
		*s.noted = append(*s.noted, n.Pools(workload.Place{Partition: "main"}).Size.CPUs)
	}
	s.Model.Hear(n)
}

// The model is told of the nodes before and after it learns the past, when some are drained, and
// when they come back.
func TestPoolsAreFollowed(t *testing.T) {
	a := accounts(past(now-day, now-2*3600))
	g := start(t, filepath.Join(t.TempDir(), "history.db"), &a)
	var noted []int32
	g.Ingest.NewModel = func(p twin.Pools) Model { return sizes{g.NewModel(p), &noted} }
	nodes := func(drained bool) []slurm.Node {
		return []slurm.Node{
			{Name: "a", CPUs: 4, Partitions: []string{"main"}, Up: true},
			{Name: "b", CPUs: 8, Partitions: []string{"main"}, Up: true, Drained: drained, State: "IDLE"},
		}
	}
	var rules limits.Cluster
	g.ObserveCluster(&rules, nodes(false))
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, drained := range []bool{false, true, true, false} {
		g.ObserveCluster(&rules, nodes(drained))
	}
	if want := []int32{12, 12, 4, 12}; !slices.Equal(noted, want) {
		t.Errorf("the model is told of %v processors, want %v", noted, want)
	}
}

func TestPools(t *testing.T) {
	rules := limits.Cluster{
		Partitions: map[string]limits.Partition{"gpu": {WholeNodes: true, ConsumableMemory: true}},
		Reservations: []limits.Reservation{
			{Nodes: []string{"r4"}, Floats: true},
			{Nodes: []string{"r1"}, Start: now - 50, End: now + 50},
			{Nodes: []string{"r1", "r2", "r3"}, Start: now - 50, End: now + 20},
		},
	}
	got := poolsOf(&rules, []slurm.Node{
		{Name: "a", CPUs: 4, Partitions: []string{"short", "main"}, Up: true},
		{Name: "b", CPUs: 8, Partitions: []string{"main"}, Up: true},
		{Name: "c", CPUs: 16, Partitions: []string{"main"}, Up: true, Drained: true, State: "IDLE+DRAIN"},
		{Name: "d", CPUs: 32, GPUs: 4, Memory: 2000, Partitions: []string{"gpu"}, Up: true},
		{Name: "r1", CPUs: 1, Partitions: []string{"kept"}, Up: true, State: "IDLE+RESERVED"},
		{Name: "r2", CPUs: 2, Partitions: []string{"kept"}, Up: true, State: "MIXED+RESERVED"},
		{Name: "r3", CPUs: 4, Partitions: []string{"kept"}, Up: true, State: "IDLE+MAINTENANCE", Maintenance: true},
		// floats
		{Name: "r4", CPUs: 8, Partitions: []string{"kept"}, Up: true, State: "IDLE+MAINTENANCE", Maintenance: true},
		{Name: "e", CPUs: 64, Partitions: []string{"big", "short"}},
		{Name: "g", CPUs: 256, Partitions: []string{"gpu"}, Up: true, Drained: true, State: "MIXED+DRAIN"},
		{Name: "f", CPUs: 128, Up: true},
	}, now)
	apart := map[string]int64{"r1": now + 50, "r2": now + 20, "r3": now + 20}
	a := twin.Node{Name: "a", Size: workload.Size{Nodes: 1, CPUs: 4}}
	b := twin.Node{Name: "b", Size: workload.Size{Nodes: 1, CPUs: 8}}
	d := twin.Node{Name: "d", Size: workload.Size{Nodes: 1, CPUs: 32, GPUs: 4, Memory: 2000}}
	g := twin.Node{Name: "g", Size: workload.Size{CPUs: 256}}
	all := workload.Size{Nodes: 2, CPUs: 12}
	big, main := twin.Pool{Name: "big", Size: all, Apart: apart}, twin.Pool{Name: "big", Size: all, Apart: apart, Own: all, Nodes: []twin.Node{a, b}}
	short := twin.Pool{Name: "big", Size: all, Apart: apart, Own: workload.Size{Nodes: 1, CPUs: 4}, Nodes: []twin.Node{a}}
	gpus := workload.Size{Nodes: 1, CPUs: 288, GPUs: 4, Memory: 2000}
	gpu := twin.Pool{Name: "gpu", Size: gpus, Apart: apart, Own: gpus, Nodes: []twin.Node{d, g}, WholeNodes: true}
	left := rollout.Windows{{From: now - 50, To: now + 20, Left: 8, Of: 15}, {From: now + 20, To: now + 50, Left: 14, Of: 15}}
	if kept := got.by["kept"]; kept.Size.CPUs != 15 || !slices.Equal(kept.Windows, left) {
		t.Errorf("%d CPUs, of which are left %v", kept.Size.CPUs, kept.Windows)
	}
	delete(got.by, "kept")
	want := map[string]twin.Pool{"short": short, "main": main, "big": big, "gpu": gpu}
	if diff := cmp.Diff(want, got.by); diff != "" {
		t.Error(diff)
	}
	one := main
	one.Own, one.Nodes = b.Size, []twin.Node{b}
	for place, want := range map[workload.Place]twin.Pool{
		{Partition: "main"}: main, {Partition: "old,gpu"}: gpu, {Partition: "old"}: {},
		{Partition: "main", NodeSet: "b,d"}: one, {Partition: "main", NodeSet: "gone[1-2]"}: main,
	} {
		if diff := cmp.Diff(want, got.lookup()(place)); diff != "" {
			t.Errorf("%+v: %s", place, diff)
		}
	}
	if (pools{}).lookup() != nil {
		t.Error("pools are made up of nothing")
	}
}

// TestPoolsHaveWindows: Slurm's reservations leave less of a pool, of what can start jobs.
func TestPoolsHaveWindows(t *testing.T) {
	nodes := []slurm.Node{
		{Name: "a", CPUs: 4, Partitions: []string{"main"}, Up: true},
		{Name: "b", CPUs: 60, Partitions: []string{"main", "short"}, Up: true},
		{Name: "c", CPUs: 64, Partitions: []string{"main"}, Up: true, Drained: true, State: "MIXED+DRAIN"},
		{Name: "d", CPUs: 8, Partitions: []string{"other"}, Up: true, State: "IDLE"},
	}
	is := func(from, to int64, left int32) rollout.Window {
		return rollout.Window{From: now + from, To: now + to, Left: left, Of: 64}
	}
	both := []string{"a", "b"}
	for name, c := range map[string]struct {
		of      limits.Reservation
		windows rollout.Windows
	}{
		"none":          {limits.Reservation{}, nil},
		"all, ahead":    {limits.Reservation{Start: now + 100, End: now + 200, Nodes: both}, rollout.Windows{is(100, 200, 0)}},
		"all, now":      {limits.Reservation{Start: now - 100, End: now + 200, Nodes: both}, rollout.Windows{is(-100, 200, 0)}},
		"many":          {limits.Reservation{Start: now + 100, End: now + 200, Nodes: []string{"b"}}, rollout.Windows{is(100, 200, 4)}},
		"few, now":      {limits.Reservation{Start: now - 100, End: now + 200, Nodes: []string{"a"}}, rollout.Windows{is(-100, 200, 60)}},
		"over":          {limits.Reservation{Start: now - 200, End: now, Nodes: both}, nil},
		"always ahead":  {limits.Reservation{Start: now + 100, End: now + 200, Nodes: both, Floats: true}, nil},
		"comes again":   {limits.Reservation{Start: now + 100, End: now + 200, Nodes: both, Again: []limits.Span{{Start: now + 300, End: now + 400}}}, rollout.Windows{is(100, 200, 0), is(300, 400, 0)}},
		"of other ones": {limits.Reservation{Start: now + 100, End: now + 200, Nodes: []string{"c", "d"}}, nil},
	} {
		got := poolsOf(&limits.Cluster{Reservations: []limits.Reservation{c.of}}, nodes, now)
		for _, partition := range []string{"main", "short"} {
			if pool := got.by[partition]; !slices.Equal(pool.Windows, c.windows) {
				t.Errorf("%s: %s has the windows %v, want %v", name, partition, pool.Windows, c.windows)
			}
		}
	}
}

// TestWindowsAreRemembered: a window that is over, or that was ended early, is remembered for a
// while. One that was cancelled is not.
func TestWindowsAreRemembered(t *testing.T) {
	with := func(windows ...rollout.Window) pools {
		return pools{by: map[string]twin.Pool{"main": {Windows: windows, OwnWindows: windows}}}
	}
	is := func(from, to int64) rollout.Window { return rollout.Window{From: now + from, To: now + to} }
	for name, c := range map[string]struct{ before, after, want pools }{
		"nothing":     {with(), with(), with()},
		"new":         {pools{}, with(is(-5, 9)), with(is(-5, 9))},
		"over":        {with(is(-9, 0), is(50, 60)), with(is(50, 60)), with(is(-9, 0), is(50, 60))},
		"goes on":     {with(is(-99, -80), is(-9, 20)), with(is(-9, 30)), with(is(-99, -80), is(-9, 30))},
		"ended early": {with(is(-9, 20)), with(), with(is(-9, 0))},
		"moved":       {with(is(-9, 20)), with(is(-3, 20)), with(is(-9, -3), is(-3, 20))},
		"cancelled":   {with(is(10, 20)), with(), with()},
		"long ago":    {with(is(-keptWindows-9, -keptWindows)), with(), with()},
	} {
		c.after.remember(c.before, now)
		got, want := c.after.by["main"], c.want.by["main"]
		if !slices.Equal(got.Windows, want.Windows) || !slices.Equal(got.OwnWindows, want.OwnWindows) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestNodesOfUsers: no room is seen beside another user's job of a CPU, neither where users have
// nodes for themselves, nor beside a job that was to have its nodes for its user.
func TestNodesOfUsers(t *testing.T) {
	for name, c := range map[string]struct {
		partition limits.Partition
		exclusive bool
		first     bool // accounting tells first that it runs
		free      bool
	}{
		"shared nodes":                      {free: true},
		"nodes of a user":                   {partition: limits.Partition{UserNodes: true}},
		"--exclusive=user":                  {exclusive: true},
		"--exclusive=user, first accounted": {exclusive: true, first: true},
	} {
		s := &source{jobs: past(now-day, now-2*3600)}
		g := start(t, filepath.Join(t.TempDir(), "history.db"), s)
		rules := limits.Cluster{Partitions: map[string]limits.Partition{"main": c.partition}}
		var nodes []slurm.Node
		for _, name := range []string{"n1", "n2"} {
			nodes = append(nodes, slurm.Node{Name: name, CPUs: 4, Partitions: []string{"main"}, Up: true, State: "MIXED"})
		}
		g.ObserveCluster(&rules, nodes)
		if err := g.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		runs := job(1, -60, -30, 0)
		runs.Size, runs.Limit, runs.Given = workload.Size{Nodes: 2, CPUs: 2}, day, 2
		queue := entries(runs)
		queue[0].On, queue[0].Exclusive = []string{"n1", "n2"}, c.exclusive
		if c.first {
			if err := g.ObserveQueue(t.Context(), nil, now-20); err != nil {
				t.Fatal(err)
			}
			s.jobs = append(s.jobs, runs)
			if err := g.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := g.ObserveQueue(t.Context(), queue, now); err != nil {
			t.Fatal(err)
		}
		for _, cpus := range []int32{1, 5} { // on any of the nodes
			asked := workload.Claim{Start: now, From: now, Request: workload.Request{User: "bob", Partition: "main", Size: workload.Size{Nodes: 1, CPUs: cpus}, Limit: 60}}
			asked.Pieces = rules.Job(asked.Request, &workload.Needs{MostNodes: cpus}).Pieces()
			if prob := g.Room(workload.Place{Partition: "main"}, 0, now, nil)(asked, 0).Prob; prob > .5 != c.free {
				t.Errorf("%s: %d CPUs are free with probability %v", name, cpus, prob)
			}
		}
		if queue[0].Given != 2 {
			t.Error("the queue that others read was changed")
		}
	}
}

// TestWholeNodesAhead: a job that waits for nodes that it shares with no other, or only with its
// user's, is ahead of others with all CPUs of these.
func TestWholeNodesAhead(t *testing.T) {
	s := &source{jobs: past(now-day, now-2*3600)}
	g := start(t, filepath.Join(t.TempDir(), "history.db"), s)
	var nodes []slurm.Node
	for _, name := range []string{"n1", "n2"} {
		nodes = append(nodes, slurm.Node{Name: name, CPUs: 4, Partitions: []string{"main"}, Up: true, State: "MIXED"})
	}
	g.ObserveCluster(&limits.Cluster{Partitions: map[string]limits.Partition{"main": {}}}, nodes)
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	waits := job(1, -60, 0, 0)
	waits.Size, waits.Limit = workload.Size{Nodes: 2, CPUs: 2}, day
	for _, whole := range []bool{false, true} {
		queue := entries(waits)
		queue[0].Partition, queue[0].Exclusive = "main,other", whole
		if err := g.ObserveQueue(t.Context(), queue, now); err != nil {
			t.Fatal(err)
		}
		want := int32(0)
		if whole {
			want = 8
		}
		if got := g.last.queue[0].Given; got != want {
			t.Errorf("whole nodes %v: the job gets %d CPUs, want %d", whole, got, want)
		}
	}
}
