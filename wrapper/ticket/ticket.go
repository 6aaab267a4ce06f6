// Package ticket writes and reads tickets. A ticket has the data of a promise that a node needs.
// The job carries it to the node in the environment variable Variable, so that the node can hold
// and start the work without varqd.
package ticket

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/api"
)

// Variable is the environment variable that carries a ticket to the job.
const Variable = "SLURM_SPANK_VARQ_TICKET"

// Ticket has the time at which the work of a job may start, and how long the work may take. Times
// are Unix seconds.
type Ticket struct {
	// HoldUntil is the time from which the work may start; 0 means as soon as the job does.
	HoldUntil int64
	// BeginBy is the deadline of the start. For a promise of an end it is the deadline of the end:
	// no later start can be in time.
	BeginBy int64
	// WorkLimit is the time limit of the work itself, in seconds, or 0 if unknown.
	WorkLimit int64
	// Plan is the promise's identifier. It is empty in the ticket of a quote.
	Plan string
	// Group is the group of which the job is a member, or empty. The work of a member begins only
	// when varqd says so.
	Group string
}

// Of returns the ticket of a plan.
func Of(p *api.Plan) Ticket {
	if p.FinishBy != 0 {
		return Ticket{BeginBy: p.FinishBy, Plan: p.ID} // nothing is held or trimmed
	}
	return Ticket{HoldUntil: p.HoldUntil, BeginBy: p.BeginBy, WorkLimit: p.WorkLimit, Plan: p.ID, Group: p.Group}
}

// maxSize is the longest ticket, in bytes. TICKET_SIZE of the SPANK plugin is larger.
const maxSize = 200

// String returns HOLD_UNTIL:BEGIN_BY:WORK_LIMIT:PLAN, followed by :GROUP if there is one.
func (t Ticket) String() string {
	text := fmt.Sprintf("%d:%d:%d:%s", t.HoldUntil, t.BeginBy, t.WorkLimit, t.Plan)
	if t.Group != "" {
		text += ":" + t.Group
	}
	return text
}

// noPromise begins the ticket of a job without a promise. NO_PROMISE of the SPANK plugin is the
// first byte of noPromise.
const noPromise = "-:"

// Sized returns the ticket of a job without a promise whose size varq has chosen. Nothing is held,
// but the work learns its time limit, which is limit seconds.
func Sized(limit int64) string { return noPromise + ":" + strconv.FormatInt(limit, 10) }

// SizedByNodes is Sized for a job whose size may change while it waits. limits are the time limits
// in seconds, by numbers of nodes. tasksPerNode, if not 0, is how many tasks each node has. The
// environment that sbatch gives the job has the total number of tasks at submission. The SPANK
// plugin corrects it.
func SizedByNodes(tasksPerNode int32, limits map[int32]int64) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s%d:", noPromise, tasksPerNode)
	for i, nodes := range slices.Sorted(maps.Keys(limits)) {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, "%d=%d", nodes, limits[nodes])
	}
	return text.String()
}

// Parse parses a ticket in the format of String. For a ticket of Sized or SizedByNodes it returns
// an empty Ticket.
func Parse(text string) (Ticket, error) {
	if rest, sized := strings.CutPrefix(text, noPromise); sized {
		if !validSize(rest) {
			return Ticket{}, fmt.Errorf("ticket %.40q: no time limit, and none by numbers of nodes", text)
		}
		return Ticket{}, nil
	}
	fields := strings.Split(text, ":")
	if len(text) > maxSize || len(fields) < 4 || len(fields) > 5 {
		return Ticket{}, fmt.Errorf("ticket %.40q: not four fields, or five", text)
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
	if len(fields) == 5 {
		if t.Group = fields[4]; !api.ValidPlanID(t.Group) || t.Plan == "" {
			return Ticket{}, fmt.Errorf("ticket %.40q: %.20q names no group of a plan", text, t.Group)
		}
	}
	return t, nil
}

// validSize reports whether text is valid after noPromise.
func validSize(text string) bool {
	number := func(text string) bool {
		_, err := strconv.ParseUint(text, 10, 40)
		return err == nil
	}
	tasks, limits, ok := strings.Cut(text, ":")
	if !ok || tasks == "" {
		return ok && number(limits)
	}
	for one := range strings.SplitSeq(limits, ",") {
		nodes, limit, ok := strings.Cut(one, "=")
		if !ok || !number(nodes) || !number(limit) {
			return false
		}
	}
	return number(tasks)
}
