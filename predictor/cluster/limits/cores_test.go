package limits

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/workload"
)

// halves has four nodes of four cores, of which a reservation has two of the first node and two of
// the second.
func halves() Cluster {
	c := Cluster{
		Partitions:   map[string]Partition{"main": {Name: "main", Nodes: []string{"a", "b", "c", "d"}}},
		Nodes:        map[string]Node{},
		Reservations: []Reservation{{Name: "half", Start: 100, End: 200, Nodes: []string{"a", "b"}, Cores: map[string]int64{"a": 2, "b": 2}}},
	}
	for _, name := range c.Partitions["main"].Nodes {
		c.Nodes[name] = Node{Name: name, CPUs: 4, Threads: 1, Memory: 1000, Gres: map[string]int64{"gpu": 1}, Usable: true}
	}
	return c
}

// TestReservedCores: a reservation of cores takes these, and its nodes only from a job of which no
// piece fits beside it. Slurm 22.05 starts the jobs that are not blocked here, and no others.
func TestReservedCores(t *testing.T) {
	each := func(count, cpus int32) workload.Pieces {
		return workload.Pieces{Count: count, Each: workload.Size{CPUs: cpus}}
	}
	whole := func(count int32) workload.Pieces { return workload.Pieces{Count: count, Exclusive: true} }
	cores := func(*Cluster) {}
	const few, nodes = "reservation half leaves partition main 12 of 16 CPUs", "reservation half leaves partition main 2 of 4 nodes with room for such a job"
	for name, v := range map[string]struct {
		size    workload.Size
		pieces  workload.Pieces
		change  func(c *Cluster)
		blocked string
	}{
		"a node each":         {workload.Size{Nodes: 4, CPUs: 4}, each(4, 1), cores, ""},
		"half a node each":    {workload.Size{Nodes: 4, CPUs: 8}, each(4, 2), cores, ""},
		"all that is left":    {workload.Size{Nodes: 1, CPUs: 12}, workload.Pieces{}, cores, ""},
		"more than is left":   {workload.Size{Nodes: 1, CPUs: 13}, workload.Pieces{}, cores, few},
		"more of two nodes":   {workload.Size{Nodes: 2, CPUs: 6}, each(2, 3), cores, ""},
		"more of three nodes": {workload.Size{Nodes: 3, CPUs: 9}, each(3, 3), cores, nodes},
		"two whole nodes":     {workload.Size{Nodes: 2, CPUs: 8}, whole(2), cores, ""},
		"three whole nodes":   {workload.Size{Nodes: 3, CPUs: 12}, whole(3), cores, nodes},
		// which another rule forbids
		"more than there is":     {workload.Size{Nodes: 1, CPUs: 17}, workload.Pieces{}, cores, ""},
		"cores of two CPUs":      {workload.Size{Nodes: 3, CPUs: 3}, each(3, 1), func(c *Cluster) { threads(c, 2) }, "reservation half leaves partition main 2 of 4 nodes with room for such a job"},
		"all cores":              {workload.Size{Nodes: 3, CPUs: 3}, each(3, 1), func(c *Cluster) { c.Reservations[0].Cores = map[string]int64{"a": 4, "b": 4} }, nodes},
		"cores of a node only":   {workload.Size{Nodes: 4, CPUs: 4}, each(4, 1), func(c *Cluster) { delete(c.Reservations[0].Cores, "b") }, "reservation half leaves partition main 3 of 4 nodes with room for such a job"},
		"cores not known":        {workload.Size{Nodes: 3, CPUs: 3}, each(3, 1), func(c *Cluster) { c.Reservations[0].Cores = nil }, "reservation half leaves partition main 2 of 4 nodes"},
		"nodes not known":        {workload.Size{Nodes: 3, CPUs: 3}, each(3, 1), func(c *Cluster) { c.Nodes = nil }, nodes},
		"CPUs of whole nodes":    {workload.Size{Nodes: 1, CPUs: 9}, workload.Pieces{}, func(c *Cluster) { c.Reservations[0].Cores = nil }, "reservation half leaves partition main 8 of 16 CPUs"},
		"two at once, and fits":  {workload.Size{Nodes: 4, CPUs: 4}, each(4, 1), func(c *Cluster) { also(c, "b", 1) }, ""},
		"two at once, one place": {workload.Size{Nodes: 4, CPUs: 8}, each(4, 2), func(c *Cluster) { also(c, "b", 1) }, "reservations half and also leave partition main only 3 of 4 nodes with room for such a job at times"},
	} {
		c := halves()
		v.change(&c)
		says := ""
		windows := c.Job(workload.Request{Partition: "main", Size: v.size}, nil).Blocked(v.pieces)
		if len(windows) > 0 {
			says = windows[0].Says
		}
		if len(windows) > 1 || says != v.blocked {
			t.Errorf("%s: %+v, want %q", name, windows, v.blocked)
		}
	}
}

