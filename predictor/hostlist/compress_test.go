package hostlist

import (
	"slices"
	"strings"
	"testing"
)

func TestCompress(t *testing.T) {
	for names, want := range map[string]string{
		"":                         "",
		"a":                        "a",
		"node2":                    "node2",
		"node2 node1 node3 node1":  "node[1-3]",
		"node9 node10 node12":      "node[9-10,12]",
		"n08 n09 n10 n8":           "n[08,8,09-10]",
		"gpu1-ib cpu1 gpu2-ib cpu": "cpu,cpu1,gpu[1-2]-ib",
		"r1n1 r1n2 r2n1":           "r1n[1-2],r2n1",
		"x99999999999999999999":    "x99999999999999999999",
	} {
		if got := Compress(strings.Fields(names)); got != want {
			t.Errorf("%s: %s, want %s", names, got, want)
		}
	}
}

// FuzzCompress: a list has the names that it was made of.
func FuzzCompress(f *testing.F) {
	f.Add("node1 node2 node04 r1c03-ib")
	f.Add("n99999999 n100000000 n9223372036854775807 n9223372036854775808")
	f.Fuzz(func(t *testing.T, text string) {
		names := strings.Fields(text)
		for _, name := range names {
			if strings.ContainsAny(name, "[],") || len(name) > 200 {
				t.Skip()
			}
		}
		list := Compress(names)
		got, err := Expand(list)
		slices.Sort(got)
		slices.Sort(names)
		if err != nil || !slices.Equal(got, slices.Compact(names)) {
			t.Errorf("%q: %s, which has %q, %v", names, list, got, err)
		}
	})
}

func TestBrief(t *testing.T) {
	for list, want := range map[string]string{"": "", "n[1-20]": "n[1-20]", "n[1-2,4-5,7-8]": "n[1-2,4-5,...", "a1,b1,c1,d1,e1": "a1,b1,c1,d1,..."} {
		names, err := Expand(list)
		if err != nil {
			t.Fatal(err)
		}
		if got := Brief(names, 12); got != want {
			t.Errorf("%s: %s, want %s", list, got, want)
		}
	}
}
