package plot

import (
	"bytes"
	"strings"
	"testing"
)

func figures() map[string]Figure {
	return map[string]Figure{
		"bars": {
			Title: "Waits with reservations", X: "reservations", Y: "longer waits, %", Labels: []string{"10 %", "20 %"},
			Series: []Series{{Name: "paper", Y: []float64{13, 62}}, {Name: "ours", Y: []float64{21, 48}}, {Name: "varq", Y: []float64{-2, 3}}},
		},
		"lines": {
			Title: "Promised and kept", X: "promised", Y: "kept",
			Series: []Series{{Name: "exact", X: []float64{0, 1}, Y: []float64{0, 1}}, {Name: "ours", X: []float64{.5, .75, .95}, Y: []float64{.6, .77, .96}}},
		},
	}
}

func TestFigureSVG(t *testing.T) {
	for name, figure := range figures() {
		got := expect(t, "figure_"+name, figure)
		for _, says := range append(figure.Labels, figure.Title, figure.X, figure.Y, figure.Series[0].Name) {
			if !strings.Contains(got, ">"+says+"<") {
				t.Errorf("figure_%s.svg does not say %q", name, says)
			}
		}
	}
}

// The vertical axis of a near figure spans the values.
func TestNear(t *testing.T) {
	f := Figure{Series: []Series{{X: []float64{0, 1}, Y: []float64{.9, .94}}, {X: []float64{0, 1}, Y: []float64{.92, 1}}}}
	if low, high := f.heights(); low != 0 || high != 1.05 {
		t.Errorf("from %v to %v", low, high)
	}
	f.Near = true
	if low, high := f.heights(); low < .89 || low > .9 || high < 1 || high > 1.01 {
		t.Errorf("from %v to %v", low, high)
	}
	f.Series = []Series{{X: []float64{0, 1}, Y: []float64{.9, .9}}}
	if low, high := f.heights(); low >= .9 || high <= .9 {
		t.Errorf("from %v to %v", low, high)
	}
}

// Figures of few data must not panic.
func TestSmallFigures(t *testing.T) {
	for name, figure := range map[string]Figure{
		"no bars":       {Labels: []string{"a"}},
		"nothing":       {},
		"empty line":    {Series: []Series{{Name: "a"}}},
		"a single spot": {Series: []Series{{Name: "a", X: []float64{1}, Y: []float64{1}}}},
	} {
		if err := figure.Write(&bytes.Buffer{}, "svg"); err == nil {
			t.Errorf("%s: drawn", name)
		}
	}
	for name, figure := range map[string]Figure{
		"flat":         {Series: []Series{{X: []float64{1, 2}, Y: []float64{0, 0}}}},
		"missing bars": {Labels: []string{"a", "b"}, Series: []Series{{}, {Y: []float64{1}}}},
	} {
		for _, format := range []string{"svg", "png"} {
			if err := figure.Write(&bytes.Buffer{}, format); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
