package twin

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// four are four nodes of four CPUs and of 100 MiB.
func four() *bench {
	list := nodes("a", "b", "c", "d")
	for i := range list {
		list[i].Memory = 100
	}
	size := workload.Size{Nodes: 4, CPUs: 16, Memory: 400}
	b := sit(func(workload.Place) Pool { return Pool{Name: "all", Size: size, Own: size, Nodes: list} })
	return b
}

// on runs a job of so many CPUs on each of some nodes, for an hour.
func (b *bench) on(cpus int32, names ...string) {
	j := b.start(opening-100, b.submit(opening-100, cpus*int32(len(names)), 3700))
	b.place(j, names...)
}

// whole and each are pieces.
func whole(n int32) workload.Pieces { return workload.Pieces{Count: n, Exclusive: true} }
func each(n, cpus int32) workload.Pieces {
	return workload.Pieces{Count: n, Each: workload.Size{CPUs: cpus}}
}

// asks returns the claim of a job of some nodes (0 if its tasks may spread) and pieces.
func asks(nodes int32, p workload.Pieces) workload.Claim {
	cpus := p.Count * p.Each.CPUs
	if p.Exclusive {
		cpus = p.Count * 4
	}
	return workload.Claim{Request: workload.Request{Size: workload.Size{Nodes: nodes, CPUs: cpus}, Limit: run}, Pieces: p, Start: opening, From: opening}
}

// sized returns a claim with so many CPUs in all.
func sized(c workload.Claim, cpus int32) workload.Claim {
	c.CPUs = cpus
	return c
}

