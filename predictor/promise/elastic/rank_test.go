package elastic

import (
	"cmp"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// made returns slots of sites as they may be: sizes of several nodes, starts over two weeks in
// whole minutes or seconds, costs by work and time of day.
func made(sites, slots int, step int64) [][]Slot {
	random := rand.New(rand.NewPCG(1, 2))
	const now = 1_800_000_000
	answers := make([][]Slot, sites)
	for i := range answers {
		site := "site" + string(rune('A'+i%26)) + string(rune('a'+i/26))
		price := .5 + random.Float64()
		answers[i] = make([]Slot, slots)
		for j := range answers[i] {
			nodes := int32(1) << random.IntN(8)
			limit := 86400 / int64(nodes)
			start := now + random.Int64N(14*86400/step)*step
			answers[i][j] = Slot{Site: site, Start: start, End: start + limit, Nodes: nodes, Limit: limit,
				Cost: price * float64(nodes) * float64(limit) * (.5 + .5*random.Float64()), Prob: float64(random.IntN(101)) / 100}
		}
	}
	return answers
}

// naive is Rank by one comparison of everything.
func naive(answers [][]Slot, prefer Preferences, minProb float64) [][]Slot {
	var all []*Slot
	for _, slots := range answers {
		for i := range slots {
			if slots[i].Prob >= minProb {
				all = append(all, &slots[i])
			}
		}
	}
	var values []func(*Slot) float64
	for _, p := range prefer {
		values = append(values, p.By.of())
	}
	by := func(a, b *Slot) int {
		for i, p := range prefer {
			c := cmp.Compare(values[i](a), values[i](b))
			if p.Most {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	}
	slices.SortFunc(all, func(a, b *Slot) int { return cmp.Or(by(a, b), a.compare(b)) })
	var groups [][]Slot
	for i, s := range all {
		if i == 0 || by(all[i-1], s) != 0 {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], *s)
	}
	return groups
}

func collect(ranked iter.Seq[[]*Slot]) (groups [][]Slot) {
	for group := range ranked {
		var slots []Slot
		for _, s := range group {
			slots = append(slots, *s)
		}
		groups = append(groups, slots)
	}
	return groups
}

func preferences(t testing.TB, text string) Preferences {
	t.Helper()
	p, err := ParsePreferences(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRankAsNaive(t *testing.T) {
	for name, answers := range map[string][][]Slot{
		"none":    nil,
		"no slot": {{}, nil},
		"one":     made(1, 1, 60),
		"few":     made(3, 21, 3600),
		"many":    made(7, 300, 3600),
		"seconds": made(3, 400, 1),
		"equal":   {made(1, 1, 60)[0], slices.Repeat(made(1, 1, 60)[0], 1200)},
	} {
		for _, text := range []string{"end", "end,cost,-prob", "-prob,nodes", "nodes,-start", "work,time", "cost,-end", "-cost"} {
			for _, minProb := range []float64{0, .5, 1} {
				prefer := preferences(t, text)
				ranked := Rank(answers, prefer, minProb)
				want := naive(answers, prefer, minProb)
				if diff := gocmp.Diff(want, collect(ranked)); diff != "" {
					t.Fatalf("%s by %s at %v:\n%s", name, text, minProb, diff)
				}
				if diff := gocmp.Diff(want, collect(ranked)); diff != "" {
					t.Errorf("%s by %s at %v, a second time:\n%s", name, text, minProb, diff)
				}
			}
		}
	}
}

// TestRankSpread: values of all magnitudes, of which most share a bucket at first.
func TestRankSpread(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	slots := made(1, 3000, 60)[0]
	for i := range slots {
		slots[i].Cost = math.Ldexp(random.Float64(), -random.IntN(1000))
		if i%10 == 0 {
			slots[i].Cost = math.Copysign(0, float64(i%20)-5)
		}
	}
	for _, text := range []string{"cost,start", "-cost"} {
		prefer := preferences(t, text)
		if diff := gocmp.Diff(naive([][]Slot{slots}, prefer, 0), collect(Rank([][]Slot{slots}, prefer, 0))); diff != "" {
			t.Errorf("by %s:\n%s", text, diff)
		}
	}
}

// TestRankCrowded: most slots share a bucket, with more of them than a bucket's numbers tell apart,
// and many that differ share what there is room for.
func TestRankCrowded(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	answers := made(3, 12_000, 60)
	for _, slots := range answers {
		for i := range slots {
			slots[i].Cost = 1e6 + float64(random.IntN(3))*math.Ldexp(1, -30)
			slots[i].Prob = .5 + float64(random.IntN(300))/1e6 + float64(random.IntN(2))*math.Ldexp(1, -53)
		}
	}
	answers[0][0].Cost, answers[1][0].Cost, answers[2][0].Prob = 0, 1e300, 0
	for _, text := range []string{"cost,prob,end", "-prob,cost,-start", "prob,-cost,nodes", "cost"} {
		prefer := preferences(t, text)
		if diff := gocmp.Diff(naive(answers, prefer, 0), collect(Rank(answers, prefer, 0))); diff != "" {
			t.Errorf("by %s: they differ", text)
		}
	}
}

// TestRankOrderOfSites: the order does not depend on who answers first.
func TestRankOrderOfSites(t *testing.T) {
	answers := made(5, 200, 7200)
	prefer := preferences(t, "end,nodes")
	want := collect(Rank(answers, prefer, 0))
	slices.Reverse(answers)
	for _, slots := range answers {
		slices.Reverse(slots)
	}
	if diff := gocmp.Diff(want, collect(Rank(answers, prefer, 0))); diff != "" {
		t.Error(diff)
	}
}

func TestRankBreaksOff(t *testing.T) {
	answers := made(5, 200, 60)
	prefer := preferences(t, "end,cost")
	want := naive(answers, prefer, 0)
	for n := 1; n < len(want); n += 50 {
		var got [][]Slot
		for group := range Rank(answers, prefer, 0) {
			if got = append(got, []Slot{*group[0]}); len(got) == n {
				break
			}
		}
		if len(got) != n || got[n-1][0] != want[n-1][0] {
			t.Errorf("%d groups, the last %v, want %v", len(got), got[n-1], want[n-1])
		}
	}
}

// BenchmarkRank: a hundred sites answer with ten thousand slots each. The best are what Reserve
// asks for; all take some 90 ms of processor time, nearly all of it on as many processors as there
// are.
func BenchmarkRank(b *testing.B) {
	for _, c := range []struct {
		name, prefer string
		step         int64
	}{
		{"minutes", "end,cost,-prob", 60}, {"seconds", "end,cost,-prob", 1}, {"cost", "cost,end", 60}, {"nodes", "-nodes,end,cost", 60}, {"prob", "-prob,end,cost", 60},
	} {
		answers := made(100, 10_000, c.step)
		prefer := preferences(b, c.prefer)
		for _, most := range []int{100, 1 << 30} {
			name := c.name + "/all"
			if most == 100 {
				name = c.name + "/best"
			}
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					n := 0
					for group := range Rank(answers, prefer, 0) {
						if n += len(group); n >= most {
							break
						}
					}
				}
			})
		}
	}
}
