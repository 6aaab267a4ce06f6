package prob

import "testing"

func TestShort(t *testing.T) {
	for _, c := range []struct {
		forecast, promised float64
		want               bool
	}{
		{.5, .5, false}, {.6, .5, false}, {.485, .5, false}, {.48, .5, true},
		{.892, .9, false}, {.89, .9, true}, {.988, .99, false}, {.986, .99, true},
		{0, .01, true}, {.995, .9999, true},
	} {
		if got := Short(c.forecast, c.promised); got != c.want {
			t.Errorf("Short(%v, %v) = %v", c.forecast, c.promised, got)
		}
	}
}
