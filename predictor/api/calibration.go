package api

// CalibrationGroupings are what a Calibration can be grouped by, besides the
// forecaster.
var CalibrationGroupings = []string{"partition", "class", "month"}

// CalibrationQuery selects the forecasts that a Calibration covers; an empty field
// selects all.
type CalibrationQuery struct {
	// By is one of CalibrationGroupings, or "" for one row for each forecaster.
	By string
	// Start and End bound the days, UTC, on which the waits began: from that of
	// Start to that of End, Unix seconds; 0 means no bound.
	Start, End int64
	// Forecaster, Partition and Class are names.
	Forecaster, Partition, Class string
}

// Calibration judges the forecasts of waits that varqd made, by the waits of the jobs
// that have started.
type Calibration struct {
	By   string           `json:"by"` // "partition", "class", "month" or ""
	Rows []CalibrationRow `json:"rows"`
}

// CalibrationRow is how one forecaster did. The name of a class of jobs names neither
// user nor account.
type CalibrationRow struct {
	Forecaster string             `json:"forecaster"`
	Group      string             `json:"group"`
	Forecasts  int                `json:"forecasts"`
	Quantiles  []QuantileCoverage `json:"quantiles"`
	// CalibrationError is the expected calibration error of the probabilities of
	// starting within 5 and 30 minutes, 1, 2, 6, 12 and 24 hours: the mean distance,
	// over the bins of Reliability and weighted by their counts, from the mean
	// probability to the share that came true. Brier is the mean squared distance of
	// these probabilities from what came true: 1 or 0.
	CalibrationError float64 `json:"calibration_error"`
	Brier            float64 `json:"brier"`
	// Reliability has the bins that are not empty.
	Reliability []ReliabilityBin `json:"reliability"`
	// Drift says how the forecaster has drifted, a sentence without a full stop. It
	// is empty if the forecaster has not, and when grouped by month.
	Drift string `json:"drift,omitempty"`
}

// QuantileCoverage is how well one quantile of the wait was forecast.
type QuantileCoverage struct {
	Quantile float64 `json:"quantile"`
	// Covered is the share of the waits within the quantile, ties by their
	// randomised rank, with its 95 % interval from Low to High. The interval is a
	// block bootstrap's over the weeks in which the waits began. With waits from
	// fewer than 5 weeks, all of a week are taken to share one fate, and it is wide.
	Covered float64 `json:"covered"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Pinball float64 `json:"pinball"` // mean loss, seconds
}

// ReliabilityBin is what came true of the probabilities in a twentieth of [0,1].
type ReliabilityBin struct {
	Count int     `json:"count"`
	Mean  float64 `json:"mean"` // of the probabilities
	True  float64 `json:"true"` // share that came true
}
