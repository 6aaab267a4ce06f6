package limits

import (
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/slurm/hostlist"
)

// TestFold: runs of numbers are told by their ends, and long lists by their beginnings.
func TestFold(t *testing.T) {
	for names, want := range map[string]string{
		"":                          "",
		"login":                     "login",
		"n1 n2 n3":                  "n[1-3]",
		"n1 n3 n4 m5":               "n1,n[3-4],m5",
		"n8 n9 n10 n11":             "n[8-11]",
		"n08 n09 n10":               "n[08-10]",
		"n9 n010":                   "n9,n010",
		"login login":               "login,login",
		"n2 n1":                     "n2,n1",
		"rack1-a2 rack1-a3 rack2":   "rack1-a[2-3],rack2",
		"a1 a3 a5 a7 a9 b1 b3 b5":   "a1,a3,a5,a7,a9,b1,b3,b5",
		"a1 a3 a5 a7 a9 b1 b3 b5 c": "a1,a3,a5,a7,a9,b1,b3,b5,...",
	} {
		if got := fold(strings.Fields(names)); got != want {
			t.Errorf("%s: %q, want %q", names, got, want)
		}
	}
}

// FuzzFold: what is told in full are the names.
func FuzzFold(f *testing.F) {
	f.Add("node1 node2 node04")
	f.Add("n99999999 n100000000 n9223372036854775807 n9223372036854775808")
	f.Fuzz(func(t *testing.T, text string) {
		names := strings.Fields(text)
		for _, name := range names {
			if strings.ContainsAny(name, "[],") || len(name) > 200 {
				t.Skip()
			}
		}
		told := fold(names)
		if strings.HasSuffix(told, ",...") && len(names) > mostRuns {
			return
		}
		if got, err := hostlist.Expand(told); err != nil || !slices.Equal(got, names) {
			t.Errorf("%q is told as %s: %q, %v", names, told, got, err)
		}
	})
}
