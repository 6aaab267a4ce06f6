package api

// CalibrationGroupings are the values of CalibrationQuery.By, besides "".
var CalibrationGroupings = []string{"partition", "class", "month"}

// CalibrationQuery selects the forecasts that a Calibration covers; an empty field
// selects all.
type CalibrationQuery struct {
	// By groups the rows further, by one of CalibrationGroupings. With "" there is one
	// row for each forecaster.
	By string
	// Start and End are Unix seconds. The jobs began to wait on the day of Start, UTC, or
	// later, and on the day of End or before. 0 means no bound.
	Start, End int64
	// Forecaster, Partition and Class are names.
	Forecaster, Partition, Class string
}

// Calibration compares the waits and the ends that varqd has forecast with the waits of the jobs
// that have started, and the ends of those that have ended.
type Calibration struct {
	By   string           `json:"by"` // "partition", "class", "month" or ""
	Rows []CalibrationRow `json:"rows"`
	// Worst are the groups of 500 jobs or more for which the quantiles of a forecaster held least
	// as often as they say, by more than chance; those that are most off first, and at most 12 of
	// each forecaster. As intervals rest on weeks, they are of the last 90 days, or from Start on
	// if that is earlier. There are none if the query selects a partition or a class.
	Worst []GroupCoverage `json:"worst,omitempty"`
}

// GroupCoverage is how often the quantiles of a forecaster held for jobs that have one property in
// common.
type GroupCoverage struct {
	Forecaster string `json:"forecaster"`
	Of         string `json:"of"` // as in CalibrationRow
	// By is the property: month, hour, queue, size, limit, user, burst (the place among jobs of the
	// same kind that were submitted one soon after the other) or width (how many times the .5
	// quantile the .95 quantile is). Value is what the jobs have in common. It names a user to
	// herself and to Slurm's operators alone, and is empty to others.
	By        string         `json:"by"`
	Value     string         `json:"value"`
	Jobs      int            `json:"jobs"`
	Quantiles []HeldQuantile `json:"quantiles"`
	// Off is the largest distance of a quantile from the interval of what it covered, in standard
	// deviations of one job.
	Off float64 `json:"off"`
}

// HeldQuantile is how often a quantile held, with the ends of its interval, as in QuantileCoverage.
type HeldQuantile struct {
	Quantile float64 `json:"quantile"`
	Covered  float64 `json:"covered"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// What a CalibrationRow is about.
const (
	OfWait    = "wait"
	OfPending = "pending"
	OfEnd     = "end"
)

// CalibrationRow is the calibration of one forecaster, or of one group of its forecasts.
// The name of a class of jobs contains neither user nor account.
type CalibrationRow struct {
	Forecaster string `json:"forecaster"`
	// Of is what was forecast: OfWait, the time from when a job begins to wait until its start, or
	// OfEnd, that until its end, or OfPending, the time until its start from a moment on at which it
	// waits already. Slurm's own forecast, by the forecaster slurm, is one time. The forecaster
	// dependent is about jobs that wait for others, if they start at all.
	Of        string `json:"of"`
	Group     string `json:"group"`
	Forecasts int    `json:"forecasts"`
	// Weeks is on how many weeks the intervals of Quantiles rest: on as many as weeks of equal size
	// would tell as much. With fewer than 5 the intervals are wide. It is 0 if an older varqd does
	// not say.
	Weeks     int                `json:"weeks,omitempty"`
	Quantiles []QuantileCoverage `json:"quantiles"`
	// CalibrationError and Brier are over the probabilities of starting, or of having ended, within
	// 5 and 30 minutes, 1, 2, 6, 12 and 24 hours. CalibrationError is the expected calibration
	// error: the mean over the bins of Reliability, weighted by their counts, of the distance
	// between the mean probability and the share that came true. Brier is the mean squared distance
	// of a probability from 1 if it came true, and from 0 if not.
	CalibrationError float64 `json:"calibration_error"`
	Brier            float64 `json:"brier"`
	// Reliability has the bins that are not empty.
	Reliability []ReliabilityBin `json:"reliability"`
	// Near is how near forecasts of one number came: the median, and for comparison two that know
	// nothing of the job. It is of the jobs since a varqd that counts this, and has none where there
	// are none.
	Near []Near `json:"near,omitempty"`
	// Drift says how the forecaster has drifted, in a sentence without a full stop. It
	// is empty if the forecaster has not drifted, and in rows by month.
	Drift string `json:"drift,omitempty"`
}

// QuantileCoverage is how well one quantile of the wait, or of the time until the end, was
// forecast.
type QuantileCoverage struct {
	Quantile float64 `json:"quantile"`
	// Covered is the share of the jobs whose wait, or time until the end, was within the quantile.
	// One equal to the quantile counts by a random rank. Low and High are the ends of Covered's 95
	// % interval. The interval is a block bootstrap's over the weeks in which the jobs began to
	// wait. With jobs from fewer than 5 weeks, where a week with few jobs hardly counts, the
	// interval is wide: it allows for all jobs of a week being within the quantile together, or
	// none.
	Covered float64 `json:"covered"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Pinball float64 `json:"pinball"` // mean loss, seconds
}

// Near is how near forecasts of one number came to the wait, or to what else was forecast.
type Near struct {
	// Said is "median" (the .5 quantile), "past-median" (the median of the last 300 such times of all
	// jobs), or "at-once" (0).
	Said      string `json:"said"`
	Forecasts int    `json:"forecasts"`
	// WithinMinute and Within10Minutes are the shares of the forecasts that were off by at most one
	// minute, and by at most ten.
	WithinMinute    float64 `json:"within_minute"`
	Within10Minutes float64 `json:"within_10_minutes"`
	// WithinFactor2 is the share for which forecast+1 s was at least half of what came+1 s, and at
	// most twice that.
	WithinFactor2 float64 `json:"within_factor_2"`
	// LogError is the mean of |ln((forecast+1 s)/(what came+1 s))|.
	LogError float64 `json:"log_error"`
}

// ReliabilityBin has the probabilities in a twentieth of [0,1].
type ReliabilityBin struct {
	Count int     `json:"count"` // of probabilities
	Mean  float64 `json:"mean"`  // of the probabilities
	True  float64 `json:"true"`  // share of the probabilities that came true
}
