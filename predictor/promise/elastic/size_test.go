package elastic

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/forecast/speedup"
)

func TestParseSizes(t *testing.T) {
	for text, want := range map[string][]Size{
		"4:2h,8:1h10m,16:45m":    {{4, 7200}, {8, 4200}, {16, 2700}},
		"16:45, 8:70 ,4:2:00:00": {{4, 7200}, {8, 4200}, {16, 2700}},
		"4:02:00:00":             {{4, 7200}}, // the first colon ends the nodes
		"4:02:00":                {{4, 120}},
		"4:1-12":                 {{4, 36 * 3600}},
		"4:90s":                  {{4, 120}},
		"4:1:01,8:1s":            {{4, 120}, {8, 60}},
		"1k:1h":                  {{1024, 3600}},
		"1M:1h":                  {{1 << 20, 3600}},
		"4:1h,8:1h":              {{4, 3600}, {8, 3600}},
	} {
		got, err := ParseSizes(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
			continue
		}
		again, err := ParseSizes(FormatSizes(got))
		if diff := cmp.Diff(want, again); err != nil || diff != "" {
			t.Errorf("%s is written %s: %v\n%s", text, FormatSizes(got), err, diff)
		}
	}
}

func TestParseSizesRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "there are no sizes (try 4:2h,8:1h10m,16:45m)",
		" ":                                  "there are no sizes (try 4:2h,8:1h10m,16:45m)",
		"4":                                  `"4" is not a size NODES:TIME (try 4:2h)`,
		"4:2h,":                              `"" is not a size NODES:TIME (try 4:2h)`,
		"4x2h":                               `"4x2h" is not a size NODES:TIME (try 4:2h)`,
		":2h":                                `size ":2h": "" is not a number of nodes from 1 to 1048576`,
		"0:2h":                               `size "0:2h": "0" is not a number of nodes from 1 to 1048576`,
		"-4:2h":                              `size "-4:2h": "-4" is not a number of nodes from 1 to 1048576`,
		"2m:2h":                              `size "2m:2h": "2m" is not a number of nodes from 1 to 1048576`,
		"k:2h":                               `size "k:2h": "k" is not a number of nodes from 1 to 1048576`,
		"2-4:2h":                             `size "2-4:2h": "2-4" is not a number of nodes from 1 to 1048576`,
		"4:":                                 `size "4:": "" is not a duration such as 6h or 06:00:00`,
		"4:soon":                             `size "4:soon": "soon" is not a duration such as 6h or 06:00:00`,
		"4:0":                                `size "4:0": a job needs a time of more than 0 and less than a century`,
		"4:-2h":                              `size "4:-2h": a job needs a time of more than 0 and less than a century`,
		"4:UNLIMITED":                        `size "4:UNLIMITED": a job needs a time of more than 0 and less than a century`,
		"4:999999h":                          `size "4:999999h": a job needs a time of more than 0 and less than a century`,
		"4:2h,4:3h":                          "there are two of 4 nodes, for 02:00:00 and for 03:00:00: leave one of them out",
		"4:2h,8:1h,4:2h":                     "there are two of 4 nodes, for 02:00:00 and for 02:00:00: leave one of them out",
		"16:3h,4:2h":                         "16 nodes for 03:00:00 are slower than 4 for 02:00:00: leave them out",
		strings.Repeat("4:2h,", 64) + "8:1h": "65 sizes are more than 64: leave some out",
	} {
		if _, err := ParseSizes(text); err == nil || err.Error() != want {
			t.Errorf("%.40q: got  %v\nwant %s", text, err, want)
		}
	}
}

