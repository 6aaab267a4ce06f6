package plot

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// sizes waits longer for more nodes, and runs faster there.
func sizes() *Sizes {
	return &Sizes{
		Title: "Expected time until the end, by nodes",
		Points: []SizePoint{
			{2, 900, 7446, 6987, 7963}, {4, 1800, 3900, 3752, 4077}, {8, 3600, 2127, 1999, 2264}, {16, 7200, 1240, 1050, 1425},
		},
		Best: 4,
		Runs: []SizeRun{{2, 7200}, {2, 7800}, {4, 4100}, {4, 3700}, {8, 2100}, {8, 2000}, {8, 90_000}, {1, 13_000}},
	}
}

func TestSizes(t *testing.T) {
	got := expect(t, "sizes", sizes())
	for _, want := range []string{">until the end<", ">wait<", ">run time<", ">minutes<", ">nodes<", ">2<", ">16<"} {
		if !strings.Contains(got, want) {
			t.Errorf("the picture has no %s", want)
		}
	}
	longer := sizes()
	for i := range longer.Points {
		longer.Points[i].Wait *= 10
	}
	if text := string(drawn(t, longer, "svg")); !strings.Contains(text, ">hours<") {
		t.Error("20 hours are not drawn in hours")
	}
	for i := range longer.Points {
		longer.Points[i].Wait *= 100
	}
	if text := string(drawn(t, longer, "svg")); !strings.Contains(text, ">days<") {
		t.Error("80 days are not drawn in days")
	}
}

// TestSizesMany: of many sizes only some are labelled.
func TestSizesMany(t *testing.T) {
	s := &Sizes{}
	for n := range int32(64) {
		s.Points = append(s.Points, SizePoint{Nodes: n + 1, Wait: 100, Run: 100 / float64(n+1)})
	}
	labels := 0
	for _, tick := range s.ticks() {
		if tick.Label != "" {
			labels++
		}
	}
	if labels < 8 || labels > 2*mostTicks+1 {
		t.Errorf("%d of 64 sizes are labelled", labels)
	}
}

func TestSizesNothing(t *testing.T) {
	for _, points := range [][]SizePoint{nil, {{Nodes: 4}}, {{Nodes: 4}, {Nodes: 4}}} {
		if err := (&Sizes{Points: points}).Write(&bytes.Buffer{}, "svg"); !errors.Is(err, ErrNothing) {
			t.Errorf("%v: %v", points, err)
		}
	}
}
