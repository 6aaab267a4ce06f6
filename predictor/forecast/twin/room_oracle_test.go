package twin

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/varq-project/varq/predictor/workload"
)

// slowly is Room, with everything counted anew for each time.
func (o *Occupants) slowly(c *workload.Claim, least float64) workload.Room {
	everyone := func(*occupant) bool { return true }
	missing := func(first int, at int64, counts func(*occupant) bool) (sure, all int64) {
		sure, all = math.MinInt64, math.MinInt64
		for _, d := range o.demands(c) {
			for i := range o.list[:first] {
				if by := &o.list[i]; by.has(at) && counts(by) {
					d.change(by, true)
				}
			}
			s, a := d.missing()
			sure, all = max(sure, s), max(all, a)
		}
		return sure, all
	}
	leave := func(first int, at int64) float64 {
		prob := 1.
		for _, d := range o.demands(c) {
			prob = min(prob, d.room(o.list[:first], at))
		}
		return prob
	}
	changes := func(counts func(*occupant) bool) (times []int64) {
		for i := range o.list {
			if by := &o.list[i]; by.start < by.until && counts(by) {
				times = append(times, by.start, by.until)
			}
		}
		slices.Sort(times)
		return slices.Compact(times)
	}
	squeezes := func(first int, after, before int64) []int64 {
		type squeeze struct{ at, sure, all int64 }
		var found []squeeze
		for _, at := range changes(everyone) {
			begins := slices.ContainsFunc(o.list[:first], func(by occupant) bool { return by.start == at && at < by.until })
			if sure, all := missing(first, at, everyone); begins && at > after && at < before && all > 0 {
				found = append(found, squeeze{at, max(0, sure), all})
			}
		}
		slices.SortStableFunc(found, func(a, b squeeze) int { return cmp.Or(cmp.Compare(b.sure, a.sure), cmp.Compare(b.all, a.all)) })
		at := []int64{}
		for _, s := range found[:min(mostSqueezes, len(found))] {
			at = append(at, s.at)
		}
		slices.Sort(at)
		return at
	}
	during := func(first int) float64 {
		prob := leave(first, c.From)
		for _, at := range squeezes(first, c.From, c.From+c.Limit) {
			prob = min(prob, leave(first, at))
		}
		return prob
	}
	opening := func(counts func(*occupant) bool) (int64, bool) {
		times := changes(counts)
		for i, at := range times {
			fits := at > c.From
			for k := i; fits && k < len(times) && (k == i || times[k] < at+c.Limit); k++ {
				_, all := missing(len(o.list), times[k], counts)
				fits = all <= 0
			}
			if fits {
				return at, true
			}
		}
		return 0, false
	}

	room := workload.Room{Prob: leave(o.plain, c.From)}
	if room.Prob > 0 && room.Prob >= least {
		for _, at := range squeezes(o.plain, o.now, c.From) {
			room.Holding = append(room.Holding, workload.Hold{At: at, Prob: leave(o.plain, at)})
		}
		room.Prob = during(o.plain)
		last := o.plain
		for last < len(o.list) && o.list[last].start <= c.From {
			last++
		}
		prob, step := room.Prob, (last-o.plain+mostLate-1)/mostLate
		for i := o.plain; i < last; {
			at := o.list[i].start
			for i = min(i+step, last); i < last && o.list[i].start == o.list[i-1].start; {
				i++
			}
			if left := during(i); left < prob {
				prob = left
				room.Late = append(room.Late, workload.Hold{At: at, Prob: left})
			}
		}
	}
	if room.Within(c.From, c.From) < 1 {
		for _, counts := range []func(*occupant) bool{func(by *occupant) bool { return by.runtime == nil }, everyone} {
			if at, ok := opening(counts); ok && !slices.Contains(room.Next, at) {
				room.Next = append(room.Next, at)
			}
		}
	}
	return room
}

// mixed returns a pool of some nodes with jobs on them, and claims of all kinds.
func mixed(random *rand.Rand) (*bench, []workload.Claim) {
	var list []Node
	n := 3 + random.IntN(10)
	size := workload.Size{Nodes: int32(n)}
	for i := range n {
		list = append(list, Node{fmt.Sprint("node", i), workload.Size{Nodes: int32(min(1, random.IntN(9))), CPUs: 4 + 4*random.Int32N(3)}})
		size.CPUs += list[i].CPUs
	}
	own := size
	if random.IntN(3) == 0 {
		own.CPUs, own.Nodes = own.CPUs/2, own.Nodes/2
	}
	b := sit(func(workload.Place) Pool {
		return Pool{Name: "all", Size: size, Own: own, Nodes: list, WholeNodes: random.IntN(5) == 0}
	})
	for range random.IntN(4 * n) {
		j := b.start(opening-random.Int64N(3000), b.submit(opening-3000, 1+random.Int32N(6), 600+random.Int64N(6000)))
		if random.IntN(4) > 0 {
			b.place(j, list[random.IntN(n)].Name)
		}
	}
	var claims []workload.Claim
	for range random.IntN(30) {
		c := asks(1, each(1, 1+random.Int32N(8)))
		switch random.IntN(6) {
		case 0:
			c = asks(2, whole(2))
		case 1:
			c.Pieces = workload.Pieces{}
		case 2:
			c.Names = []string{list[random.IntN(n)].Name}
			if random.IntN(2) == 0 {
				c.Pieces = workload.Pieces{}
			}
		case 3:
			c.Job = 1 + random.Int64N(int64(4*n))
		}
		c.Limit = 60 + random.Int64N(3000)
		c.From = opening - 200 + random.Int64N(8000)
		c.Start = c.From - random.Int64N(400)
		if random.IntN(4) == 0 {
			c.Plain, c.Start = true, c.From
		}
		claims = append(claims, c)
	}
	return b, claims
}

// TestRoomAgainstOracle: many questions to the same occupants are answered as if everything were
// counted anew.
func TestRoomAgainstOracle(t *testing.T) {
	const eps = 1e-12
	kinds := map[string]int{}
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 9))
		b, claims := mixed(random)
		o := b.w.Occupants(workload.Place{}, 0, opening, claims)
		for range 20 {
			c := [...]workload.Claim{asks(1, each(1, 1+random.Int32N(8))), asks(2, whole(2)), asks(2, each(2, 3)), asks(1, each(3, 2))}[random.IntN(4)]
			c.Limit, c.From = 60+random.Int64N(3000), opening+random.Int64N(8000)
			least := max(0, random.Float64()-.5)
			got, want := o.Room(&c, least), o.slowly(&c, least)
			if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateApprox(0, eps)); diff != "" {
				t.Fatalf("seed %d, %+v, least %v: %s", seed, c, least, diff)
			}
			for kind, is := range map[string]bool{"late": len(got.Late) > 0, "next": len(got.Next) > 0, "holding": len(got.Holding) > 0, "unsure": got.Prob > 0 && got.Prob < 1} {
				if is {
					kinds[kind]++
				}
			}
		}
	}
	if len(kinds) < 4 {
		t.Errorf("not all kinds of room were found: %v", kinds)
	}
}
