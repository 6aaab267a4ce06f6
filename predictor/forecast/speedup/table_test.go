package speedup

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// file returns a function that reads a table of this text.
func file(text string) func(string) (string, error) {
	return func(string) (string, error) { return text, nil }
}

func TestTable(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want map[float64]float64
	}{
		"speedups":        {"1 1\n4 3.5\n16 9.5\n", map[float64]float64{1: 1, 2: 1 + 2.5/3, 4: 3.5, 10: 6.5, 16: 9.5, 1000: 9.5}},
		"without one":     {"4,3.5", map[float64]float64{1: 1, 2.5: 2.25, 4: 3.5, 5: 3.5}},
		"times":           {"# of the big model\n16 45m # measured twice\r\n\n8 1:10:00\n\t4\t2h\n", map[float64]float64{1: 1, 2: 2, 4: 4, 8: 4 * 120 / 70., 12: 2*120/70. + 2*120/45., 16: 4 * 120 / 45., 99: 4 * 120 / 45.}},
		"one node's time": {"1 100s\n2 40s", map[float64]float64{1: 1, 2: 2.5}},
		"flat":            {"1 1\n2 1\n3 2", map[float64]float64{1: 1, 2: 1, 3: 2}},
	} {
		got, err := Parse("table:my.txt", file(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.String() != "table:my.txt" {
			t.Errorf("%s is written %v", name, got)
		}
		for n, want := range c.want {
			if s := got.Of(n); math.Abs(s-want) > 1e-12 {
				t.Errorf("%s: %v on %v nodes, want %v", name, s, n, want)
			}
		}
		last := 0.
		for n := 1.; n < 40; n += .125 {
			if s := got.Of(n); s < last {
				t.Errorf("%s: %v on %v nodes, after %v", name, s, n, last)
			} else {
				last = s
			}
		}
	}
}

func TestTableRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "it has no lines NODES SPEEDUP or NODES TIME",
		"# 4 2h\n":                 "it has no lines NODES SPEEDUP or NODES TIME",
		"4":                        "line 1: it is not of the form NODES SPEEDUP or NODES TIME",
		"\n4 2 1":                  "line 2: it is not of the form NODES SPEEDUP or NODES TIME",
		"0 1":                      `line 1: "0" is not a number of nodes from 1 to 1048576`,
		"-4 1":                     `line 1: "-4" is not a number of nodes from 1 to 1048576`,
		"1048577 1":                `line 1: "1048577" is not a number of nodes from 1 to 1048576`,
		"nodes time":               `line 1: "nodes" is not a number of nodes from 1 to 1048576`,
		"4 0.5":                    `line 1: "0.5" is not a speedup of at least 1 (a time has a unit: 90m)`,
		"4 NaN":                    `line 1: "NaN" is not a speedup of at least 1 (a time has a unit: 90m)`,
		"4 -3h":                    `line 1: "-3h" is not how long a program runs`,
		"4 UNLIMITED":              `line 1: "UNLIMITED" is not how long a program runs`,
		"4 long":                   `line 1: "long" is not a duration such as 6h or 06:00:00`,
		"4 2h":                     "one time alone tells no speedup: give the times on several numbers of nodes",
		"4 2h\n8 7":                "line 2: all lines have speedups, or all have times",
		"4 2\n8 3\n4 2":            "line 3: 4 nodes are on line 1 too",
		"4 2h\n8 3h":               "line 2: on 8 nodes the program is slower than on 4: leave out the sizes that do not pay",
		"8 2\n4 3":                 "line 1: on 8 nodes the program is slower than on 4: leave out the sizes that do not pay",
		"1 2":                      "line 1: the speedup on one node is 1",
		strings.Repeat(" ", 1<<17): "it is longer than 64 KiB",
	} {
		if _, err := ParseTable(text); err == nil || err.Error() != want {
			t.Errorf("%.20q: got error %v, want %s", text, err, want)
		}
	}
	if _, err := Parse("table:my.txt", file("4")); err == nil || err.Error() != "table:FILE: my.txt: line 1: it is not of the form NODES SPEEDUP or NODES TIME" {
		t.Error(err)
	}
	if _, err := Parse("table:", file("")); err == nil || err.Error() != "table:FILE: which file?" {
		t.Error(err)
	}
	gone := errors.New("gone")
	if _, err := Parse("table:x", func(string) (string, error) { return "", gone }); !errors.Is(err, gone) {
		t.Error(err)
	}
}

// FuzzParseTable: whatever is read is a speedup that begins with 1, never falls and stays finite.
func FuzzParseTable(f *testing.F) {
	for _, text := range []string{"1 1\n4 3.5", "4 2h\n8 1:10:00 # x", "4,2h\r\n", "1 1e9", "2 1\n1048576 1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		table, err := ParseTable(text)
		if err != nil {
			return
		}
		last := 1.
		for n := 1.; n < 3e6; n = n*1.3 + .5 {
			s := table.Of(n)
			if n == 1 && s != 1 || !(s >= last) || math.IsInf(s, 0) {
				t.Fatalf("%q: %v on %v nodes, after %v", text, s, n, last)
			}
			last = s
		}
	})
}

func ExampleParseTable() {
	table, err := ParseTable("4 2h\n8 1h10m\n16 45m\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f on 8 nodes, %.1f on 12\n", table.Of(8), table.Of(12))
	// Output: 6.9 on 8 nodes, 8.8 on 12
}
