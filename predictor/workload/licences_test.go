package workload

import (
	"maps"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLicences(t *testing.T) {
	l := LicencesOf(map[string]int64{"matlab": 3, "ansys@flex": 1})
	if l != "ansys@flex:1,matlab:3" {
		t.Error(l)
	}
	if diff := cmp.Diff(map[string]int64{"matlab": 3, "ansys@flex": 1}, maps.Collect(l.All())); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct{ got, want any }{
		{l.Of("matlab"), int64(3)},
		{l.Of("nosuch"), int64(0)},
		{l.Times(4), Licences("ansys@flex:4,matlab:12")},
		{l.Times(math.MaxInt32).Of("matlab"), int64(math.MaxInt32)},
		{l.Like(), Licences("ansys@flex:1,matlab:4")},
		{Licences("matlab:4").Like(), Licences("matlab:4")},
		{Licences("").Times(2), Licences("")},
		{Size{CPUs: 1, Licences: "matlab:1"}.Times(2), Size{CPUs: 2, Licences: "matlab:2"}},
	} {
		if c.got != c.want {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}
