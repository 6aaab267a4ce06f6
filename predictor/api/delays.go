package api

// Delays tell other sites' varqds how long jobs have waited at a site, compared with what was
// forecast: so far as delays of two sites go together, so do the starts of jobs there.
type Delays struct {
	Windows []DelayWindow `json:"windows"` // in the order of time
}

// DelayWindow has the normal scores of the waits that began in one hour, each its rank under its
// forecast.
type DelayWindow struct {
	Hour    int64   `json:"hour"` // since 1970-01-01
	Jobs    int     `json:"jobs"`
	Sum     float64 `json:"sum"`     // of the scores
	Squares float64 `json:"squares"` // the sum of their squares
}
