package keeper

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/live/ledger"
)

func TestCalibration(t *testing.T) {
	s := newSite(t)
	now := s.Now()
	var w ledger.Waits
	for i := range int64(40) {
		f := ledger.Forecast{Run: ledger.Run{Job: i}, Eligible: now - 86400*(i%20), Forecaster: "blend", Partition: []string{"batch", "gpu"}[i%2], Class: "nodes=1"}
		for k := range f.Wait {
			f.Wait[k] = min(1, delay.At(k)/1000)
		}
		w.Begun = append(w.Begun, f)
		w.Started = append(w.Started, ledger.Start{Run: f.Run, Eligible: f.Eligible, Start: f.Eligible + 25*i})
	}
	if _, err := s.Ledger.Score(t.Context(), w, rand.New(rand.NewPCG(1, 1))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
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
		got, err := s.Calibration(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		var forecasts []int
		for _, r := range got.Rows {
			forecasts = append(forecasts, r.Forecasts)
		}
		if !slices.Equal(forecasts, c.want) {
			t.Errorf("%+v: rows of %v forecasts, want %v", c.q, forecasts, c.want)
		}
	}
}