func TestCheckSizes(t *testing.T) {
	for want, sizes := range map[string][]Size{
		"there are no sizes":                                                               nil,
		"65 sizes are more than 64: leave some out":                                        make([]Size, 65),
		"size 1: 0 is not a number of nodes from 1 to 1048576":                             {{0, 60}},
		"size 4:00:00:00: a job needs a time of more than 0 and less than a century":       {{4, 0}},
		"size 4:02:00:00 comes after 8:01:00:00: sort sizes by their nodes":                {{8, 3600}, {4, 7200}},
		"size 4:36501-00:00:00: a job needs a time of more than 0 and less than a century": {{4, maxSeconds + 86400}},
	} {
		if err := CheckSizes(sizes); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// FuzzParseSizes: what is read is sound, and read again as it is written.
func FuzzParseSizes(f *testing.F) {
	for _, text := range []string{"4:2h,8:1h10m,16:45m", "4:02:00:00", "1k:1-0", "4:90s, 8:1:01"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sizes, err := ParseSizes(text)
		if err != nil {
			return
		}
		again, err := ParseSizes(FormatSizes(sizes))
		if diff := cmp.Diff(sizes, again); err != nil || diff != "" {
			t.Errorf("%q is %v: %v\n%s", text, sizes, err, diff)
		}
		for _, s := range sizes {
			if s.Seconds%60 != 0 {
				t.Errorf("%q has %d s", text, s.Seconds)
			}
		}
	})
}

func TestScaled(t *testing.T) {
	sizes := []Size{{4, 7200}, {8, 3600}}
	for factor, want := range map[float64][]Size{
		1:         sizes,
		.5:        {{4, 3600}, {8, 1800}},
		1.1:       {{4, 7920}, {8, 3960}}, // though 7200 * 1.1 is a little more
		1. / 3:    {{4, 2400}, {8, 1200}},
		1.001:     {{4, 7260}, {8, 3660}},
		0:         {{4, 60}, {8, 60}},
		1e300:     {{4, maxSeconds}, {8, maxSeconds}},
		1500. / 2: {{4, 5_400_000}, {8, 2_700_000}},
	} {
		if diff := cmp.Diff(want, Scaled(sizes, factor)); diff != "" {
			t.Errorf("by %v:\n%s", factor, diff)
		}
	}
	if sizes[0].Seconds != 7200 {
		t.Error("the sizes are not what they were")
	}
}

func TestParseNodes(t *testing.T) {
	for text, want := range map[string][]int32{
		"8":               {8},
		"2-6":             {2, 3, 4, 5, 6},
		"2,4,8":           {2, 4, 8},
		"8,2,4,2":         {2, 4, 8},
		"1-15:4":          {1, 5, 9, 13},
		"1-13:4":          {1, 5, 9, 13},
		"4-4":             {4},
		"4-5:9":           {4},
		"1-3, 2-8:2 ,100": {1, 2, 3, 4, 6, 8, 100},
		"1k":              {1024},
		"2048-1m:1m":      {2048},
	} {
		got, err := ParseNodes(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
}

// TestParseNodesThins: of a wide range the least, the most and the small ones stay, and from one to
// the next is never a larger step than it must be.
func TestParseNodesThins(t *testing.T) {
	for text, largest := range map[string]int32{"2-100": 100, "1-1m": 1 << 20, "1-5000:7": 4999, "1000-1100": 1100, "5,10-10000:10": 10000} {
		nodes, err := ParseNodes(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		all := func(n int32) bool { // is there such a number?
			switch text {
			case "1-5000:7":
				return n%7 == 1
			case "5,10-10000:10":
				return n == 5 || n%10 == 0
			}
			return true
		}
		if len(nodes) > MaxSizes || len(nodes) < MaxSizes/2 || nodes[len(nodes)-1] != largest {
			t.Errorf("%s: %d numbers, the last %d", text, len(nodes), nodes[len(nodes)-1])
		}
		for i, n := range nodes {
			if !all(n) || i > 0 && n <= nodes[i-1] {
				t.Errorf("%s: %d in %v", text, n, nodes)
			}
			if i > 1 && float64(n) > 2.5*float64(nodes[i-1]) && n-nodes[i-1] > 10 {
				t.Errorf("%s: %d after %d", text, n, nodes[i-1])
			}
		}
	}
	small, err := ParseNodes("2-100")
	if err != nil || !hasPrefix(small, []int32{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}) {
		t.Errorf("%v (%v)", small, err)
	}
}

func hasPrefix(all, prefix []int32) bool {
	return len(all) >= len(prefix) && cmp.Equal(all[:len(prefix)], prefix)
}

func TestParseNodesRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "there are no numbers of nodes (try 2-32 or 2,4,8)",
		"2,":                       `"" is not a number of nodes from 1 to 1048576`,
		"0-4":                      `"0" is not a number of nodes from 1 to 1048576`,
		"4-":                       `"" is not a number of nodes from 1 to 1048576`,
		"-4":                       `"" is not a number of nodes from 1 to 1048576`,
		"4-2":                      `"4-2": the most is less than the least`,
		"4:2h":                     `"4:2h" has a step, but is not a range (try 1-15:4; alternatives NODES:TIME are sizes)`,
		"1-15:0":                   `"1-15:0": the step: "0" is not a number of nodes from 1 to 1048576`,
		"1-15:":                    `"1-15:": the step: "" is not a number of nodes from 1 to 1048576`,
		"1-2-3":                    `"2-3" is not a number of nodes from 1 to 1048576`,
		"1-2000k":                  `"2000k" is not a number of nodes from 1 to 1048576`,
		strings.Repeat("4,", 1000): `"4,4,4,4,4,4,4,4,4,4,4,4,4,4,4,4,4,4,4,4,"... is a list of more than 1000`,
	} {
		if _, err := ParseNodes(text); err == nil || err.Error() != want {
			t.Errorf("%.40q: got  %v\nwant %s", text, err, want)
		}
	}
}

// FuzzParseNodes: the numbers are in order, and not too many.
func FuzzParseNodes(f *testing.F) {
	for _, text := range []string{"2-32", "2,4,8", "1-15:4", "1-1m", "1-1m:3,7,9-11", "1048576"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		nodes, err := ParseNodes(text)
		if err != nil {
			return
		}
		if len(nodes) < 1 || len(nodes) > MaxSizes {
			t.Fatalf("%q has %d", text, len(nodes))
		}
		for i, n := range nodes {
			if n < 1 || n > maxNodes || i > 0 && n <= nodes[i-1] {
				t.Fatalf("%q: %v", text, nodes)
			}
		}
	})
}

func TestReference(t *testing.T) {
	r := Reference{Size{8, 7200}, speedup.Amdahl{Serial: .01}}
	got, err := r.Sizes([]int32{2, 4, 8, 16, 32})
	// Seconds by hand: 7200 (.01 + .99/n)/(.01 + .99/8), in minutes rounded up.
	want := []Size{{2, 27240}, {4, 13920}, {8, 7200}, {16, 3900}, {32, 2220}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	// What is no faster is left out.
	r.Curve = speedup.Downey{A: 8, Sigma: 0}
	got, err = r.Sizes([]int32{2, 4, 8, 16, 32})
	if diff := cmp.Diff([]Size{{2, 28800}, {4, 14400}, {8, 7200}}, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for want, r := range map[string]Reference{
		"the reference: 0 is not a number of nodes from 1 to 1048576": {Size{0, 60}, speedup.Amdahl{}},
		"the reference: 0 s is not how long a job takes":              {Size{4, 0}, speedup.Amdahl{}},
		"there are no sizes": {Size{4, 60}, speedup.Amdahl{}},
	} {
		if _, err := r.Sizes(nil); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestReferenceLeastExactly: what takes as long as the window on n nodes needs no more.
func TestReferenceLeastExactly(t *testing.T) {
	for _, curve := range []speedup.Curve{speedup.Amdahl{Serial: .07}, speedup.Downey{A: 200, Sigma: .5}} {
		for n := int32(1); n <= 100; n++ {
			for _, seconds := range []int64{60, 420, 7200} {
				if got, ok := (Reference{Size{n, seconds}, curve}).Least(seconds, 1, n); !ok || got != n {
					t.Errorf("%v: %d (%v), want %d", curve, got, ok, n)
				}
			}
		}
	}
}

// TestReferenceLeast: the least size that fits is the first of all sizes that does.
func TestReferenceLeast(t *testing.T) {
	table, err := speedup.ParseTable("4 2h\n8 1h10m\n64 45m\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, curve := range []speedup.Curve{speedup.Amdahl{Serial: .05}, speedup.Amdahl{}, speedup.Amdahl{Serial: 1}, speedup.Downey{A: 20, Sigma: .5}, speedup.Downey{A: 20, Sigma: 2}, table} {
		r := Reference{Size{8, 7200}, curve}
		for _, power := range []float64{.5, 1, 2.25} {
			for seconds := int64(0); seconds <= 36_000; seconds += 600 {
				const most = 100
				want, wantOK := int32(0), false
				for n := int32(1); n <= most && !wantOK; n++ {
					want, wantOK = n, r.exactly(n)/power <= float64(seconds)*(1+1e-12)
				}
				if got, ok := r.Least(seconds, power, most); ok != wantOK || ok && got != want {
					t.Errorf("%v, power %v, %d s: %d (%v), want %d (%v)", curve, power, seconds, got, ok, want, wantOK)
				}
			}
		}
	}
}
