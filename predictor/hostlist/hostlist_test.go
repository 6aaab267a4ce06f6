package hostlist

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExpand(t *testing.T) {
	for _, c := range []struct {
		list string
		want []string
	}{
		{"", nil},
		{"login", []string{"login"}},
		{"node[1-3,07-09]", []string{"node1", "node2", "node3", "node07", "node08", "node09"}},
		{"node[1-2],gpu[0-1]-ib[2]", []string{"node1", "node2", "gpu0-ib2", "gpu1-ib2"}},
		{"r[1-2]n[08-10]", []string{"r1n08", "r1n09", "r1n10", "r2n08", "r2n09", "r2n10"}},
		{"n[9-10],n[009-010]", []string{"n9", "n10", "n009", "n010"}},
		{"b,a,b", []string{"b", "a", "b"}},
	} {
		got, err := Expand(c.list)
		if err != nil {
			t.Errorf("Expand(%q): %v", c.list, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("Expand(%q) (-want +got):\n%s", c.list, diff)
		}
	}
}

func TestExpandErrors(t *testing.T) {
	for list, want := range map[string]string{
		"n[1-3":                 "hostlist n[1-3: unmatched [ in n[1-3",
		"n1-3]":                 "hostlist n1-3]: unmatched ] in n1-3]",
		"n[3-1]":                "hostlist n[3-1]: range 3-1 ends before it starts",
		"n[a-c]":                `hostlist n[a-c]: bad number "a" in a range`,
		"n[]":                   `hostlist n[]: bad number "" in a range`,
		"n[1,,2]":               `hostlist n[1,,2]: bad number "" in a range`,
		"n[[1]]":                `hostlist n[[1]]: bad number "[1" in a range`,
		"a,,b":                  "hostlist a,,b: empty name",
		"a b":                   "hostlist a b: space in name a b",
		"n[1-9999999999]":       "hostlist n[1-9999999999]: more than 100000 names",
		"n[1-999]m[1-999]":      "hostlist n[1-999]m[1-999]: more than 100000 names",
		"n[1-60000,1-60000]":    "hostlist n[1-60000,1-60000]: more than 100000 names",
		"n[1-60000],n[1-60000]": "hostlist n[1-60000],n[1-60000]: more than 100000 names",
		strings.Repeat("n", 40) + strings.Repeat("[001]m", 60): "hostlist nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn[001]m[001]m[001]m[0...: a name in nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn[001]m[001]m[001]m[0... is longer than 256 bytes",
		"n[1234567890123456789]":                               `hostlist n[1234567890123456789]: bad number "1234567890123456789" in a range`,
	} {
		_, err := Expand(list)
		if err == nil || err.Error() != want {
			t.Errorf("Expand(%q) error\n got %v\nwant %s", list, err, want)
		}
		if strings.HasSuffix(want, "names") && !errors.Is(err, ErrTooMany) {
			t.Errorf("Expand(%q): %v is not ErrTooMany", list, err)
		}
	}
}

// TestExpandRange compares lists of one range each with names made one by one.
func TestExpandRange(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	affixes := []string{"", "n", "r1-", "gpu0", "-ib"}
	for range 2000 {
		prefix, suffix := affixes[rnd.IntN(len(affixes))], affixes[rnd.IntN(len(affixes))]
		width, first := 1+rnd.IntN(4), rnd.IntN(120)
		last := first + rnd.IntN(30)
		var want []string
		for n := first; n <= last; n++ {
			want = append(want, fmt.Sprintf("%s%0*d%s", prefix, width, n, suffix))
		}
		list := fmt.Sprintf("%s[%0*d-%0*d]%s", prefix, width, first, width, last, suffix)
		got, err := Expand(list)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", list, diff)
		}
	}
}

func FuzzExpand(f *testing.F) {
	for _, s := range []string{"", "a", "n[1-3,07-09],g[0-1]-ib[2]", "n[1-3", "n[1-99999]", "a,,b", "x[0-9][0-9][0-9]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		names, err := Expand(list)
		if err != nil {
			return
		}
		if len(names) > MaxNames {
			t.Fatalf("%d names", len(names))
		}
		again, err := Expand(strings.Join(names, ","))
		if err != nil || !slices.Equal(again, names) {
			t.Fatalf("%q stand for %q, %v", names, again, err)
		}
	})
}

func BenchmarkExpand(b *testing.B) {
	for b.Loop() {
		_, _ = Expand("node[0001-4096]")
	}
}
