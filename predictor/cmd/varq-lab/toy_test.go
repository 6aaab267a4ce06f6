package main

import (
	"errors"
	"fmt"

	"github.com/varq-project/varq/predictor/trial/study"
)

// toy is a study that counts the letters of three words. Seed 12 makes one fail.
type toy struct {
	name       string
	needTraces bool
}

func toyStudies() map[string]study.Study {
	return map[string]study.Study{"chains": toy{"chains", true}, "checkpoints": toy{"checkpoints", true}, "deadlines": toy{"deadlines", true}, "downey": toy{"downey", false}, "faults": toy{"faults", false}, "forecasters": toy{"forecasters", true}, "joint": toy{"joint", true}, "moldable": toy{"moldable", true}, "oliner": toy{"oliner", false}, "roblitz": toy{"roblitz", true}, "smith": toy{"smith", true}, "varq": toy{"varq", false}}
}

func (t toy) Cases(o study.Options) []study.Case {
	seeds := max(1, o.Seeds)
	var all []study.Case
	for seed := range seeds {
		for _, name := range []string{"one", "two", "three"} {
			all = append(all, study.Case{Name: name, Seed: uint64(seed)})
		}
	}
	return all
}

func (t toy) Run(o study.Options, c study.Case) (study.Values, error) {
	if t.needTraces && o.Traces == nil {
		return nil, study.ErrNoTraces
	}
	if c.Name == "two" && c.Seed == 12 {
		return nil, errors.New("12 is unlucky")
	}
	if f := o.Failures; f != nil && (len(f.Nodes) != 2 || len(f.Failures) != 1 || f.Failures[0].Down != 1772323200) {
		return nil, fmt.Errorf("the failures are %+v", f)
	}
	return study.Values{"letters": float64(len(c.Name))}, nil
}

func (t toy) Report(_ study.Options, outcomes []study.Outcome) study.Report {
	paper := 4.
	row := study.Row{Name: "letters", Unit: "mean", Paper: &paper, Note: "by hand"}
	for _, o := range outcomes {
		row.Ours.Mean += o.Values["letters"] / float64(len(outcomes))
	}
	row.Ours.N = len(outcomes)
	row.Ours.Low, row.Ours.High = row.Ours.Mean-1, row.Ours.Mean+1
	return study.Report{
		Name:        t.name,
		Title:       "Letters of Numbers (1999)",
		Tables:      []study.Table{{Title: "Table 1", Rows: []study.Row{row}}},
		Differences: []string{"English is taken for Latin."},
		Figures: []study.Figure{{
			Name: "letters", Title: "Letters", Labels: []string{"mean"},
			Series: []study.Series{{Name: "paper", Y: []float64{4}}, {Name: "ours", Y: []float64{row.Ours.Mean}}},
		}},
	}
}