// TestRoomOnNodes: CPUs that are left are of no use to a job if they are on too many nodes.
func TestRoomOnNodes(t *testing.T) {
	all := []string{"a", "b", "c", "d"}
	times := func(n int, c workload.Claim) (list []workload.Claim) {
		for range n {
			list = append(list, c)
		}
		return list
	}
	memory := asks(1, each(1, 1))
	memory.Memory, memory.Pieces.Each.Memory = 60, 60
	slurms := workload.Claim{Request: workload.Request{Size: workload.Size{Nodes: 1, CPUs: 4}, Limit: run}, Start: opening, From: opening, Names: all[3:]}
	cores := workload.Claim{ // two of each node
		Request: workload.Request{Size: workload.Size{Nodes: 4, CPUs: 8}, Limit: run}, Pieces: each(4, 2), Start: opening, From: opening, Names: all,
	}
	tasks := func(n, cpus int32) workload.Claim { c := asks(1, each(n, cpus)); return c }
	for name, c := range map[string]struct {
		busy   func(b *bench)
		others []workload.Claim
		asks   workload.Claim
		want   float64
	}{
		"a CPU taken on each node, and a whole one": {busy: func(b *bench) { b.on(1, all...) }, asks: asks(1, whole(1))},
		"on three nodes":                            {busy: func(b *bench) { b.on(1, all[:3]...) }, asks: asks(1, whole(1)), want: 1},
		"two whole ones":                            {busy: func(b *bench) { b.on(1, all[:3]...) }, asks: asks(2, whole(2))},
		"three CPUs of one node":                    {busy: func(b *bench) { b.on(2, all...) }, asks: asks(1, each(1, 3))},
		"two CPUs of one node":                      {busy: func(b *bench) { b.on(2, all...) }, asks: asks(1, each(1, 2)), want: 1},
		"two nodes, and room on one":                {busy: func(b *bench) { b.on(4, all[:3]...) }, asks: asks(2, each(2, 1))},
		"two tasks, and room on one node":           {busy: func(b *bench) { b.on(4, all[:3]...) }, asks: tasks(2, 2), want: 1},
		"a task too many":                           {busy: func(b *bench) { b.on(1, all[:3]...); b.on(2, "d") }, asks: tasks(5, 2)},
		"as many tasks as fit":                      {busy: func(b *bench) { b.on(1, all[:3]...); b.on(2, "d") }, asks: tasks(4, 2), want: 1},
		"memory":                                    {others: times(4, memory), asks: memory},
		"memory of the last node":                   {others: times(3, memory), asks: memory, want: 1},
		"four promises of three CPUs":               {others: times(4, asks(1, each(1, 3))), asks: asks(1, each(1, 3))},
		"three promises of three CPUs":              {others: times(3, asks(1, each(1, 3))), asks: asks(1, each(1, 3)), want: 1},
		"promises of whole nodes":                   {others: times(2, asks(2, whole(2))), asks: asks(1, each(1, 1))},
		"promises of all memory":                    {others: times(3, memory), asks: asks(2, whole(2))},
		"promises of most CPUs":                     {others: times(3, asks(1, each(1, 3))), asks: asks(2, whole(2))},
		"of half the CPUs":                          {others: times(3, asks(1, each(1, 2))), asks: asks(2, whole(2)), want: 1},
		"of CPUs, and of memory, which may share":   {others: append(times(2, memory), times(2, asks(1, each(1, 3)))...), asks: asks(2, whole(2)), want: 1},
		"a promise of most CPUs, and all of a node": {others: times(4, asks(1, each(1, 3))), asks: asks(1, each(1, 4))},
		"a promise and jobs":                        {busy: func(b *bench) { b.on(1, all[:3]...) }, others: times(1, asks(1, whole(1))), asks: asks(1, whole(1))},
		"the last node is reserved":                 {busy: func(b *bench) { b.on(1, all[:3]...) }, others: []workload.Claim{slurms}, asks: asks(1, whole(1))},
		"a node that is taken is reserved":          {busy: func(b *bench) { b.on(1, all[1:]...) }, others: []workload.Claim{slurms}, asks: asks(1, whole(1)), want: 1},
		"cores of all nodes are reserved":           {others: []workload.Claim{cores}, asks: asks(1, each(1, 1)), want: 1},
		"and two more are wanted":                   {others: []workload.Claim{cores}, asks: asks(1, each(1, 2)), want: 1},
		"and three":                                 {others: []workload.Claim{cores}, asks: asks(1, each(1, 3))},
		"and all that are left":                     {others: []workload.Claim{cores}, asks: tasks(4, 2), want: 1},
		"and more than are left":                    {others: []workload.Claim{cores}, asks: tasks(5, 2)},
		"and there is a promise":                    {others: append(times(1, asks(1, each(1, 1))), cores), asks: asks(1, each(1, 1)), want: 1},
		"and some of them run jobs":                 {busy: func(b *bench) { b.on(2, all[1:]...) }, others: []workload.Claim{cores}, asks: asks(1, each(1, 1)), want: 1},
		"and all of them":                           {busy: func(b *bench) { b.on(2, all...) }, others: []workload.Claim{cores}, asks: asks(1, each(1, 1))},
		"promises of small jobs on three nodes":     {others: times(2, asks(3, each(3, 1))), asks: asks(2, whole(2))},
		"and whole nodes beside them":               {others: times(2, asks(3, each(3, 1))), asks: asks(1, whole(1)), want: 1},
		"and as small a job":                        {others: times(2, asks(3, each(3, 1))), asks: asks(4, each(4, 1)), want: 1},
		"and all CPUs of two":                       {others: times(2, asks(3, each(3, 1))), asks: asks(2, each(2, 4))},
		"and whole nodes, and a whole one":          {others: append(times(1, asks(2, each(2, 1))), asks(1, whole(1))), asks: asks(2, whole(2))},
		"and a whole one, and one more":             {others: append(times(1, asks(2, each(2, 1))), asks(1, whole(1))), asks: asks(1, whole(1)), want: 1},
		"they may be where jobs run":                {busy: func(b *bench) { b.on(1, all[:3]...) }, others: times(2, asks(3, each(3, 1))), asks: asks(1, whole(1)), want: 1},
		"seven CPUs of two nodes":                   {busy: func(b *bench) { b.on(1, all...) }, asks: sized(asks(2, each(2, 1)), 7)},
		"six CPUs of two nodes":                     {busy: func(b *bench) { b.on(1, all...) }, asks: sized(asks(2, each(2, 1)), 6), want: 1},
		"eleven CPUs of three nodes, of which":      {busy: func(b *bench) { b.on(1, all[:3]...) }, asks: sized(asks(3, each(3, 1)), 11)},
		"ten CPUs of three nodes":                   {busy: func(b *bench) { b.on(1, all[:3]...) }, asks: sized(asks(3, each(3, 1)), 10), want: 1},
		"a promise on a node with others":           {busy: func(b *bench) { b.on(1, all[:3]...) }, others: times(1, asks(1, each(1, 1))), asks: asks(1, whole(1)), want: 1},
	} {
		b := four()
		if c.busy != nil {
			c.busy(b)
		}
		if got := b.roomFor(c.asks, c.others).Prob; math.Abs(got-c.want) > .05 {
			t.Errorf("%s: room with probability %.3f, want %v", name, got, c.want)
		}
	}
}

