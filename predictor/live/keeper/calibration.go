package keeper

import (
	"context"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/promise/report"
)

// driftDays is how many of the last days are looked at for a forecaster's drift.
const driftDays = 90

// Calibration tells how far forecasts are to be believed. It names no user, and
// everybody may ask.
func (k *Keeper) Calibration(ctx context.Context, q api.CalibrationQuery) (api.Calibration, error) {
	now := k.Now()
	today, from := score.Day(now), score.Day(q.Start)
	wanted := ledger.Scores{
		Forecaster: q.Forecaster, Partition: q.Partition, Class: q.Class,
		From:        min(from, today-driftDays),
		ByPartition: q.By == "partition", ByClass: q.By == "class",
	}
	if q.End != 0 {
		wanted.To = score.Day(q.End) + 1
	}
	var f report.Forecasts
	var err error
	if f.Scored, err = k.Ledger.Scored(ctx, wanted); err != nil {
		return api.Calibration{}, err
	}
	if f.Unscored, err = k.Ledger.Unscored(ctx, wanted, now); err != nil {
		return api.Calibration{}, err
	}
	return report.Calibration(q.By, f, from, today), nil
}
