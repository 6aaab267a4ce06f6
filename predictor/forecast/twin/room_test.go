package twin

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

const (
	opening = 10_000 // the time of the questions about room
	run     = 600    // seconds
)

// rooms is a pool of 8 processors. Its past jobs have run for 300 to 900 seconds of an hour.
func rooms() *bench {
	b := sit(poolOf(8))
	random := rand.New(rand.NewPCG(1, 1))
	for i := range int64(200) {
		j := b.start(i*10, b.submit(i*10, 1, 3600))
		b.end(j.Start+300+random.Int64N(600), j)
	}
	return b
}

// room returns the room for the work of a request, or of job id, from a time on.
func (b *bench) room(r *workload.Request, id, at int64, claims []workload.Claim) workload.Room {
	return b.roomFor(workload.Claim{Request: *r, Job: id, From: at}, claims)
}

// roomFor returns the room for a claim.
func (b *bench) roomFor(c workload.Claim, claims []workload.Claim) workload.Room {
	return b.w.Occupants(c.Place(), c.Job, opening, claims).Room(&c, 0)
}

func claim(procs int32, from int64) workload.Claim {
	return workload.Claim{Request: *request(procs, run), Start: from, From: from}
}

// TestOccupantsStay: whatever happens to the twin, the occupants that it has returned remain as
// they were.
func TestOccupantsStay(t *testing.T) {
	b := sit(poolOf(8))
	j := b.start(opening-100, b.submit(opening-100, 4, 1000))
	before, after := claim(4, opening+10), claim(5, opening+10)
	o := b.w.Occupants(workload.Place{}, 0, opening, nil)
	b.w.Resize(poolOf(2))
	b.q.Remove(j.ID)
	j.End = opening
	b.w.Ended(&j)
	b.start(opening, b.submit(opening, 2, 1000))
	b.w.Occupants(workload.Place{}, 0, opening, nil)
	if fits, full := o.Room(&before, 0).Prob, o.Room(&after, 0).Prob; fits != 1 || full == 1 {
		t.Errorf("beside 4 of 8 processors there is room for 4 with probability %v, and for 5 with %v", fits, full)
	}
}

// TestRoomAfterChanges: a job has its processors until the limit that it has now, and of its
// request what it asks for now.
func TestRoomAfterChanges(t *testing.T) {
	b := sit(poolOf(8))
	j := b.start(opening-100, b.submit(opening-100, 4, 1000))
	later := claim(8, opening+1500)
	free := func() bool { return b.roomFor(later, nil).Prob == 1 }
	change := func(j *workload.Job) {
		b.q.Change(j)
		b.w.Changed(j)
	}
	if !free() {
		t.Fatal("there is no room when it has reached its limit")
	}
	for _, c := range []struct {
		limit int64
		free  bool
	}{{3000, false}, {900, true}, {5000, false}, {1000, true}} {
		j.Limit = c.limit
		if change(&j); free() != c.free {
			t.Errorf("it runs with a limit of %d: there is room %v", c.limit, free())
		}
	}
	waits := b.submit(opening-50, 1, 600)
	waits.CPUs, waits.Limit = 8, 3000
	change(&waits)
	now := b.w.Point(request(1, 5000), opening, 0)
	if now.Limits < 3000 {
		t.Errorf("behind a job that asks for 8 processors and 3000 s now, a job waits for %d s if all run until their limits", now.Limits)
	}
	b.end(opening, j)
	if b.start(opening, waits); free() {
		t.Error("what has started asked for less when it was submitted, and there is room beside it")
	}
}

