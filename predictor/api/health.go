package api

// Loading begins the problem of a varqd that has just started, and OnlyWatches the note of one in
// shadow mode.
const (
	Loading     = "varqd has just started and reads its past"
	OnlyWatches = "varqd only watches, and promises nothing"
)

// Health is the state of varqd.
type Health struct {
	OK bool `json:"ok"`
	// Problems are sentences that say what does not work.
	Problems []string `json:"problems,omitempty"`
	// Notes are sentences that say which optional parts do not work, and so are left
	// out. varqd is well nevertheless.
	Notes []string `json:"notes,omitempty"`
	// Policy are sentences that say which names in the rules of the site's policy Slurm does not
	// have.
	Policy []string `json:"policy,omitempty"`
	// Certificate are sentences, for operators, that say what is wrong with the certificate by
	// which other sites know this one, or soon will be.
	Certificate []string `json:"certificate,omitempty"`
	// History is the number of past jobs learnt from, Newest the latest start of a job
	// learnt from, in Unix seconds.
	History int    `json:"history"`
	Newest  int64  `json:"newest"`
	Version string `json:"version"`
	// CertificateExpires is when the certificate ends by which other sites know this one, Unix
	// seconds; 0 without one.
	CertificateExpires int64 `json:"certificate_expires,omitempty"`
}
