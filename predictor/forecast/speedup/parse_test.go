package speedup

import (
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Curve{
		"amdahl:0.05":   Amdahl{.05},
		"amdahl:0":      Amdahl{0},
		"amdahl:1":      Amdahl{1},
		"downey:64,1.5": Downey{64, 1.5},
		"downey:1,0":    Downey{1, 0},
	} {
		got, err := Parse(text, nil)
		if err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		} else if got.String() != text {
			t.Errorf("%s is written %v", text, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":               `"" is not a speedup (try amdahl:0.05, downey:64,1.5 or table:FILE)`,
		"linear":         `"linear" is not a speedup (try amdahl:0.05, downey:64,1.5 or table:FILE)`,
		"amdahl":         `amdahl:SERIAL: "" is not a number from 0 to 1`,
		"amdahl:5%":      `amdahl:SERIAL: "5%" is not a number from 0 to 1`,
		"amdahl:1.5":     `amdahl:SERIAL: "1.5" is not a number from 0 to 1`,
		"amdahl:NaN":     `amdahl:SERIAL: "NaN" is not a number from 0 to 1`,
		"downey:.5,1":    `downey:A,SIGMA: A: ".5" is not a number from 1 to 1e+09`,
		"downey:inf,1":   `downey:A,SIGMA: A: "inf" is not a number from 1 to 1e+09`,
		"downey:64":      `downey:A,SIGMA: SIGMA: "" is not a number from 0 to 1e+06`,
		"downey:64,-1":   `downey:A,SIGMA: SIGMA: "-1" is not a number from 0 to 1e+06`,
		"amdahl/0.05":    `"amdahl/0.05" is not a speedup (try amdahl:0.05, downey:64,1.5 or table:FILE)`,
		"table:my.txt":   `table:FILE: no files are read here: give amdahl or downey`,
		"downey:64,1.5,": `downey:A,SIGMA: SIGMA: "1.5," is not a number from 0 to 1e+06`,
	} {
		if _, err := Parse(text, nil); err == nil || err.Error() != want {
			t.Errorf("%s: got error %v, want %s", text, err, want)
		}
	}
}

// FuzzParse: the text of a parsed curve is parsed again, and the curve is a speedup.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"amdahl:0.05", "downey:64,1.5", "downey:1e9,1e6", "amdahl:0x1p-2", "downey:1,"} {
		f.Add(text, 64.)
	}
	f.Fuzz(func(t *testing.T, text string, n float64) {
		c, err := Parse(text, nil)
		if err != nil {
			return
		}
		if again, err := Parse(c.String(), nil); err != nil || again != c {
			t.Fatalf("%q is %v, which is %v, %v", text, c, again, err)
		}
		if !(n >= 1 && n <= 1e9) {
			return
		}
		if s := c.Of(n); !(s >= 1-1e-9 && s <= n*(1+1e-9)) {
			t.Errorf("%v: %v on %v processors", c, s, n)
		}
	})
}