// TestRoom: there is room or not, beside running jobs and claims.
func TestRoom(t *testing.T) {
	full := func(b *bench) { b.start(opening-100, b.submit(opening-100, 8, 1000)) }
	given := func(b *bench) {
		j := b.submit(opening-100, 1, 1000)
		j.Given = 8
		b.start(opening-100, j)
	}
	for name, c := range map[string]struct {
		run    func(*bench)
		claims []workload.Claim
		procs  int32
		at     int64 // since opening
		want   float64
	}{
		"nothing runs":                       {procs: 8, want: 1},
		"all processors are taken":           {run: full, procs: 1, want: 0},
		"all processors were given to it":    {run: given, procs: 1, want: 0},
		"until their limit":                  {run: full, procs: 8, at: 901, want: 1},
		"some are left":                      {claims: []workload.Claim{claim(5, opening)}, procs: 3, want: 1},
		"too few are left":                   {claims: []workload.Claim{claim(6, opening)}, procs: 3, want: 0},
		"claims add up":                      {claims: []workload.Claim{claim(3, opening), claim(3, opening)}, procs: 3, want: 0},
		"a claim after the work":             {claims: []workload.Claim{claim(6, opening+run)}, procs: 3, want: 1},
		"a claim begins soon":                {claims: []workload.Claim{claim(6, opening+1)}, procs: 3, want: 0},
		"a claim is over":                    {claims: []workload.Claim{claim(6, opening)}, procs: 3, at: run, want: 1},
		"a job that is larger than the pool": {procs: 9, want: 1}, // others say so
	} {
		b := rooms()
		if c.run != nil {
			c.run(b)
		}
		if got := b.room(request(c.procs, run), 0, opening+c.at, c.claims).Prob; math.Abs(got-c.want) > .05 {
			t.Errorf("%s: room with probability %.3f, want %v", name, got, c.want)
		}
	}
	gpus := sit(func(workload.Place) Pool { return Pool{Name: "all", Size: workload.Size{CPUs: 8, GPUs: 2}} })
	one := request(1, run)
	one.GPUs = 1
	takes := func(n int) (claims []workload.Claim) {
		for range n {
			claims = append(claims, workload.Claim{Request: *one, Start: opening, From: opening})
		}
		return claims
	}
	if left, none := gpus.room(one, 0, opening, takes(1)).Prob, gpus.room(one, 0, opening, takes(2)).Prob; left != 1 || none != 0 {
		t.Errorf("room for a GPU beside one with probability %v, beside two %v", left, none)
	}
	b := sit(nil)
	b.start(opening, b.submit(opening, 8, 1000))
	if got := b.room(request(8, run), 0, opening, nil).Prob; got != 1 {
		t.Errorf("where the size of the pool is not known: %v", got)
	}
}

// TestWholeNodes: where jobs have their nodes alone, a job of a CPU takes a whole node, whether it
// waits or runs.
func TestWholeNodes(t *testing.T) {
	b := sit(func(workload.Place) Pool {
		return Pool{Name: "all", Size: workload.Size{Nodes: 4, CPUs: 16}, WholeNodes: true}
	})
	two := func() workload.Job {
		b.id++
		j := workload.Job{ID: b.id, Request: workload.Request{Size: workload.Size{Nodes: 2, CPUs: 2}, Limit: 1000}, Submit: opening, Eligible: opening}
		b.q.Submit(j)
		b.w.Submitted(&j)
		return j
	}
	b.start(opening, two())
	node := &workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 100}
	if room, wait := b.room(node, 0, opening, nil).Prob, b.w.Point(node, opening, 0).Limits; room != 1 || wait != 0 {
		t.Errorf("with two nodes free: room with probability %v, a wait of %d s", room, wait)
	}
	b.start(opening, two())
	waits := two()
	if room, wait := b.room(node, 0, opening, nil).Prob, b.w.Point(node, opening, 0).Limits; room != 0 || wait != 1000 {
		t.Errorf("with none free, and a job of two waiting: room with probability %v, a wait of %d s", room, wait)
	}
	waits.Nodes, waits.CPUs = 4, 2 // whatever its CPUs are
	b.q.Change(&waits)
	b.w.Changed(&waits)
	if wait := b.w.Point(&workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 5000}, opening, 0).Limits; wait != 2000 {
		t.Errorf("behind a job that asks for all nodes now: a wait of %d s", wait)
	}
}

