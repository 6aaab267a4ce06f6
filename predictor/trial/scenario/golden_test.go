package scenario

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/test/golden"
)

// TestGolden compares the JSON of a small cluster's results with files. Numbers may differ
// by rounding, which depends on the processor.
func TestGolden(t *testing.T) {
	jobs := busy(600)
	for name, text := range map[string]string{
		"none": "none",
		"hard": "hard=20%,protected=50%,restart",
		"varq": "varq=20%,prob=.5,every=2h,max-cost=none,forecaster=qbets",
	} {
		reservations, err := ParseReservations(text)
		if err != nil {
			t.Fatal(err)
		}
		s := Scenario{Procs: 64, Backfill: sched.EASY, Seed: 2, Aside: .2, Reservations: reservations}
		if reservations.Hard != nil {
			s.Estimator = hasty{}
		}
		r := simulate(t, s, jobs)
		r.Series.Queued, r.Series.Busy = r.Series.Queued[:8], r.Series.Busy[:8]
		got, err := json.MarshalIndent(r, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name+".json")
		want := golden.Want(t, file, append(got, '\n'))
		if diff := cmp.Diff(tree(t, want), tree(t, got), close); diff != "" {
			t.Errorf("%s (-want +got; -update accepts):\n%s", name, diff)
		}
	}
}

// tree decodes JSON into maps and slices, so that the comparison includes the names.
func tree(t *testing.T, text []byte) (tree any) {
	t.Helper()
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}
