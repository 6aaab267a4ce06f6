package broker

import (
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/elastic"
)

// Request is what a user wants: a job at one of several sites, or a group of jobs at several.
type Request struct {
	// Probe is what all sites are asked.
	Probe  api.ProbeRequest
	Prefer elastic.Preferences
	// Patience is for how many seconds a promise waits to be confirmed.
	Patience int64
	// DryRun asks what would be reserved, and reserves nothing.
	DryRun bool
	// Now is the clock.
	Now func() time.Time

	// Kind is api.GroupAny or api.GroupAll; it is empty of one job, which has no use for the fields
	// below.
	Kind string
	// Prob is the least probability of the group; 0 stands for the default of the home.
	Prob float64
	// Parts has the sites of each part of an api.GroupAll, and Apart is true if each job has an
	// alternative in each partition; see Together.
	Parts [][]string
	Apart bool
	// Home keeps the group. HomeName is what sites call it; empty if it is theirs.
	Home     Home
	HomeName string
}
