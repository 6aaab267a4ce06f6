package browser

import (
	"image"
	"image/color"
	"testing"
)

// What is compared is the share of pixels that clearly differ.
func TestDiffering(t *testing.T) {
	sheet := func(height int, dark ...int) *image.Gray {
		g := image.NewGray(image.Rect(0, 0, 10, height))
		for i := range g.Pix {
			g.Pix[i] = 255
		}
		for _, i := range dark {
			g.SetGray(i%10, i/10, color.Gray{})
		}
		return g
	}
	for name, c := range map[string]struct {
		a, b *image.Gray
		want float64
	}{
		"the same":     {sheet(10, 3, 4), sheet(10, 3, 4), 0},
		"two pixels":   {sheet(10), sheet(10, 3, 94), .02},
		"a row longer": {sheet(10), sheet(9), .1},
	} {
		if got := differing(c.a, c.b); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