// TestRoomOnOtherNodes: promises that may be on nodes too small for a job are not in its way.
func TestRoomOnOtherNodes(t *testing.T) {
	list := nodes("a", "b", "c", "d", "e", "f")
	list[0].CPUs, list[1].CPUs = 8, 8
	size := workload.Size{Nodes: 6, CPUs: 32}
	for name, c := range map[string]struct {
		other workload.Claim
		want  float64
	}{
		"four whole nodes":    {asks(4, whole(4)), 1},
		"five whole nodes":    {asks(5, whole(5)), 0},
		"a CPU on each of 4":  {asks(4, each(4, 1)), 1},
		"a CPU on each of 5":  {asks(5, each(5, 1)), 0},
		"five CPUs of a node": {asks(1, each(1, 5)), 0},
	} {
		b := sit(func(workload.Place) Pool { return Pool{Name: "all", Size: size, Own: size, Nodes: list} })
		large := asks(2, each(2, 8))
		if got := b.roomFor(large, []workload.Claim{c.other}).Prob; got != c.want {
			t.Errorf("%s: room with probability %v", name, got)
		}
	}
}

// TestRoomOnNodesLater: a promise that takes the last whole node while the work runs is seen.
func TestRoomOnNodesLater(t *testing.T) {
	b := four()
	b.on(1, "a", "b", "c")
	later := asks(1, whole(1))
	later.Start, later.From = opening+100, opening+100
	one := asks(1, whole(1))
	if got := b.roomFor(one, []workload.Claim{later}).Prob; got > .3 {
		t.Errorf("%v", got)
	}
	if one.Limit = 100; b.roomFor(one, []workload.Claim{later}).Prob != 1 {
		t.Error("work that has ended before is refused")
	}
}

// TestRoomOnDrainedNodes: no job starts on a drained node, whatever is free there.
func TestRoomOnDrainedNodes(t *testing.T) {
	list := nodes("a", "b")
	list[0].Nodes = 0
	size := workload.Size{Nodes: 1, CPUs: 8}
	b := sit(func(workload.Place) Pool { return Pool{Name: "all", Size: size, Own: size, Nodes: list} })
	b.on(1, "b")
	c := asks(1, whole(1))
	if got := b.roomFor(c, nil).Prob; got > .05 {
		t.Errorf("%v", got)
	}
}

// TestRoomOnNoNodes: there is no room where all nodes that a job may have are down or drained.
func TestRoomOnNoNodes(t *testing.T) {
	list := nodes("a", "b")
	size := workload.Size{Nodes: 2, CPUs: 16}
	b := sit(func(place workload.Place) Pool {
		p := Pool{Name: "all", Size: size, Own: size, Nodes: list}
		if place.NodeSet != "" {
			p.Own, p.Nodes = workload.Size{}, nil
		}
		return p
	})
	c := asks(1, whole(1))
	if got := b.roomFor(c, nil).Prob; got != 1 {
		t.Errorf("on both nodes: %v", got)
	}
	if c.NodeSet = "c"; b.roomFor(c, nil).Prob != 0 {
		t.Error("there is room on nodes that are down")
	}
}

