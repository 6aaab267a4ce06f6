package selfscore

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/live/scores"
	"github.com/varq-project/varq/predictor/live/statefile"
)

func TestCalibration(t *testing.T) {
	file, err := statefile.Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	r := Reader{Scores: scores.New(file), Now: func() int64 { return now }}
	var w scores.Changes
	for i := range int64(40) {
		f := scores.Forecast{Job: scores.Job{ID: i}, Eligible: now - 86400*(i%20), Forecaster: "blend", Partition: []string{"batch", "gpu"}[i%2], Class: "nodes=1"}
		for k := range f.Delay {
			f.Delay[k] = min(1, delay.At(k)/1000)
		}
		w.Begun = append(w.Begun, f)
		w.Started = append(w.Started, scores.Outcome{Job: f.Job, Eligible: f.Eligible, At: f.Eligible + 25*i})
	}
	for _, forecaster := range []string{completion.Name, "twin"} {
		f := scores.Forecast{Job: scores.Job{ID: 100}, Eligible: now - 20*86400, Forecaster: forecaster}
		w.Begun = append(w.Begun, f)
		w.Started = append(w.Started, scores.Outcome{Job: f.Job, Eligible: f.Eligible, At: f.Eligible + 60})
		w.Ended = append(w.Ended, scores.Outcome{Job: f.Job, Eligible: f.Eligible, At: f.Eligible + 600})
	}
	if _, err := r.Scores.Score(t.Context(), w, rand.New(rand.NewPCG(1, 1))); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		q    api.CalibrationQuery
		want []string
	}{
		{api.CalibrationQuery{}, []string{"blend wait 40", "twin wait 1", "completion end 1"}},
		{api.CalibrationQuery{By: "partition", Start: now - 19*86400}, []string{"blend wait 20", "blend wait 20"}},
		{api.CalibrationQuery{By: "class", Partition: "gpu"}, []string{"blend wait 20"}},
		{api.CalibrationQuery{Start: now - 9*86400}, []string{"blend wait 20"}},
		{api.CalibrationQuery{Start: now - 9*86400, End: now - 86400}, []string{"blend wait 18"}},
		{api.CalibrationQuery{Forecaster: "qbets"}, nil},
		{api.CalibrationQuery{Forecaster: "completion"}, []string{"completion end 1"}},
		{api.CalibrationQuery{Class: "nodes=2"}, nil},
	} {
		got, err := r.Calibration(t.Context(), test.q)
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		for _, r := range got.Rows {
			rows = append(rows, fmt.Sprint(r.Forecaster, " ", r.Of, " ", r.Forecasts))
			if len(r.Quantiles) != len(score.Levels) || r.Quantiles[0].Quantile != score.Levels[0] || len(r.Reliability) == 0 {
				t.Errorf("%+v: %+v", test.q, r)
			}
		}
		if !slices.Equal(rows, test.want) {
			t.Errorf("%+v: rows %q, want %q", test.q, rows, test.want)
		}
	}
}
