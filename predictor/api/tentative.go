package api

// A tentative promise is one of several that a client asks for, of which it wants one, or all, or
// none: say at several sites. It holds like any other until its Tentative time. By then the client
// has submitted its job and confirms it; otherwise varqd takes the promise back, and cancels the
// job. Until it is confirmed, the job cannot start: it is to begin a month later. So whatever
// becomes of the client, nothing that it did not confirm is left.

// MaxTentative bounds for how many seconds a promise can be tentative.
const MaxTentative = 600

// unconfirmed is by how many seconds after its Tentative time the job of a tentative promise is to
// begin. By then varqd has cancelled it.
const unconfirmed = 30 * 86400

// SubmitBegin returns when the job is to become eligible as it is submitted (sbatch --begin). That
// is BeginTime, unless the promise is tentative.
func (p *Plan) SubmitBegin() int64 {
	if p.Tentative != 0 {
		return p.Tentative + unconfirmed
	}
	return p.BeginTime
}

// Confirmation confirms the tentative promise of a plan, for which Job was submitted. Only the
// plan's user may confirm it. To confirm it again changes nothing.
type Confirmation struct {
	Plan string `json:"plan"`
	Job  int64  `json:"job"`
}

// Check returns what is wrong with the confirmation by itself: Mistakes, or nil.
func (r *Confirmation) Check() error { return checkJobOfPlan(r.Plan, r.Job) }
