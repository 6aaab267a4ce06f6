package licences

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/live/statefile"
)

const day = 1_795_219_200 // its begin, Unix seconds

func of(used int64) map[string]limits.License {
	return map[string]limits.License{"matlab": {Total: 5, Used: used}, "pool": {Total: 9}}
}

// Licences that are in use by day are free by night, which is known once they were watched for some
// days.
func TestFree(t *testing.T) {
	file, err := statefile.Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := NewStore(file)
	ask := func(list string, now, at int64, used int64) (float64, string) {
		t.Helper()
		f, err := s.Free(t.Context(), list, of(used), now)
		if err != nil {
			t.Fatal(err)
		}
		return f(at)
	}
	if _, unknown := ask("matlab:1", day, day+3600, 0); !strings.HasPrefix(unknown, "how likely 1 of licence matlab are to be free then is not known yet: varq has watched them for 0 hours") {
		t.Error(unknown)
	}
	for at := int64(day - 40*86400); at < day; at += 900 {
		used := int64(0)
		if h := at % 86400 / 3600; h >= 8 && h < 18 {
			used = 4
		}
		if at%3600 != 0 {
			used = 0 // the least of the hour counts
		}
		if err := s.Record(t.Context(), of(used), at); err != nil {
			t.Fatal(err)
		}
	}
	noon, midnight := int64(day+12*3600), int64(day)
	for _, c := range []struct {
		list     string
		now, at  int64
		used     int64
		from, to float64
	}{
		{"matlab:2", noon, noon + 86400, 4, 0, .01},
		{"matlab:1", noon, noon + 12*3600, 4, .98, 1},
		{"matlab:2", midnight, midnight + 12*3600, 0, .2, .35},
		{"matlab:2,pool:9", noon, noon + 12*3600, 4, .9, 1},
		{"matlab:6", noon, noon + 12*3600, 4, 0, .01},
	} {
		got, unknown := ask(c.list, c.now, c.at, c.used)
		if unknown != "" || got < c.from || got > c.to {
			t.Errorf("%+v: %.3f %s", c, got, unknown)
		}
	}
	if _, err := s.Free(t.Context(), "nosuch:1", of(0), noon); err == nil {
		t.Error("a licence that Slurm does not have")
	}
	free, err := s.free(t.Context(), "matlab")
	if err != nil || len(free) != 28*24+1 {
		t.Errorf("%d hours are stored, %v", len(free), err)
	}
}
