package reserve

import (
	"github.com/varq-project/varq/predictor/forecast/speedup"
	"github.com/varq-project/varq/predictor/varqd/broker"
)

// request is what reserve asks for.
type request struct {
	broker.Request
	// curve and nodes are of --speedup and --nodes, nil without them.
	curve speedup.Curve
	nodes []int32
	notes []string // for the user
}