// TestRoomOnNodesAgainstDraws: the probability of room on nodes is that of drawn run times.
func TestRoomOnNodesAgainstDraws(t *testing.T) {
	b := four()
	random := rand.New(rand.NewPCG(7, 7))
	for i := range int64(200) {
		j := b.start(i*10, b.submit(i*10, 1, 3600))
		b.end(j.Start+300+random.Int64N(600), j)
	}
	placed := map[int64]string{} // by when the job reaches its limit
	taken := map[int64]int32{}
	for i, name := range []string{"a", "a", "b", "b", "c", "d"} {
		age, limit := int64(50+100*i), int64(4000+10*i)
		j := b.start(opening-age, b.submit(opening-age, int32(1+i%2), limit))
		b.place(j, name)
		placed[j.Start+limit], taken[j.Start+limit] = name, j.CPUs
	}
	for name, c := range map[string]workload.Claim{
		"two whole nodes": asks(2, whole(2)), "a whole node": asks(1, whole(1)), "five tasks of two CPUs": asks(1, each(5, 2)), "three nodes with three CPUs": asks(3, each(3, 3)),
	} {
		for at := int64(0); at < 900; at += 100 {
			const draws = 4000
			n := 0
			s := b.w.Snapshot(request(4, run), opening, 0)
			random := rand.New(rand.NewPCG(8, 8))
			for range draws {
				s.Draw(random)
				free := map[string]int32{"a": 4, "b": 4, "c": 4, "d": 4}
				for _, r := range s.Running {
					if r.End > opening+at {
						free[placed[r.Planned]] -= taken[r.Planned]
					}
				}
				if fits(&c, free) {
					n++
				}
			}
			c.From = opening + at
			if got, want := b.roomFor(c, nil).Prob, float64(n)/draws; math.Abs(got-want) > .04 {
				t.Errorf("%s after %d s: room with probability %.3f, %.3f of the draws", name, at, got, want)
			}
		}
	}
}

// fits reports whether the pieces of a claim fit on nodes of four CPUs with so many free.
func fits(c *workload.Claim, free map[string]int32) bool {
	fit := int32(0)
	for _, cpus := range free {
		switch p := &c.Pieces; {
		case p.Exclusive:
			fit += cpus / 4
		case c.Nodes > 1:
			fit += min(1, cpus/p.Each.CPUs)
		default:
			fit += cpus / p.Each.CPUs
		}
	}
	return fit >= c.Pieces.Count
}

// BenchmarkRoomOnNodes: 2,000 jobs are on 1,000 nodes of 20 CPUs, five on some and none on others,
// and 200 promises were made.
func BenchmarkRoomOnNodes(b *testing.B) {
	var list []Node
	for i := range 1000 {
		list = append(list, Node{fmt.Sprint("node", i), workload.Size{Nodes: 1, CPUs: 20}})
	}
	size := workload.Size{Nodes: 1000, CPUs: 20_000}
	s := sit(func(workload.Place) Pool { return Pool{Name: "all", Size: size, Own: size, Nodes: list} })
	random := rand.New(rand.NewPCG(4, 4))
	for range 2000 {
		j := s.start(opening-random.Int64N(3000), s.submit(opening-3000, 8, 3600+random.Int64N(3600)))
		s.place(j, list[random.IntN(1000)].Name, list[random.IntN(1000)].Name)
	}
	var claims []workload.Claim
	for i := range int64(200) {
		c := asks(1, each(1, 4))
		c.Start, c.From = opening+i*60, opening+i*60
		claims = append(claims, c)
	}
	for name, c := range map[string]workload.Claim{"whole": asks(300, whole(300)), "apart": asks(500, each(500, 12)), "tasks": asks(1, each(1000, 5))} {
		b.Run(name, func(b *testing.B) {
			c.From = opening + 900
			o := s.w.Occupants(workload.Place{}, 0, opening, claims)
			for b.Loop() {
				o.Room(&c, 0)
			}
		})
	}
}