// threads gives each core of the nodes so many CPUs.
func threads(c *Cluster, n int64) {
	for name, node := range c.Nodes {
		node.Threads = n
		c.Nodes[name] = node
	}
}

// also adds a reservation of some cores of a node, at the same time.
func also(c *Cluster, node string, cores int64) {
	c.Reservations = append(c.Reservations, Reservation{Name: "also", Start: 100, End: 200, Nodes: []string{node}, Cores: map[string]int64{node: cores}})
}

// TestClaimsOfCores: reserved cores are claims on pieces of their nodes, and on all of those of
// which the job can have no part.
func TestClaimsOfCores(t *testing.T) {
	c := halves()
	also(&c, "b", 1)
	claim := func(name string, cpus int32) workload.Claim {
		size := workload.Size{Nodes: 1, CPUs: cpus}
		return workload.Claim{
			Request: workload.Request{Partition: "main", Size: size, Limit: 100}, Pieces: workload.Pieces{Count: 1, Each: workload.Size{CPUs: cpus}}, Start: 100, From: 100, Names: []string{name},
		}
	}
	alone := func(names ...string) workload.Claim {
		n := int32(len(names))
		return workload.Claim{Request: workload.Request{Partition: "main", Size: workload.Size{Nodes: n, CPUs: 4 * n, GPUs: n, Memory: 1000 * int64(n)}, Limit: 100}, Start: 100, From: 100, Names: names}
	}
	for cpus, want := range map[int32][]workload.Claim{
		1: {claim("a", 2), claim("b", 3)}, 2: {alone("b"), claim("a", 2)}, 3: {alone("a", "b")},
	} {
		r := workload.Request{Partition: "main", Size: workload.Size{Nodes: 1, CPUs: cpus}}
		got := c.Job(r, nil).Claims(workload.Pieces{Count: 1, Each: workload.Size{CPUs: cpus}}, 0, 1000)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("of %d CPUs: %s", cpus, diff)
		}
	}
	r := workload.Request{Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 4}}
	if diff := gocmp.Diff([]workload.Claim{alone("a", "b")}, c.Job(r, nil).Claims(workload.Pieces{Count: 1, Exclusive: true}, 0, 1000)); diff != "" {
		t.Errorf("of a whole node: %s", diff)
	}
}

