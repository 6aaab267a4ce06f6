// Package records shows promises and their outcomes to the users who may see them.
package records

import (
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/premises"
)

// Records are the reservations in a ledger, for users. Their methods may be called concurrently.
type Records struct {
	Ledger *ledger.Ledger
	// Premises tell who are Slurm's operators.
	Premises *premises.Premises
	// Describe returns a reservation as its user sees it at present.
	Describe func(*ledger.Entry) api.Reservation
	// Now is the clock, in Unix seconds.
	Now func() int64
	// Zone is the site's time zone. Reports are grouped by its months.
	Zone *time.Location
}
