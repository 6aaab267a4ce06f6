package slurm

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseGres(t *testing.T) {
	for list, want := range map[string]map[string]int64{
		"": nil, "(null)": nil,
		"gpu:4":                                {"gpu": 4},
		"gpu":                                  {"gpu": 1},
		"gpu:a100:4(S:0-1),gpu:h100:2,shard:8": {"gpu": 6, "gpu:a100": 4, "gpu:h100": 2, "shard": 8},
		"gpu:1g.5gb:7":                         {"gpu": 7, "gpu:1g.5gb": 7},
		"gpu:1g.5gb":                           {"gpu": 1, "gpu:1g.5gb": 1},
		"bandwidth:lustre:no_consume:4G":       {"bandwidth": 4 << 30, "bandwidth:lustre": 4 << 30},
		"craynetwork:no_consume:2":             {"craynetwork": 2},
	} {
		got, err := ParseGres(list)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", list, err, diff)
		}
	}
	if _, err := ParseGres("gpu:1,:2"); err == nil {
		t.Error("a resource without a name: no error")
	}
}

func FuzzParseGres(f *testing.F) {
	f.Add("gpu:a100:4(S:0-1),shard:8")
	f.Fuzz(func(t *testing.T, list string) {
		counts, err := ParseGres(list)
		for name, n := range counts {
			if err != nil || name == "" || n < 0 {
				t.Errorf("%q: %d of %q, %v", list, n, name, err)
			}
		}
	})
}
