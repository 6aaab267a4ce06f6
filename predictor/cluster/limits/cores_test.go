package limits

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("of %d CPUs: %s", cpus, diff)
		}
	}
	r := workload.Request{Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 4}}
	if diff := cmp.Diff([]workload.Claim{alone("a", "b")}, c.Job(r, nil).Claims(workload.Pieces{Count: 1, Exclusive: true}, 0, 1000)); diff != "" {
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
