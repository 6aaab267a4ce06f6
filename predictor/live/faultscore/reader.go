package faultscore

import (
	"context"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/score"
)

// Reader reads the calibration of forecasts of failures.
type Reader struct{ Store *Store }

// NodesCalibration returns the calibration of the forecasts that q selects. The answer names no
// node, so that any user may read it.
func (r Reader) NodesCalibration(ctx context.Context, q api.NodesCalibrationQuery) (api.NodesCalibration, error) {
	end := int64(0)
	if q.End != 0 {
		end = score.Day(q.End) + 1
	}
	days, err := r.Store.days(ctx, score.Day(q.Start), end)
	if err != nil {
		return api.NodesCalibration{}, err
	}
	answer := api.NodesCalibration{Rows: []api.NodesCalibrationRow{}}
	for _, row := range score.FaultRows(days) {
		answer.Rows = append(answer.Rows, calibrationRow(&row))
	}
	return answer, nil
}

// calibrationRow translates a row of scores for package api.
func calibrationRow(r *score.FaultRow) api.NodesCalibrationRow {
	all := r.All()
	row := api.NodesCalibrationRow{
		Forecaster: r.Forecaster, Forecasts: all.N, Failed: all.Failed, Expected: all.Predicted, Gain: r.Gain,
		Alarms: r.Alarms, Precision: share(r.Hits, r.Alarms), Failures: r.Failures,
	}
	if r.Sure {
		row.Interval = []float64{r.Low, r.High}
	}
	for i, lead := range score.Leads {
		row.Ahead = append(row.Ahead, api.Warning{Lead: lead, Share: share(r.Ahead[i], r.Failures)})
	}
	for _, p := range r.Reliability {
		row.Reliability = append(row.Reliability, api.RiskBin{Count: p.Count, Mean: p.Mean, Failed: p.True, Low: p.Low, High: p.High})
	}
	return row
}

func share(n, of int) float64 { return float64(n) / float64(max(1, of)) }
