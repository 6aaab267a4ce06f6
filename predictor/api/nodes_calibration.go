package api

// NodesCalibrationQuery selects the forecasts that a NodesCalibration covers.
type NodesCalibrationQuery struct {
	// Start and End are Unix seconds. The forecasts were made on the day of Start, UTC, or later,
	// and on the day of End or before. 0 means no bound.
	Start, End int64
}

// NodesCalibration compares the failures that varqd has forecast with those that happened. Every
// six hours each forecaster says of each node in service how probable it is that it fails within a
// day.
type NodesCalibration struct {
	Rows []NodesCalibrationRow `json:"rows"`
}

// NodesCalibrationRow is the calibration of one forecaster.
type NodesCalibrationRow struct {
	Forecaster string `json:"forecaster"`
	// Forecasts is the number of forecasts whose day is over, each of one node, Failed how many of
	// them were followed by a failure within the day, and Expected how many would have been if all
	// were right: the sum of the probabilities.
	Forecasts int     `json:"forecasts"`
	Failed    int     `json:"failed"`
	Expected  float64 `json:"expected"`
	// Gain is the log score gained over the rate of all nodes, as it was known at the time, in nats
	// for each forecast that was followed by a failure. Interval has the ends of its 95 % interval,
	// by a bootstrap of weeks, and nothing if there are too few of them.
	Gain     float64   `json:"gain"`
	Interval []float64 `json:"interval,omitempty"`
	// Alarms is the number of forecasts at or above the alarm level: the risk that so far as many
	// forecasts reached as were followed by a failure. Precision is the share of them that were
	// followed by one.
	Alarms    int     `json:"alarms"`
	Precision float64 `json:"precision"`
	// Failures is the number of failures, and Ahead how many of them were announced how long
	// before.
	Failures int       `json:"failures"`
	Ahead    []Warning `json:"ahead"`
	// Reliability has the bins that are not empty.
	Reliability []RiskBin `json:"reliability"`
}

// Warning is the share of the failures that were announced at least Lead seconds before: from then
// on the node's risk was at or above the alarm level.
type Warning struct {
	Lead  int64   `json:"lead"`
	Share float64 `json:"share"`
}

// RiskBin has the probabilities within a range.
type RiskBin struct {
	Count  int     `json:"count"`  // of probabilities
	Mean   float64 `json:"mean"`   // of the probabilities
	Failed float64 `json:"failed"` // share that was followed by a failure
	// Low and High are the ends of Failed's 95 % interval, by a bootstrap of weeks.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}
