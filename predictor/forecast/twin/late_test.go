package twin

import (
	"math"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// TestRoomBesidePlainJobs: plain jobs leave room for who has processors before they are eligible,
// and take it from who has not.
func TestRoomBesidePlainJobs(t *testing.T) {
	plain := func(procs int32, from int64) workload.Claim {
		c := claim(procs, from)
		c.Plain = true
		return c
	}
	held := claim(6, opening+900)
	held.Start = opening + 500
	for name, c := range map[string]struct {
		claims    []workload.Claim
		at, start int64
		want      float64
	}{
		"nodes before":                {[]workload.Claim{plain(5, opening+200)}, 400, 199, 1},
		"nodes when it is eligible":   {[]workload.Claim{plain(5, opening+200)}, 400, 200, 0},
		"nodes after it":              {[]workload.Claim{plain(5, opening+200)}, 400, 300, 0},
		"work after its limit":        {[]workload.Claim{plain(5, opening+200)}, 200 + run, 300, 1},
		"eligible after the work":     {[]workload.Claim{plain(5, opening+500)}, 400, 400, 1},
		"beside it":                   {[]workload.Claim{plain(4, opening+200)}, 400, 300, 1},
		"two":                         {[]workload.Claim{plain(3, opening+200), plain(2, opening+300)}, 400, 300, 0},
		"between two":                 {[]workload.Claim{plain(3, opening+200), plain(2, opening+300)}, 400, 299, 1},
		"and a promise":               {[]workload.Claim{plain(3, opening+300), claim(2, opening+200)}, 400, 300, 0},
		"before it, and a promise":    {[]workload.Claim{plain(3, opening+300), claim(2, opening+200)}, 400, 250, 1},
		"a promise gets nodes later":  {[]workload.Claim{plain(1, opening+200), held}, 400, 300, 0},
		"many, of which each is late": {slices.Repeat([]workload.Claim{plain(5, opening+200)}, 100), 400, 199, 1},
	} {
		four := request(4, run)
		if name == "a promise gets nodes later" {
			four = request(2, run)
		}
		room := rooms().room(four, 0, opening+c.at, c.claims)
		if got := room.Within(opening+c.start, opening+c.start); math.Abs(got-c.want) > .05 {
			t.Errorf("%s: %v of %+v", name, got, room)
		}
	}
	room := rooms().room(request(4, run), 0, opening+400, []workload.Claim{plain(5, opening+200)})
	if last, ok := room.Last(.9); !ok || last != opening+199 || !slices.Contains(room.Next, opening+200+run) {
		t.Errorf("by %d, %v; %+v", last, ok, room)
	}
	if last, ok := room.Last(0); ok {
		t.Errorf("whatever the room: by %d", last)
	}
}

// TestHugePlainJob: a job of more nodes than can be counted leaves no room, wherever jobs have
// their nodes alone.
func TestHugePlainJob(t *testing.T) {
	b := sit(func(workload.Place) Pool {
		return Pool{Name: "all", Size: workload.Size{Nodes: 4, CPUs: 16}, WholeNodes: true}
	})
	huge := workload.Claim{Plain: true, Start: opening + 100, From: opening + 100, Pieces: whole(math.MaxInt32)}
	huge.Request = workload.Request{Size: workload.Size{Nodes: math.MaxInt32, CPUs: 1}, Limit: run}
	node := &workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 100}
	if room := b.room(node, 0, opening+200, []workload.Claim{huge, huge}); room.Within(opening+200, opening+200) != 0 {
		t.Errorf("%+v", room)
	}
}

// TestManyPlainJobs: of more times than are told apart, no bound is higher than the exact one.
func TestManyPlainJobs(t *testing.T) {
	var claims []workload.Claim
	for i := range int64(8 * 3) {
		c := claim(1, opening+i)
		c.Plain, c.Limit = true, 10*run
		claims = append(claims, c)
	}
	room := rooms().room(request(1, run), 0, opening+100, claims)
	if len(room.Late) > mostLate || len(room.Late) == 0 {
		t.Errorf("%+v", room)
	}
	if got := room.Within(opening-1, opening-1); got != 1 {
		t.Errorf("before all of them: %v", got)
	}
	for i := range int64(8 * 3) {
		exact := 1.
		if i >= 7 {
			exact = 0
		}
		if got := room.Within(opening+i, opening+i); got > exact {
			t.Errorf("%d s later: %v, want %v at most", i, got, exact)
		}
	}
}

// BenchmarkRoomBesidePlainJobs measures a question beside 2,000 jobs, 200 promises and 1,000 plain
// jobs that wait for their begin time.
func BenchmarkRoomBesidePlainJobs(b *testing.B) {
	s, claims := crowded(5)
	for i := range int64(1000) {
		c := claim(8, opening+i*3)
		c.Plain, c.Limit = true, 7200
		claims = append(claims, c)
	}
	o := s.w.Occupants(workload.Place{}, 0, opening, claims)
	for b.Loop() {
		o.Room(&workload.Claim{Request: *request(14_000, 3600), From: opening + 3600}, 0)
	}
}
