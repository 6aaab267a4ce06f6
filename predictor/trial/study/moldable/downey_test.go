package moldable

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/trial/study"
)

// runDowney simulates all cases of the study.
func runDowney(t *testing.T, o study.Options) []study.Outcome {
	t.Helper()
	var outcomes []study.Outcome
	for _, c := range (Downey{}).Cases(o) {
		v, err := (Downey{}).Run(o, c)
		if err != nil {
			t.Fatal(err)
		}
		outcomes = append(outcomes, study.Outcome{Case: c, Values: v})
	}
	return outcomes
}

// A quick run has every number, and two results of the paper: with predictions a job gains
// almost as much as with OPT, and if all jobs follow PRED, turnaround is less than with OPT.
func TestDowneyQuick(t *testing.T) {
	o := study.Options{Quick: true}
	r := Downey{}.Report(o, runDowney(t, o))
	ours := map[string]float64{}
	for _, table := range r.Tables {
		for _, row := range table.Rows {
			if row.Ours.N != downeyQuickSeeds || math.IsNaN(row.Ours.Mean) || row.Paper == nil {
				t.Errorf("%s: %+v", table.Title, row)
			}
			ours[row.Name] = row.Ours.Mean
		}
	}
	for _, rule := range []string{"PRED", "BIAS", "HEUR"} {
		if share := ours[rule+": saved by a job"] / ours["OPT: saved by a job"]; share < .85 || share > 1 {
			t.Errorf("%s saves %.2f of what OPT does", rule, share)
		}
	}
	if ours["PRED: turnaround"] > ours["OPT: turnaround"] || ours["OPT: turnaround"] > ours["HEUR: turnaround"] {
		t.Errorf("turnaround: PRED %+.1f %%, OPT %+.1f %%, HEUR %+.1f %%",
			ours["PRED: turnaround"], ours["OPT: turnaround"], ours["HEUR: turnaround"])
	}
	if slope := ours["BIAS: slope"]; math.Abs(slope-1) > .25 {
		t.Errorf("corrected predictions have slope %.2f", slope)
	}
}

func TestDowneyIsDeterministic(t *testing.T) {
	o := study.Options{Quick: true, Seeds: 1}
	if diff := cmp.Diff(runDowney(t, o), runDowney(t, o)); diff != "" {
		t.Error(diff)
	}
}

// Without outcomes the numbers are unknown.
func TestDowneyWithoutOutcomes(t *testing.T) {
	for _, table := range (Downey{}).Report(study.Options{}, nil).Tables {
		for _, row := range table.Rows {
			if row.Ours.N != 0 {
				t.Errorf("%+v", row)
			}
		}
	}
	if _, err := (Downey{}).Run(study.Options{}, study.Case{Name: "nobody"}); err == nil {
		t.Error("no such case, no error")
	}
}
