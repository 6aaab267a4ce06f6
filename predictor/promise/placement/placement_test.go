package placement

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func cluster(n int, expected func(i int) float64) []Node {
	nodes := make([]Node, n)
	for i := range nodes {
		nodes[i] = Node{fmt.Sprintf("n%02d", i), expected(i)}
	}
	return nodes
}

func names(nodes []Node) (text string) {
	for _, n := range nodes {
		text += n.Name + " "
	}
	return text
}

func TestAvoid(t *testing.T) {
	bad := func(bad ...int) func(int) float64 {
		return func(i int) float64 {
			for k, b := range bad {
				if i == b {
					return .2 + .01*float64(k)
				}
			}
			return .01
		}
	}
	for name, c := range map[string]struct {
		nodes []Node
		need  int
		want  string
	}{
		"one is risky":                    {cluster(8, bad(3)), 2, "n03 "},
		"one of two can be spared":        {cluster(8, bad(3, 4)), 2, "n04 "},
		"two of many, the riskiest first": {cluster(40, bad(3, 4)), 2, "n04 n03 "},
		"all are alike":                   {cluster(40, bad()), 2, ""},
		"the job needs nearly all":        {cluster(8, bad(3)), 4, ""},
		"all are safe":                    {cluster(40, func(i int) float64 { return 1e-6 * float64(i*i) }), 1, ""},
		"none":                            {nil, 1, ""},
		"one node":                        {cluster(1, bad(0)), 1, ""},
	} {
		if got := names(Avoid(c.nodes, c.need)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Whatever the nodes are like, as many are left as are needed twice, and what is left out is
// riskier than what stays.
func TestAvoidProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		nodes := cluster(r.IntN(100), func(int) float64 { return r.ExpFloat64() * r.ExpFloat64() * r.ExpFloat64() / 10 })
		need := 1 + r.IntN(40)
		out := Avoid(nodes, need)
		if len(out) > 0 && len(nodes)-len(out) < 2*need || 8*len(out) > len(nodes) {
			t.Fatalf("%d of %d left out for %d", len(out), len(nodes), need)
		}
		least, is := 1e9, map[string]bool{}
		for _, n := range out {
			least, is[n.Name] = min(least, n.Expected), true
		}
		for _, n := range nodes {
			if !is[n.Name] && n.Expected > least {
				t.Fatalf("%v stays, and one with %v is left out", n, least)
			}
		}
	}
}