// TestCoresEveryMoment compares Blocked, Claims and Kept with a check of every moment.
func TestCoresEveryMoment(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	for range 500 {
		c := halves()
		c.Reservations = nil
		names := c.Partitions["main"].Nodes
		cpus := map[string]int64{}
		for _, name := range names {
			cpus[name] = c.Nodes[name].CPUs
		}
		for range rng.IntN(5) {
			start := rng.Int64N(40)
			v := Reservation{Name: "r", Start: start, End: start + rng.Int64N(20)}
			if rng.IntN(3) > 0 {
				v.Cores = map[string]int64{}
			}
			for _, name := range names {
				if rng.IntN(2) == 0 {
					v.Nodes = append(v.Nodes, name)
					if v.Cores != nil {
						v.Cores[name] = 1 + rng.Int64N(4)
					}
				}
			}
			c.Reservations = append(c.Reservations, v)
		}
		r := workload.Request{Partition: "main", Size: workload.Size{Nodes: 1 + rng.Int32N(4), CPUs: 1 + rng.Int32N(16)}}
		p := workload.Pieces{Count: r.Nodes, Each: workload.Size{CPUs: 1 + rng.Int32N(4)}, Exclusive: rng.IntN(4) == 0}
		windows, claims, kept := c.Job(r, nil).Blocked(p), c.Job(r, nil).Claims(p, 0, 100), c.Kept(cpus, 0, 100)
		for at := range int64(61) {
			places, free, alone, parts := int32(0), int64(0), 0, int64(0)
			for _, name := range names {
				left := int64(4)
				for _, v := range c.Reservations {
					if v.Start <= at && at < v.End && slices.Contains(v.Nodes, name) {
						if v.Cores == nil {
							left = -100
						}
						left -= v.Cores[name]
					}
				}
				switch {
				case left < 0 || p.Exclusive && left < 4 || left < 4 && left < int64(p.Each.CPUs):
					alone++
				default:
					places++
					parts += 4 - left
				}
				free += max(0, left)
			}
			is := func(start, end int64) bool { return start <= at && at < end }
			if got, want := slices.ContainsFunc(windows, func(w Window) bool { return is(w.Start, w.End) }), places < r.Nodes || free < int64(r.CPUs); got != want {
				t.Fatalf("at %d: %+v in %+v, is blocked: %v, reservations %+v", at, r, p, got, c.Reservations)
			}
			if got := slices.ContainsFunc(kept, func(k Kept) bool { return is(k.Start, k.End) && k.CPUs == 16-free }); got != (free < 16) {
				t.Fatalf("at %d: %d CPUs are free, kept %+v, reservations %+v", at, free, kept, c.Reservations)
			}
			for i := range claims {
				if k := &claims[i]; is(k.Start, k.Start+k.Limit) {
					if k.Alone() {
						alone -= len(k.Names)
					} else {
						parts -= int64(k.CPUs)
					}
				}
			}
			if alone != 0 || parts != 0 {
				t.Fatalf("at %d: %d nodes and %d CPUs more than claimed by %+v, reservations %+v", at, alone, parts, claims, c.Reservations)
			}
		}
	}
}

// TestShortageBesideCores: a node of which some cores are reserved can start jobs on the others.
func TestShortageBesideCores(t *testing.T) {
	c := halves()
	drained := c.Nodes["d"]
	drained.Usable, drained.Drained = false, true
	c.Nodes["d"] = drained
	for cpus, short := range map[int32]bool{8: false, 9: true} {
		r := workload.Request{Partition: "main", Size: workload.Size{Nodes: 3, CPUs: cpus}}
		if got := c.Job(r, nil).Shortage(150); (got != "") != short {
			t.Errorf("%d CPUs: %q", cpus, got)
		}
	}
	c.Reservations[0].Cores["a"] = 4
	r := workload.Request{Partition: "main", Size: workload.Size{Nodes: 3, CPUs: 3}}
	if got := c.Job(r, nil).Shortage(150); !strings.Contains(got, "(1 drained: d, 1 reserved)") {
		t.Errorf("three nodes: %q", got)
	}
}

// TestOnCores has what Slurm 22.05 gave to jobs on nodes of 8 CPUs, two of a core.
func TestOnCores(t *testing.T) {
	node := func(threads int64) Node { return Node{CPUs: 8, Threads: threads, Usable: true} }
	c := &Cluster{
		Partitions: map[string]Partition{
			"two": {Name: "two", Default: true, Nodes: []string{"a", "b"}}, "one": {Name: "one", Nodes: []string{"c"}}, "mixed": {Name: "mixed", Nodes: []string{"c", "a"}},
		},
		Nodes: map[string]Node{"a": node(2), "b": node(2), "c": node(1)},
	}
	for _, v := range []struct {
		partition           string
		cpus, perCore, want int32
	}{
		{"two", 1, 1, 2}, {"two", 6, 1, 12}, {"two", 2, 1, 4}, {"", 4, 1, 8}, {"two", 6, 3, 6}, {"two", 2, 2, 2}, {"two", 3, 0, 3},
		{"one", 3, 1, 3}, {"mixed", 3, 1, 6},
		// which no nodes have
		{"mixed", 13, 1, 26},
	} {
		r := workload.Request{Partition: v.partition, Size: workload.Size{Nodes: 1, CPUs: v.cpus}}
		if got := c.OnCores(r, &workload.Needs{PerCore: v.perCore}); got.CPUs != v.want {
			t.Errorf("%+v: %d CPUs", v, got.CPUs)
		}
	}
	// A node has room for as many tasks as it has cores.
	for cpus, fits := range map[int64]bool{4: true, 5: false} {
		n := &workload.Needs{PerCore: 1, NodeCPUs: workload.NodeNeed{Amount: cpus, Option: "--cpus-per-task"}}
		r := c.OnCores(workload.Request{Partition: "two", Size: workload.Size{Nodes: 1, CPUs: int32(cpus)}}, n)
		if rule := c.Job(r, n).CheckNeeds(); (rule == nil) != fits {
			t.Errorf("%d CPUs of a task: %v", cpus, rule)
		}
	}
}

