package desk

import (
	"context"
	"errors"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/workload"
)

// room returns the function trajectory.Planner.Room beside claims and Slurm's own reservations. If
// a partition overcommits its processors, its nodes have no bound. promise is true if something new
// is to be promised. Only one goroutine may use the function. It is fast if consecutive questions
// are about the same job, place and time.
func (d *occupancy) room(claims []workload.Claim, promise bool) func(c workload.Claim, now int64, least float64) workload.Room {
	cluster := d.Premises.Limits()
	if cluster == nil {
		return func(workload.Claim, int64, float64) workload.Room { return workload.Room{Prob: 1} }
	}
	takes := cluster.Takes()
	type asked struct {
		place       workload.Place
		reservation string
		licences    workload.Licences
		qos         string
		job, now    int64
	}
	var last asked
	var nodes, licences func(workload.Claim, float64) workload.Room // answer for last
	var slurms []workload.Claim
	// slurms are known until the time known, for jobs of the size and pieces of like
	known, like := int64(0), workload.Claim{}
	return func(c workload.Claim, now int64, least float64) workload.Room {
		if !cluster.Reservations.Encloses(c.Reservation) {
			c.Reservation = ""
		}
		if c.Reservation != "" { // it starts within latency of having room
			from := max(now, c.From-latency)
			c.From, c.Limit = from, c.Limit+c.From-from
		}
		is, had := asked{c.Place(), c.Reservation, c.Licences, c.QOS, c.Job, now}, len(slurms)
		anew := is != last
		if anew {
			last, nodes, licences = is, nil, d.licensed(cluster, c, now, claims, promise)
		}
		if cluster.Partitions[c.Partition].Overcommits {
			return licences(c, least)
		}
		end := c.From + max(1, c.Limit)
		// also for later questions, which are about times soon after
		if anew || end > known || c.Nodes != like.Nodes || c.Pieces != like.Pieces {
			known, like = end+(end-now), c
			slurms = cluster.Job(c.Request, nil).Claims(c.Pieces, now, known)
			if anew || had+len(slurms) > 0 {
				nodes = d.roomBeside(cluster, c, now, slices.Concat(sharing(cluster.Reservations, claims, c.Reservation), slurms), promise)
			}
		}
		c.CPUs, c.Memory = takes.CPUs(c.Request), takes.Memory(c.Request)
		room := nodes(c, least)
		if c.Licences != "" {
			room = room.And(licences(c, least))
		}
		return room
	}
}

// sharing returns those claims that may be on the same nodes as a job inside of a reservation of
// Slurm's, or of none: others are never on these.
func sharing(all limits.Reservations, claims []workload.Claim, reservation string) []workload.Claim {
	elsewhere := func(c workload.Claim) bool {
		return c.Reservation != reservation && (reservation != "" || all.Encloses(c.Reservation))
	}
	if !slices.ContainsFunc(claims, elsewhere) {
		return claims
	}
	return slices.DeleteFunc(slices.Clone(claims), elsewhere)
}

// roomBeside returns Outlook.Room beside others for a job like c. If jobs start strictly in order,
// or c runs inside of a reservation of Slurm's, it also keeps to the order of the queue.
func (d *occupancy) roomBeside(cluster *limits.Cluster, c workload.Claim, now int64, others []workload.Claim, promise bool) func(workload.Claim, float64) workload.Room {
	if cluster.Strict || c.Reservation != "" {
		return d.roomInOrder(cluster, c, now, others, promise)
	}
	return d.Outlook.Room(c.Place(), c.Job, now, others)
}

// claims returns the claims of open promises, of jobs of promised flows that wait, and of plain
// jobs that become eligible later or wait for their nodes to be up. It leaves out the promises of
// the plans that but names. The error is a fault of package api.
func (d *occupancy) claims(ctx context.Context, now int64, but ...string) ([]workload.Claim, error) {
	claims, err := d.Ledger.Claims(ctx, now, but...)
	if err != nil {
		return nil, d.unread(ctx, err)
	}
	if flows := d.flows.Load(); flows != nil {
		of := map[int64]bool{} // these have their room by promises of their own
		for i := range claims {
			of[claims[i].Job] = true
		}
		for _, c := range *flows {
			if !of[c.Job] {
				claims = append(claims, c)
			}
		}
	}
	d.measure(claims)
	return append(claims, d.plainClaims()...), nil
}

// withOffers returns claims and the room that is kept for offers to others than a user whose
// request has a standing, and until when some of that room is kept; see offered.claims.
func (d *occupancy) withOffers(claims []workload.Claim, user string, as standing, now int64) (all []workload.Claim, until int64) {
	kept, until := d.offered.claims(user, &as, now)
	d.measure(kept)
	return slices.Concat(claims, kept), until
}