// TestRoomWhileHolding: who has processors when others are to get them, takes them away.
func TestRoomWhileHolding(t *testing.T) {
	b := rooms()
	holds := claim(5, opening+1000)
	holds.Start = opening + 200
	claims := []workload.Claim{holds, claim(5, opening+300)}
	four := request(4, run)
	for _, c := range []struct {
		claims    []workload.Claim
		at, start int64
		want      float64
	}{
		{claims[:1], 199, 199, 0}, // the claim begins to hold while the work runs
		{claims[:1], 500, 500, 0}, // it holds
		{claims[:1], 1700, 1700, 1},
		{claims[:1], 1700, 300, 1}, // it waits for what is held, and takes nothing from the claim
		{claims[:1], 1700, 200, 0}, // it would have the processors first
		{claims[1:], 1000, 301, 1},
		{claims[1:], 1000, 300, 0},
	} {
		room := b.room(four, 0, opening+c.at, c.claims)
		if got := room.Within(opening+c.start, opening+c.start); math.Abs(got-c.want) > .05 {
			t.Errorf("%+v: %v of %+v", c, got, room)
		}
	}
}

// TestRoomInPartition: the nodes of a partition are not enough where others of its pool are free;
// those of the pool are not where others run.
func TestRoomInPartition(t *testing.T) {
	b := sit(func(at workload.Place) Pool {
		p := Pool{Name: "all", Size: workload.Size{CPUs: 8}, Own: workload.Size{CPUs: 8}}
		if at.Partition == "short" {
			p.Own.CPUs = 2
		}
		return p
	})
	in := func(partition string, procs int32) workload.Claim {
		c := claim(procs, opening)
		c.Partition = partition
		return c
	}
	for _, c := range []struct {
		claims []workload.Claim
		short  float64
	}{
		{[]workload.Claim{in("short", 1)}, 1},
		{[]workload.Claim{in("short", 2)}, 0},
		{[]workload.Claim{in("main", 6)}, 1},
		{[]workload.Claim{in("main", 7), in("short", 1)}, 0},
	} {
		r := request(1, run)
		r.Partition = "short"
		if got := b.room(r, 0, opening, c.claims).Prob; got != c.short {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// nodes returns nodes of four CPUs.
func nodes(names ...string) []Node {
	var list []Node
	for _, name := range names {
		list = append(list, Node{name, workload.Size{Nodes: 1, CPUs: 4}})
	}
	return list
}

// TestRoomWhereJobsRun: a job takes room in each partition that has its nodes.
func TestRoomWhereJobsRun(t *testing.T) {
	b := sit(func(at workload.Place) Pool {
		p := Pool{Name: "all", Size: workload.Size{Nodes: 4, CPUs: 16}, Own: workload.Size{Nodes: 4, CPUs: 16}, Nodes: nodes("a", "b", "c", "d")}
		if at.Partition == "short" {
			p.Own, p.Nodes = workload.Size{Nodes: 2, CPUs: 8}, nodes("a", "b")
		}
		return p
	})
	j := b.start(opening, b.submit(opening, 8, 1000)) // in another partition
	r := request(1, run)
	r.Partition = "short"
	for _, c := range []struct {
		nodes []string
		procs int32
		want  float64
	}{
		{nil, 4, 1}, // it may have any four nodes, and the partition half of them
		{nil, 5, 0},
		{[]string{"c", "d"}, 8, 1},
		{[]string{"b", "c"}, 4, 1},
		{[]string{"b", "c"}, 5, 0},
		{[]string{"a", "b"}, 1, 0},
	} {
		b.place(j, c.nodes...)
		r.CPUs = c.procs
		if got := b.room(r, 0, opening, nil).Prob; math.Abs(got-c.want) > .05 {
			t.Errorf("on %v: room for %d with probability %v", c.nodes, c.procs, got)
		}
	}
}

// TestRoomWhereNodesAreReserved: a node that one of Slurm's reservations has is taken once,
// whatever runs on it.
func TestRoomWhereNodesAreReserved(t *testing.T) {
	nodes := nodes("a", "b", "c", "d")
	b := sit(func(at workload.Place) Pool {
		p := Pool{Name: "all", Size: workload.Size{Nodes: 4, CPUs: 16}, Own: workload.Size{Nodes: 4, CPUs: 16}, Nodes: nodes}
		if at.Partition == "short" {
			p.Own, p.Nodes = workload.Size{Nodes: 3, CPUs: 12}, nodes[1:]
		}
		return p
	})
	j := b.start(opening, b.submit(opening, 8, 10_000))
	b.place(j, "b", "c")
	for _, c := range []struct {
		partition string
		reserved  []string
		procs     int32
		at        int64 // since opening
		sure      bool
	}{
		{"", []string{"d"}, 4, 0, true},
		{"", []string{"d"}, 5, 0, false},
		{"", []string{"c", "d"}, 4, 0, true},
		{"", []string{"c", "d"}, 5, 0, false},
		{"", []string{"b", "c"}, 8, 0, true},
		{"", []string{"b", "c"}, 9, 0, false},
		{"", []string{"b", "c"}, 8, 1000, true}, // the reservation is over
		{"", []string{"b", "c"}, 9, 1000, false},
		{"", []string{"b", "c"}, 8, -700, true}, // it begins while the work runs
		{"", []string{"b", "c"}, 9, -700, false},
		{"short", []string{"b"}, 4, 0, true},
		{"short", []string{"b"}, 5, 0, false},
		{"short", []string{"d"}, 1, 0, false},
	} {
		slurms := workload.Claim{
			Request: workload.Request{Partition: c.partition, Size: workload.Size{Nodes: int32(len(c.reserved)), CPUs: 4 * int32(len(c.reserved))}, Limit: 1000},
			Start:   opening + 1000, From: opening + 1000, Names: c.reserved,
		}
		r := request(c.procs, run)
		r.Partition = c.partition
		if got := b.room(r, 0, opening+1000+c.at, []workload.Claim{slurms}).Prob; got == 1 != c.sure {
			t.Errorf("%+v: room with probability %v", c, got)
		}
	}
}

// TestRoomWhereCoresAreReserved: a reservation of some CPUs of a node takes these beside the job
// that runs there, and no other's.
func TestRoomWhereCoresAreReserved(t *testing.T) {
	four := workload.Size{Nodes: 2, CPUs: 8}
	b := sit(func(workload.Place) Pool { return Pool{Name: "all", Size: four, Own: four, Nodes: nodes("a", "b")} })
	j := b.start(opening, b.submit(opening, 2, 10_000))
	b.place(j, "a")
	slurms := func(name string) []workload.Claim {
		size := workload.Size{CPUs: 2}
		return []workload.Claim{{
			Request: workload.Request{Size: workload.Size{Nodes: 1, CPUs: 2}, Limit: 1000}, Pieces: workload.Pieces{Count: 1, Each: size},
			Start: opening + 1000, From: opening + 1000, Names: []string{name},
		}}
	}
	for _, c := range []struct {
		node  string
		nodes int32
		cpus  int32 // of each
		sure  bool
	}{{"a", 1, 4, true}, {"b", 1, 2, true}, {"b", 2, 2, true}, {"a", 2, 1, false}, {"b", 1, 3, false}, {"b", 2, 3, false}} {
		r := request(c.nodes*c.cpus, run)
		r.Nodes = c.nodes
		claim := workload.Claim{Request: *r, Pieces: workload.Pieces{Count: c.nodes, Each: workload.Size{CPUs: c.cpus}}, From: opening + 1000}
		if got := b.roomFor(claim, slurms(c.node)).Prob; got == 1 != c.sure {
			t.Errorf("%+v: room with probability %v", c, got)
		}
	}
}

// TestRoomForMemory: memory runs out though processors are left.
func TestRoomForMemory(t *testing.T) {
	b := sit(func(workload.Place) Pool { return Pool{Name: "all", Size: workload.Size{CPUs: 8, Memory: 1000}} })
	c, r := claim(1, opening), request(1, run)
	c.Memory = 600
	for memory, want := range map[int64]float64{0: 1, 400: 1, 401: 0} {
		r.Memory = memory
		if got := b.room(r, 0, opening, []workload.Claim{c}).Prob; got != want {
			t.Errorf("%d MiB: %v", memory, got)
		}
	}
}

// TestRoomBesideManyClaims: a conflict is found behind many claims that are none.
func TestRoomBesideManyClaims(t *testing.T) {
	b := rooms()
	var claims []workload.Claim
	for i := range int64(200) {
		small := claim(1, opening+i)
		small.Limit = 1
		claims = append(claims, small)
	}
	if got := b.room(request(2, run), 0, opening, claims).Prob; got != 1 {
		t.Errorf("beside small claims: %v", got)
	}
	if got := b.room(request(2, run), 0, opening, append(claims, claim(8, opening+2))).Prob; got > .05 {
		t.Errorf("and a large one: %v", got)
	}
}

// TestRoomBehindSqueezes: nor do many claims hide it that may be squeezed by a job that runs.
func TestRoomBehindSqueezes(t *testing.T) {
	b := rooms()
	b.start(opening-10, b.submit(opening-10, 7, 100_000))
	var claims []workload.Claim
	for i := range int64(40) {
		small := claim(1, opening+5000+i*10)
		small.Limit = 1
		claims = append(claims, small)
	}
	four := request(4, 3600)
	before := b.room(four, 0, opening+4900, claims).Prob
	after := b.room(four, 0, opening+4900, append(claims, claim(5, opening+6000))).Prob
	if before == 0 || after != 0 {
		t.Errorf("room with probability %v, beside a large claim %v", before, after)
	}
}

// TestRoomBehindEarlierSqueezes: nor do many times at which more would be missing, before the work
// begins.
func TestRoomBehindEarlierSqueezes(t *testing.T) {
	b := rooms()
	var claims []workload.Claim
	for i := range int64(17) {
		whole := claim(8, opening+100+i*100)
		whole.Limit = 50
		claims = append(claims, whole)
	}
	claims = append(claims, claim(5, opening+11_000))
	if got := b.room(request(4, 3600), 0, opening+10_000, claims).Prob; got != 0 {
		t.Errorf("beside a claim of 5 of 8 processors, 4 have room with probability %v", got)
	}
}

// TestRoomOfClaimThatRuns: a promised job that runs already holds its processors until its work is
// over, and counts once.
func TestRoomOfClaimThatRuns(t *testing.T) {
	b := rooms()
	j := b.start(opening-100, b.submit(opening-100, 6, 4000))
	mine := claim(6, opening+2000)
	mine.Job, mine.Start = j.ID, opening-100
	for _, c := range []struct {
		procs int32
		at    int64
		want  float64
	}{{2, 0, 1}, {3, 0, 0}, {3, 1999, 0}, {3, 2000, 0}, {3, 2000 + run, 1}} {
		if got := b.room(request(c.procs, run), 0, opening+c.at, []workload.Claim{mine}).Prob; math.Abs(got-c.want) > .05 {
			t.Errorf("%d processors after %d s: room with probability %.3f, want %v", c.procs, c.at, got, c.want)
		}
	}
	if got := b.room(request(8, run), j.ID, opening+2000, []workload.Claim{mine}).Prob; got != 1 {
		t.Errorf("in its own way: %v", got)
	}
	// of the work that has begun; until when it may run
	for _, c := range []struct{ from, limit, free int64 }{
		{opening - 90, run, opening - 90 + run},
		{opening - 90, 700, opening - 90 + run}, // as much as limits are rounded up to
		{opening - 90, 4000, opening - 100 + 4000},
		{opening - 30, 4000, opening - 30 + run}, // varq-wrapper is about to trim it
	} {
		j.Limit, mine.From = c.limit, c.from
		b.q.Change(&j)
		b.w.Changed(&j)
		if before, then := b.room(request(3, run), 0, c.free-1, []workload.Claim{mine}).Prob, b.room(request(3, run), 0, c.free, []workload.Claim{mine}).Prob; before == 1 || then != 1 {
			t.Errorf("%+v: room with probability %.3f just before, and %.3f then", c, before, then)
		}
	}
}

// TestRoomAgainstDraws: the probability of room is that of drawn run times.
func TestRoomAgainstDraws(t *testing.T) {
	b := rooms()
	for _, age := range []int64{50, 200, 400, 600} {
		b.start(opening-age, b.submit(opening-age, 2, 3600+age)) // no two are alike
	}
	random := rand.New(rand.NewPCG(3, 3))
	last := 0.
	for at := int64(0); at < 1500; at += 150 {
		const draws = 4000
		n := 0
		s := b.w.Snapshot(request(4, run), opening, 0)
		for range draws {
			s.Draw(random)
			taken := int32(0)
			for _, r := range s.Running {
				if r.End > opening+at {
					taken += r.Procs
				}
			}
			if taken <= 4 {
				n++
			}
		}
		got, want := b.room(request(4, run), 0, opening+at, nil).Prob, float64(n)/draws
		if math.Abs(got-want) > .04 || got < last {
			t.Errorf("after %d s: room with probability %.3f, %.3f of the draws; before, %.3f", at, got, want, last)
		}
		last = got
	}
	if last < .95 {
		t.Errorf("in the end: %v", last)
	}
}

// crowded returns a pool of 20,000 processors on which 2,000 jobs run, and 200 promises beside
// them.
func crowded(procs int32) (s *bench, promises []workload.Claim) {
	s = sit(poolOf(20_000))
	random := rand.New(rand.NewPCG(4, 4))
	for range 2000 {
		s.start(opening-random.Int64N(3000), s.submit(opening-3000, procs, 3600))
	}
	for i := range int64(200) {
		promises = append(promises, claim(4, opening+i*60))
	}
	return s, promises
}

// BenchmarkRoom: 2,000 jobs take a pool, and 200 promises were made. It measures a first question,
// and others after it.
func BenchmarkRoom(b *testing.B) {
	s, claims := crowded(10)
	c := workload.Claim{Request: *request(400, 3600), From: opening + 900}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			s.roomFor(c, claims)
		}
	})
	b.Run("next", func(b *testing.B) {
		o := s.w.Occupants(workload.Place{}, 0, opening, claims)
		for b.Loop() {
			o.Room(&c, 0)
		}
	})
}

