package features

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// walked is what waits, as one pass over all tasks finds it: slow, and so simple that it is taken
// to be right.
func walked(pending []task, t *task, now int64) (a ahead) {
	for i := range pending {
		p := &pending[i]
		if p.id == t.id {
			continue
		}
		age := float64(now - p.since)
		work := p.count * p.cpus * p.expected
		a.count += p.count
		a.cpus += p.count * p.cpus
		a.asked += p.count * p.cpus * float64(p.limit)
		a.expected += work
		a.oldest = max(a.oldest, age)
		a.largest = max(a.largest, p.cpus)
		if p.cpus <= t.cpus {
			a.ahead += work
		}
		if p.part == t.part {
			a.part.expected += work
			a.part.oldest = max(a.part.oldest, age)
		}
		if p.line == t.line {
			a.line.count += p.count
			a.line.expected += work
			a.line.oldest = max(a.line.oldest, age)
			if p.cpus <= t.cpus && p.limit <= t.limit {
				a.smaller = max(a.smaller, age)
			}
			if p.cpus >= t.cpus && p.limit >= t.limit {
				a.larger = max(a.larger, age)
			}
			if p.cell == t.cell {
				a.alike = max(a.alike, age)
			}
		}
		if p.user == t.user {
			a.own.count += p.count
			a.own.oldest = max(a.own.oldest, age)
			a.own.asked += p.count * float64(p.limit)
			a.own.expected += p.count * p.expected
		}
	}
	return a
}

// TestWaitingIsWalked compares the sums of waiting, while jobs come, change and go, with those of a
// walk over them.
func TestWaitingIsWalked(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	w := newWaiting()
	var pending []task
	draw := func(id int64) task {
		line := random.Int32N(3)
		cpus, limit := float64(int(1)<<random.IntN(4)), 600*(1+random.Int64N(3))
		return task{
			id: id, count: float64(1 + random.IntN(2)*random.IntN(5)), since: 1000 + random.Int64N(50), limit: limit, cpus: cpus,
			expected: float64(random.IntN(1<<20)) / parts, user: random.Int32N(4), part: line / 2, line: line, cell: 2*line + int32(limit/1500),
		}
	}
	for id := range int64(3000) {
		if len(pending) < 60 && random.IntN(2) == 0 || len(pending) == 0 {
			k := draw(id)
			pending = append(pending, k)
			w.add(&k)
		} else if i := random.IntN(len(pending)); random.IntN(3) == 0 {
			pending[i].count = float64(1 + random.IntN(9))
			w.resize(pending[i].id, int64(pending[i].count))
		} else {
			w.remove(pending[i].id)
			pending = slices.Delete(pending, i, i+1)
		}
		asking := draw(-1)
		if len(pending) > 0 && random.IntN(2) == 0 {
			asking = pending[random.IntN(len(pending))]
		}
		if got, want := w.ahead(&asking, 1040), walked(pending, &asking, 1040); !near(got, want) {
			t.Fatalf("%+v, want %+v", got, want)
		}
		snapshot := w.snapshot()
		asking.id = -1
		if got, want := snapshot.ahead(&asking, 1040), walked(pending, &asking, 1040); !near(got, want) {
			t.Fatalf("a snapshot: %+v, want %+v", got, want)
		}
	}
}

// near reports whether two are equal but for the rounding of sums.
func near(a, b ahead) bool {
	for _, of := range []func(*ahead) *float64{
		func(a *ahead) *float64 { return &a.expected }, func(a *ahead) *float64 { return &a.line.expected },
		func(a *ahead) *float64 { return &a.part.expected }, func(a *ahead) *float64 { return &a.own.expected },
		func(a *ahead) *float64 { return &a.ahead },
	} {
		x, y := of(&a), of(&b)
		if math.Abs(*x-*y) > 1e-9*max(*x, *y) {
			return false
		}
		*x = *y
	}
	return a == b
}
