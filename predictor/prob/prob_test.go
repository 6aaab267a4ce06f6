package prob

import (
	"math"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]float64{"0.9": .9, ".5": .5, "90%": .9, "99.5%": .995} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%q: %v (%v)", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "1", "100%", "1.5", "-1", "NaN", "often", "%"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
	for text, want := range map[string]string{
		"50":  `"50" is not a probability between 0 and 1: did you mean 50%?`,
		"1.5": `"1.5" is not a probability between 0 and 1 (try 0.9 or 90%)`,
		"100": `"100" is not a probability between 0 and 1 (try 0.9 or 90%)`,
	} {
		if _, err := Parse(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestFormat(t *testing.T) {
	for p, want := range map[float64]string{0: "0.00", .29: "0.29", .9: "0.90", .939: "0.93", .9999: "0.99", 1: "1.00"} {
		if got := Format(p); got != want {
			t.Errorf("%v: %s, want %s", p, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"0.9", "90%", "1e-3", "0x1p-2", "%"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := Parse(text); err == nil && !(p > 0 && p < 1) {
			t.Errorf("%q: %v", text, p)
		}
	})
}

func TestPercent(t *testing.T) {
	for n := range 101 {
		prob := float64(n) / 100
		if got := Percent(prob); got != prob {
			t.Errorf("Percent(%v) = %v", prob, got)
		}
		if got := Percent(math.Nextafter(prob, -1)); n > 0 && got != float64(n-1)/100 {
			t.Errorf("percent of a little less than %v is %v", prob, got)
		}
	}
}

func TestBeside(t *testing.T) {
	for _, c := range []struct {
		p, greater float64
		want       string
	}{
		{.8, .9, "0.80 0.90"}, {.29, .9, "0.29 0.90"}, {.97, .995, "0.970 0.995"}, {.9946, .995, "0.994 0.995"}, {.99928, .9999, "0.9992 0.9999"},
		{.5, math.Sqrt(.9), "0.5000 0.9486"}, {.9, .9 + 1e-7, "0.9000000 0.9000001"}, {.9, .9, "0.900000000 0.900000000"},
	} {
		if less, more := Beside(c.p, c.greater); less+" "+more != c.want {
			t.Errorf("%v beside %v: %s %s, want %s", c.p, c.greater, less, more, c.want)
		}
	}
}
