package selfscore

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/delay"
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
	var w scores.Waits
	for i := range int64(40) {
		f := scores.Forecast{Job: scores.Job{ID: i}, Eligible: now - 86400*(i%20), Forecaster: "blend", Partition: []string{"batch", "gpu"}[i%2], Class: "nodes=1"}
		for k := range f.Wait {
			f.Wait[k] = min(1, delay.At(k)/1000)
		}
		w.Begun = append(w.Begun, f)
		w.Started = append(w.Started, scores.Start{Job: f.Job, Eligible: f.Eligible, Start: f.Eligible + 25*i})
	}
	if _, err := r.Scores.Score(t.Context(), w, rand.New(rand.NewPCG(1, 1))); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		q    api.CalibrationQuery
		want []int // forecasts
	}{
		{api.CalibrationQuery{}, []int{40}},
		{api.CalibrationQuery{By: "partition"}, []int{20, 20}},
		{api.CalibrationQuery{By: "class", Partition: "gpu"}, []int{20}},
		{api.CalibrationQuery{Start: now - 9*86400}, []int{20}},
		{api.CalibrationQuery{Start: now - 9*86400, End: now - 86400}, []int{18}},
		{api.CalibrationQuery{Forecaster: "qbets"}, nil},
		{api.CalibrationQuery{Class: "nodes=2"}, nil},
	} {
		got, err := r.Calibration(t.Context(), test.q)
		if err != nil {
			t.Fatal(err)
		}
		var forecasts []int
		for _, r := range got.Rows {
			forecasts = append(forecasts, r.Forecasts)
			if len(r.Quantiles) != len(score.Levels) || r.Quantiles[0].Quantile != score.Levels[0] || len(r.Reliability) == 0 {
				t.Errorf("%+v: %+v", test.q, r)
			}
		}
		if !slices.Equal(forecasts, test.want) {
			t.Errorf("%+v: rows of %v forecasts, want %v", test.q, forecasts, test.want)
		}
	}
}