// unlike has nodes of four cores and one CPU of each, n1 to n4, n7 and n8, and of two cores and two
// CPUs of each, n5 and n6.
func unlike() *Cluster {
	c := &Cluster{Partitions: map[string]Partition{}, Nodes: map[string]Node{}}
	p := Partition{Name: "main", Up: true, Default: true, TotalCPUs: 32}
	for i := 1; i <= 8; i++ {
		n := Node{Name: fmt.Sprintf("n%d", i), CPUs: 4, Threads: 1, Memory: 8000, Usable: true}
		if i == 5 || i == 6 {
			n.Threads, n.Features = 2, []string{"a100"}
		}
		if i > 6 {
			n.Features = []string{"v100"}
		}
		c.Nodes[n.Name], p.Nodes = n, append(p.Nodes, n.Name)
	}
	c.Partitions["main"] = p
	return c
}

// TestOnCoresOfUnlikeNodes: a job that uses one CPU of each core has the CPUs of each node's own
// cores, of those of the nodes that it may have, and of the dearest of these.
func TestOnCoresOfUnlikeNodes(t *testing.T) {
	each := func(uses int64, option string) workload.NodeNeed {
		return workload.NodeNeed{Amount: uses, Option: option}
	}
	for _, v := range []struct {
		options string
		size    workload.Size
		needs   workload.Needs
		cpus    int32
		nodes   string // that the job may have, empty for any
		rule    string
	}{
		{"-N1", workload.Size{Nodes: 1, CPUs: 1}, workload.Needs{}, 2, "", ""},
		{"-N1 -n4", workload.Size{Nodes: 1, CPUs: 4}, workload.Needs{}, 4, "", ""},
		{"-N1 -n3", workload.Size{Nodes: 1, CPUs: 3}, workload.Needs{}, 3, "", ""},
		{"-N1 -n2", workload.Size{Nodes: 1, CPUs: 2}, workload.Needs{}, 4, "", ""},
		{"-N2 -n6", workload.Size{Nodes: 2, CPUs: 6}, workload.Needs{}, 8, "", ""},
		{"-N1 -n1 -c3", workload.Size{Nodes: 1, CPUs: 3}, workload.Needs{NodeCPUs: each(3, "--cpus-per-task")}, 3, "n[1-4,7-8]", ""},
		{"-N2 --ntasks-per-node=4", workload.Size{Nodes: 2, CPUs: 8}, workload.Needs{NodeCPUs: each(4, "--ntasks-per-node")}, 8, "n[1-4,7-8]", ""},
		{"-N1 -n1 -c2 -x n1", workload.Size{Nodes: 1, CPUs: 2}, workload.Needs{NodeCPUs: each(2, "--cpus-per-task"), Exclude: nodes("--exclude=n1", "n1")}, 4, "", ""},
		{"-N6 -n24 --exclusive", workload.Size{Nodes: 6, CPUs: 24}, workload.Needs{Exclusive: true}, 24, "", ""},
		{"-N2 -n4 -C a100", workload.Size{Nodes: 2, CPUs: 4}, workload.Needs{Constraint: "a100"}, 8, "n[5-6]", ""},
		{"-N1 -n2 -C v100", workload.Size{Nodes: 1, CPUs: 2}, workload.Needs{Constraint: "v100"}, 2, "n[7-8]", ""},
		{
			"-N1 -n5", workload.Size{Nodes: 1, CPUs: 5}, workload.Needs{}, 10, "",
			"--ntasks: the job needs 10 CPUs, and the nodes of partition main that it may have, have 4",
		},
		{
			"-N2 -n5 -C a100", workload.Size{Nodes: 2, CPUs: 5}, workload.Needs{Constraint: "a100"}, 10, "",
			"--ntasks: the job needs 10 CPUs, and the nodes of partition main that it may have, have 8",
		},
		{
			"-N1 -c5", workload.Size{Nodes: 1, CPUs: 5}, workload.Needs{NodeCPUs: each(5, "--cpus-per-task")}, 10, "",
			"--cpus-per-task: 0 of the 8 nodes of partition main have cores for 5 CPUs, with 1 of each core, and the job needs 1",
		},
		{
			"-N7 --ntasks-per-node=3", workload.Size{Nodes: 7, CPUs: 21}, workload.Needs{NodeCPUs: each(3, "--ntasks-per-node")}, 25, "",
			"--ntasks-per-node: 6 of the 8 nodes of partition main have cores for 3 CPUs, with 1 of each core, and the job needs 7",
		},
	} {
		c, needs := unlike(), &v.needs
		needs.MostNodes, needs.PerCore = v.size.Nodes, 1
		r, err := c.CompleteWith(c.OnCores(workload.Request{Size: v.size, Limit: 60}, needs), needs)
		if err != nil || r.CPUs != v.cpus || r.NodeSet != v.nodes {
			t.Errorf("%s: %d CPUs on nodes %q, wanted %d on %q: %v", v.options, r.CPUs, r.NodeSet, v.cpus, v.nodes, err)
		}
		job, says := c.Job(r, needs), ""
		if rule := cmp.Or(job.CheckSize(), job.CheckNeeds()); rule != nil {
			says = rule.Says
		}
		if says != v.rule {
			t.Errorf("%s: %q, wanted %q", v.options, says, v.rule)
		}
	}
}

