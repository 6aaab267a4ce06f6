package api

// SiteState tells how a cluster without varqd is, as this cluster's varqd sees it.
type SiteState struct {
	Site string `json:"site"`
	// Method is the one by which its slots are estimated: static, history or load.
	Method string `json:"method"`
	// OK is true if its slurmrestd has answered when it was asked last, and Since is for how long
	// that is so or not, a Unix time, 0 if it was not asked yet.
	OK    bool  `json:"ok"`
	Since int64 `json:"since,omitempty"`
	// Error is why it is not; a sentence without a full stop.
	Error string `json:"error,omitempty"`
}
