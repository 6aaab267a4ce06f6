package elastic

// Tests of what Röblitz, Schintke and Wendler (2005) state, by section.

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// figure5 returns the slots of section 3.3.1's example, <site, start, end, np, costs>.
func figure5() [][]Slot {
	slot := func(site string, start, end int64, nodes int32, cost float64) Slot {
		return Slot{Site: site, Start: start, End: end, Nodes: nodes, Cost: cost, Prob: 1}
	}
	return [][]Slot{
		{slot("A", 0, 4, 8, 10), slot("A", 1, 4, 16, 15), slot("A", 2, 6, 8, 9), slot("A", 3, 6, 16, 13)},
		{slot("B", 1, 4, 8, 12), slot("B", 2, 4, 16, 16), slot("B", 3, 6, 8, 8), slot("B", 4, 6, 16, 8)},
	}
}

// write draws a tree, one node a line.
func write(to *strings.Builder, n *Node, depth int) {
	for _, child := range n.Children {
		fmt.Fprintf(to, "%s%v", strings.Repeat("  ", depth), child.Value)
		for _, s := range child.Slots {
			fmt.Fprintf(to, " %s,%d", s.Site, s.Start)
		}
		to.WriteByte('\n')
		write(to, child, depth+1)
	}
}

// Figure 5: the tree by p1 = end, p2 = np, p3 = costs. Of the figure we have what its text says:
// the level of p1 has 4 and 6, that of p2 below each 8 and 16, that of p3 the costs.
func TestFigure5Tree(t *testing.T) {
	prefer := Preferences{{By: End}, {By: Nodes}, {By: Cost}}
	var got strings.Builder
	write(&got, Tree(Rank(figure5(), prefer, .85), prefer, 100), 0)
	const want = `4
  8
    10 A,0
    12 B,1
  16
    15 A,1
    16 B,2
6
  8
    8 B,3
    9 A,2
  16
    8 B,4
    13 A,3
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

// Section 3.3.2: "The resulting tree is traversed in depth-first order. For each leaf a reservation
// request is sent to the corresponding site. The GRS continues until a request succeeds or all
// reservation candidates have been tried to reserve."
func TestSection332Reserving(t *testing.T) {
	prefer := Preferences{{By: End}, {By: Nodes}, {By: Cost}}
	order := []string{"A,0", "B,1", "A,1", "B,2", "B,3", "A,2", "B,4", "A,3"}
	name := func(s *Slot) string { return fmt.Sprintf("%s,%d", s.Site, s.Start) }
	for succeeds := range len(order) + 1 {
		var tried []string
		o := Reserve(Rank(figure5(), prefer, .85), func(s *Slot) error {
			if tried = append(tried, name(s)); len(tried) == succeeds+1 {
				return nil
			}
			return fmt.Errorf("taken")
		}, 100)
		if succeeds == len(order) {
			if diff := cmp.Diff(order, tried); diff != "" || o.Taken != nil || len(o.Tried) != len(order) || o.More {
				t.Errorf("%+v\n%s", o, diff)
			}
			continue
		}
		if diff := cmp.Diff(order[:succeeds+1], tried); diff != "" || o.Taken == nil || name(o.Taken) != order[succeeds] {
			t.Errorf("%d: %+v\n%s", succeeds, o, diff)
		}
		if o.RunnerUp == nil != (succeeds == len(order)-1) || o.RunnerUp != nil && name(o.RunnerUp) != order[succeeds+1] {
			t.Errorf("after %s: %v", order[succeeds], o.RunnerUp)
		}
	}
}