// TestBillingOnCores: the CPUs that a job leaves idle are charged once, and as many as there are on
// the dearest nodes.
func TestBillingOnCores(t *testing.T) {
	for _, v := range []struct {
		options string
		size    workload.Size
		most    int32
		want    float64
	}{
		{"-N1", workload.Size{Nodes: 1, CPUs: 1}, 1, 2},
		{"-N1 -n4", workload.Size{Nodes: 1, CPUs: 4}, 1, 4},
		{"-N1-3", workload.Size{Nodes: 1, CPUs: 1}, 3, 6},
	} {
		c, n := unlike(), &workload.Needs{MostNodes: v.most, PerCore: 1}
		r, err := c.CompleteWith(c.OnCores(workload.Request{Size: v.size, Limit: 60}, n), n)
		if got := c.Job(r, n).MostBilling(); err != nil || got != v.want {
			t.Errorf("%s: %v, wanted %v: %v", v.options, got, v.want, err)
		}
	}
}

// TestOnCoresDearest compares OnCores with a search through all that a job may have.
func TestOnCoresDearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	for range 2000 {
		nodes := make([]Node, 1+rng.IntN(4))
		alike := true
		for i := range nodes {
			nodes[i].Threads = 1 << rng.IntN(3)
			nodes[i].CPUs = nodes[i].Threads * (1 + rng.Int64N(4))
			alike = alike && nodes[i].Threads == nodes[0].Threads
		}
		perCore, uses, mostNodes := 1+rng.Int32N(2), 1+rng.Int64N(12), 1+rng.IntN(4)
		got := onCores(slices.Clone(nodes), perCore, uses, mostNodes)
		most, dearest := int64(0), dearest(nodes, perCore, uses, mostNodes)
		for _, n := range nodes {
			most = max(most, n.Threads)
		}
		switch {
		case alike && got != whole(uses, perCore, nodes[0].Threads):
			t.Fatalf("%d CPUs of %+v: %d, whose nodes are alike", uses, nodes, got)
		case dearest < 0 && got != whole(uses, perCore, most):
			t.Fatalf("%d CPUs of %+v, at most %d: %d, and they do not fit", uses, nodes, mostNodes, got)
		case perCore == 1 && dearest >= 0 && (got < dearest || mostNodes == 1 && got > dearest):
			t.Fatalf("%d CPUs of %+v, at most %d: %d, and the dearest are %d", uses, nodes, mostNodes, got, dearest)
		}
	}
}

// dearest tries each part of a job on the first node. It returns -1 if the job does not fit.
func dearest(nodes []Node, perCore int32, uses int64, mostNodes int) int64 {
	if uses == 0 {
		return 0
	}
	if len(nodes) == 0 || mostNodes == 0 {
		return -1
	}
	best := dearest(nodes[1:], perCore, uses, mostNodes)
	for part := int64(1); part <= min(uses, nodes[0].room(perCore)); part++ {
		if rest := dearest(nodes[1:], perCore, uses-part, mostNodes-1); rest >= 0 {
			best = max(best, rest+whole(part, perCore, nodes[0].Threads))
		}
	}
	return best
}