// measure sets the CPUs and the memory of claims to what Slurm takes for them.
func (d *occupancy) measure(claims []workload.Claim) {
	c := d.Premises.Limits()
	if c == nil {
		return
	}
	takes := c.Takes()
	for i := range claims {
		r := &claims[i].Request
		r.CPUs, r.Memory = takes.CPUs(*r), takes.Memory(*r)
	}
}

// unread returns the fault for a user if the open promises cannot be read because of err. If nobody
// waits for the answer any more, it returns err.
func (d *occupancy) unread(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	d.Log.Error("open promises could not be read", "error", err)
	return api.Fault(api.ErrUnavailable, "the promises made before cannot be read, so none is made")
}

// errCrowded is returned if other promises leave too little room for a plan.
var errCrowded = errors.New("another promise has taken the room")

// stillRoom returns errCrowded if promises and offers made since claims were read leave too little
// room for a plan.
func (d *occupancy) stillRoom(ctx context.Context, got *trajectory.Answer, as standing, claims []workload.Claim) error {
	now := d.Now()
	fresh, err := d.claims(ctx, now, as.later...)
	fresh, _ = d.withOffers(fresh, got.Job.User, as, now)
	same := func(a, b workload.Claim) bool { return a.Equal(&b) }
	if err != nil || slices.EqualFunc(fresh, claims, same) {
		return err
	}
	return d.fits(got, 0, fresh, now)
}

// fits returns errCrowded if claims leave too little room for a plan. job, if not 0, is the plan's
// job, which is not in its own way.
func (d *occupancy) fits(got *trajectory.Answer, job int64, claims []workload.Claim, now int64) error {
	claim := got.Claim()
	claim.Job = job
	others := slices.DeleteFunc(claims, func(c workload.Claim) bool { return job != 0 && c.Job == job })
	room := d.room(others, true)(claim, now, 0)
	if room.Within(got.Plan.Start, got.Plan.Last) < got.Plan.Estimate.Prob {
		return errCrowded
	}
	return nil
}

// ObserveRunning notes those of the claims of open promises whose jobs run.
func (d *occupancy) ObserveRunning(claims []workload.Claim) {
	claims = slices.DeleteFunc(claims, func(c workload.Claim) bool { return !c.Runs })
	d.measure(claims)
	d.running.Store(&claims)
}

// ObserveFlows notes the claims of jobs of promised flows that wait.
func (d *occupancy) ObserveFlows(claims []workload.Claim) { d.flows.Store(&claims) }

// held returns the claims of promised jobs that run, and of plain jobs that become eligible later
// or wait for their nodes to be up. Promised jobs that wait take nothing from others that do: they
// have their turn in the queue.
func (d *occupancy) held() []workload.Claim {
	return slices.Concat(d.runningClaims(), d.plainClaims())
}

// runningClaims returns the claims of promised jobs that run. The caller must not change it.
func (d *occupancy) runningClaims() []workload.Claim {
	if running := d.running.Load(); running != nil {
		return *running
	}
	return nil
}

// limitToRoom lowers the probabilities of a start after a submission now to those of room. A job
// that has started by a time has done so by all later ones, whatever room there is then.
// limitToRoom returns the probability that there is no room now.
func limitToRoom(d *delay.Distribution, room func(at int64) float64, now int64) (taken float64) {
	before := 0.
	for i := range delay.Points {
		left := room(now + int64(delay.At(i)))
		if i == 0 {
			taken = 1 - left
		}
		if left == 1 {
			break
		}
		d[i] = max(before, min(d[i], left))
		before = d[i]
	}
	return taken
}

// wake sets the probabilities of starts to 0 for so many seconds, while nodes are powered up.
func wake(a *forecast.Answer, seconds int64) {
	for i := 0; i < delay.Points && delay.At(i) < float64(seconds); i++ {
		a.Wait[i], a.Lower[i] = 0, 0
	}
}

func blockedBy(w *limits.Window) *api.Blocked {
	return &api.Blocked{Why: w.Says, Start: w.Start, End: w.End}
}

// postpone changes an answer about a submission now of a job with a time limit. It moves starts out
// of the windows in which the job cannot run, to the end of each window. It returns the first
// window that may keep the job waiting, or nil.
func postpone(a *forecast.Answer, windows []limits.Window, now, limit int64) *api.Blocked {
	var first *api.Blocked
	wait, lower := 0., 0. // probabilities of a start before the window
	for i := range delay.Points {
		at := now + int64(delay.At(i))
		w := slices.IndexFunc(windows, func(w limits.Window) bool { return w.Stops(at, limit) })
		if w < 0 {
			wait, lower = a.Wait[i], a.Lower[i]
			continue
		}
		if first == nil && a.Wait[i] > wait {
			first = blockedBy(&windows[w])
		}
		a.Wait[i], a.Lower[i] = wait, lower
	}
	return first
}
