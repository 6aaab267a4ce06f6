// Package ticket writes and reads tickets. A ticket has the data of a promise that a node
// needs. The job carries it to the node in the environment variable Variable, so that the
// node can hold and start the work without varqd.
package ticket

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/api"
)

// Variable is the environment variable that carries a ticket to the job.
const Variable = "SLURM_SPANK_VARQ_TICKET"

// Ticket has the time at which the work of a job may start, and how long the work may take.
// Times are Unix seconds.
type Ticket struct {
	// HoldUntil is the time from which the work may start; 0 means as soon as the job
	// does. The SPANK plugin reads this field only.
	HoldUntil int64
	// BeginBy is the deadline; if it is that of the end, no later start can be in time either.
	BeginBy int64
	// WorkLimit is the time limit of the work itself, in seconds, or 0 if unknown.
	WorkLimit int64
	// Plan is the promise's identifier. It is empty in the ticket of a quote.
	Plan string
}

// Of returns the ticket of a plan.
func Of(p *api.Plan) Ticket {
	if p.FinishBy != 0 {
		return Ticket{BeginBy: p.FinishBy, Plan: p.ID} // nothing is held or trimmed
	}
	return Ticket{HoldUntil: p.HoldUntil, BeginBy: p.BeginBy, WorkLimit: p.WorkLimit, Plan: p.ID}
}

// maxSize is the longest ticket, in bytes. TICKET_SIZE of the SPANK plugin is larger.
const maxSize = 200

// String returns HOLD_UNTIL:BEGIN_BY:WORK_LIMIT:PLAN.
func (t Ticket) String() string {
	return fmt.Sprintf("%d:%d:%d:%s", t.HoldUntil, t.BeginBy, t.WorkLimit, t.Plan)
}

// Parse parses a ticket in the format of String.
func Parse(text string) (Ticket, error) {
	fields := strings.Split(text, ":")
	if len(text) > maxSize || len(fields) != 4 {
		return Ticket{}, fmt.Errorf("ticket %.40q: not four fields", text)
	}
	var t Ticket
	for i, number := range []*int64{&t.HoldUntil, &t.BeginBy, &t.WorkLimit} {
		n, err := strconv.ParseUint(fields[i], 10, 40) // 40 bits: sums of a few do not overflow
		if err != nil {
			return Ticket{}, fmt.Errorf("ticket %.40q: %.20q is not a number of seconds", text, fields[i])
		}
		*number = int64(n)
	}
	if t.Plan = fields[3]; t.Plan != "" && !api.ValidPlanID(t.Plan) {
		return Ticket{}, fmt.Errorf("ticket %.40q: %.20q names no plan", text, t.Plan)
	}
	return t, nil
}