// bigSite returns a pool of 2,000 nodes of 16 CPUs with 5,000 jobs on them, and 2,000 promises of
// the next six days.
func bigSite() (s *bench, promises []workload.Claim) {
	var list []Node
	for i := range 2000 {
		list = append(list, Node{fmt.Sprint("node", i), workload.Size{Nodes: 1, CPUs: 16}})
	}
	size := workload.Size{Nodes: 2000, CPUs: 32_000}
	s = sit(func(workload.Place) Pool { return Pool{Name: "all", Size: size, Own: size, Nodes: list} })
	random := rand.New(rand.NewPCG(4, 4))
	for range 5000 {
		j := s.start(opening-random.Int64N(3000), s.submit(opening-3000, 6, 3600+random.Int64N(24*3600)))
		s.place(j, list[random.IntN(2000)].Name)
	}
	for range 2000 {
		c := asks(1, each(1, 1+random.Int32N(12)))
		c.Limit, c.From = 6*3600, opening+random.Int64N(6*24*3600)
		c.Start = c.From - 300
		promises = append(promises, c)
	}
	return s, promises
}

// BenchmarkRoomAtBigSite measures what a plan asks at a big site: its preparation, a first
// question, and one for each half hour of six days.
func BenchmarkRoomAtBigSite(b *testing.B) {
	s, claims := bigSite()
	c := asks(1, each(1, 8))
	c.Limit = 6 * 3600
	b.Run("occupants", func(b *testing.B) {
		for b.Loop() {
			s.w.Occupants(workload.Place{}, 0, opening, claims)
		}
	})
	b.Run("first", func(b *testing.B) {
		o := s.w.Occupants(workload.Place{}, 0, opening, claims)
		for b.Loop() {
			o.last = nil
			o.Room(&c, 0)
		}
	})
	b.Run("six-days", func(b *testing.B) {
		o := s.w.Occupants(workload.Place{}, 0, opening, claims)
		for b.Loop() {
			for half := range int64(6 * 48) {
				c.From = opening + half*1800
				o.Room(&c, 0)
			}
		}
	})
}
