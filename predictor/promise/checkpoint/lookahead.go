package checkpoint

import "math"

// Advice is the answer to a Request.
type Advice struct {
	Checkpoint bool
	Reason     Reason
	// Saves is the expected time that a checkpoint now saves, against the best plan without it:
	// negative if it costs more than it saves. It is 0 where nothing was to be weighed.
	Saves float64
	// Next is the work until the next checkpoint that is planned if this one is skipped, as far as
	// is known now; +Inf if none is planned.
	Next float64
}

// Reason is why a checkpoint is to be done or skipped.
type Reason int

// The reasons to checkpoint, and to skip it.
const (
	Worth     Reason = iota // to checkpoint: a failure would cost more, on average
	TakenAway               // to checkpoint: somebody takes a node out of service
	// to checkpoint: the next one would not be complete when the job is stopped
	LastChance
	NotYet        // to skip: later is better
	NotWorth      // to skip: no checkpoint is worth its cost, in what is left
	NothingToSave // to skip: there is no work since the last one
	NothingLeft   // to skip: the work is done
	SavesDeadline // to skip: the job would miss its deadline
	SavesEnd      // to skip: the job would be stopped before it is done
	// to skip: the job would be stopped before the checkpoint is complete
	TooLate
)

var reasons = [...]string{
	Worth:         "on average a failure would cost more",
	TakenAway:     "one of the nodes is being taken out of service",
	LastChance:    "the next one would not be complete when the job is stopped",
	NotYet:        "a later one saves more for the same cost",
	NotWorth:      "in what is left to do, none is worth its cost",
	NothingToSave: "there is no work since the last one",
	NothingLeft:   "nothing is left to do",
	SavesDeadline: "only without it can the job be done by its deadline",
	SavesEnd:      "only without it can the job be done before it is stopped",
	TooLate:       "the job would be stopped before it is complete",
}

// String returns the reason in words, about the checkpoint.
func (r Reason) String() string { return reasons[r] }

// Advise looks ahead. It weighs a checkpoint now against the best plan without it, by dynamic
// programming over the requests to come. A plan costs the time that it is expected to take, and a
// failure costs the work since the last checkpoint, at the price that work has in the long run,
// because it must be done again. With a constant rate and no end in sight that is the best of all
// rules. In special:
//
//   - The work of a job that is done needs no checkpoint: none is done shortly before the end.
//   - What is not checkpointed when the job is stopped (Ends, if the job is not known to be done by
//     then) is lost: there is one that is complete before, and others only if they save more than
//     their toll.
//   - If a job without failures would be done by its deadline, or before it is stopped, but not
//     after one more checkpoint, there is none. A deadline that cannot be met changes nothing.
//   - Otherwise a job that is Warned checkpoints.
//
// The Request must pass its Check. Whatever its times, Advise asks the Hazard at most 1200 times
// and takes 70,000 steps, for half a millisecond at most.
func Advise(r *Request) Advice {
	stopped := r.Ends > 0 && (r.Left == 0 || r.Left > r.Ends)
	finishes := r.Left > 0 && !stopped
	switch {
	case r.Done:
		return Advice{Reason: NothingLeft, Next: math.Inf(1)}
	case r.Since == 0:
		return Advice{Reason: NothingToSave, Next: r.Interval}
	case stopped && r.Cost > r.Ends:
		return Advice{Reason: TooLate, Next: math.Inf(1)}
	case finishes && r.Left <= r.Deadline && r.Left+r.Cost > r.Deadline:
		return Advice{Reason: SavesDeadline, Next: math.Inf(1)}
	case finishes && r.Ends > 0 && r.Left+r.Cost > r.Ends:
		return Advice{Reason: SavesEnd, Next: math.Inf(1)}
	case r.Warned:
		return Advice{Checkpoint: true, Reason: TakenAway, Next: r.Interval}
	}
	p := newPlan(r, stopped, finishes)
	now := p.do(r.Since)
	skip, next := p.skip(r.Since)
	if !less(skip, p.open(0, 0, r.Since)) {
		next = math.Inf(1)
	}
	a := Advice{Checkpoint: less(now, skip), Saves: skip - now, Next: next}
	switch {
	case a.Checkpoint && stopped && r.Interval+r.Cost > r.Ends:
		a.Reason = LastChance
	case a.Checkpoint:
		a.Reason = Worth
	case math.IsInf(next, 1):
		a.Reason = NotWorth
	default:
		a.Reason = NotYet
	}
	return a
}

// less reports whether a value is less than another, by more than the arithmetic may be wrong.
func less(value, other float64) bool {
	const rounding = 1e-12
	return other-value > rounding*(math.Abs(value)+math.Abs(other))
}

const (
	// most bounds the requests to come that are looked at, and each is how many of them are evenly
	// spaced.
	most, each = 128, 72
	// far is how many of the best intervals between checkpoints are looked ahead: what is beyond
	// makes no difference now.
	far = 3
	// shifts bounds the checkpoints to come that put off what is after them; it matters if the risk
	// changes or the job is to be stopped.
	shifts = 8
	// toll is the least that each checkpoint but one must save, as a share of its cost, in a job
	// that is to be stopped. Otherwise the least risk would fill with checkpoints the time that
	// cannot be used before.
	toll = .01
	// worst bounds what a rate and a time multiply to: after so many expected failures, none has a
	// probability of e^-30.
	worst = 30
)

// plan has the values of states at the requests to come. The value of a state is the expected time
// until the job is done, or stopped, less the time that the work still to be done then takes at the
// price of the long run. After a failure the job is where its last checkpoint was, on other nodes,
// in the long run: its value is 0, and the cost of the restart.
type plan struct {
	steady  steady
	cost    float64
	restart float64
	ends    ending
	// at is the work until the requests, ascending, all multiples of the interval; the first is 0.
	at []float64
	// last is the work, or with isStopped the time, until the plan ends.
	last float64
	// when[n] has the times at which the requests are after n checkpoints from now on, and then
	// that at which the plan ends. n is at least 0 and below the last, after which another
	// checkpoint puts off nothing more.
	when [][]instant
	// fresh[n] are the values just after a checkpoint at the requests, with the toll of another.
	fresh [][]float64
}

// instant is a time, with the probability that no node has failed by then, and the integral of
// that.
type instant struct{ time, alive, spent float64 }

// ending is what happens at the time at which a plan ends.
type ending int

const (
	goesOn    ending = iota // nothing: it is as far as the plan looks ahead
	isDone                  // the job is done
	isStopped               // the job is stopped
)

func newPlan(r *Request, stopped, finishes bool) *plan {
	p := &plan{steady: newSteady(r), cost: r.Cost, restart: r.Restart}
	p.last = far * p.steady.work
	latest := p.last
	switch {
	case stopped && r.Ends <= p.last:
		p.ends, p.last, latest = isStopped, r.Ends, r.Ends-r.Cost
	case finishes && r.Left <= p.last:
		p.ends, p.last, latest = isDone, r.Left, r.Left
	}
	rows := int(min(shifts, 1+(p.last+r.Interval)/(r.Cost+r.Interval)))
	p.requests(r.Interval, latest)
	p.times(rows)
	p.observe(r.Hazard)
	values := make([]float64, rows*len(p.at))
	p.fresh = make([][]float64, rows)
	for n := rows - 1; n >= 0; n-- {
		p.fresh[n], values = values[:len(p.at)], values[len(p.at):]
		for i := len(p.at) - 1; i >= 0; i-- {
			value, next := p.best(n, i, 0)
			if p.ends == isStopped && !math.IsInf(next, 1) {
				value = min(value+toll*p.cost, p.open(n, i, 0))
			}
			p.fresh[n][i] = value
		}
	}
	return p
}

// requests chooses the requests that are looked at: all, or the next ones with growing gaps, some
// with the same gap between them, and the latest one.
func (p *plan) requests(interval, latest float64) {
	latest = math.Floor(latest / interval)
	gap := max(1, math.Round(latest/each))
	p.at = append(make([]float64, 0, most), 0)
	for n, step := 1., 1.; n < latest && len(p.at) < most-1; n += step {
		p.at = append(p.at, n*interval)
		step = min(gap, 2*step)
	}
	if latest >= 1 {
		p.at = append(p.at, latest*interval)
	}
}

// times lays out when, without probabilities, for so many numbers of checkpoints, and one more. The
// job that is stopped has no later times than that.
func (p *plan) times(rows int) {
	columns := len(p.at) + 1
	table := make([]instant, (rows+1)*columns)
	p.when = make([][]instant, rows+1)
	for n := range p.when {
		row := table[n*columns : (n+1)*columns]
		later := float64(n) * p.cost
		for i, at := range p.at {
			row[i].time = at + later
		}
		row[columns-1].time = p.last + later
		if p.ends == isStopped {
			for i := range row {
				row[i].time = min(row[i].time, p.last)
			}
		}
		p.when[n] = row
	}
}

// observe asks the hazard about all times, in their order. Between two of them the rate is taken as
// constant.
func (p *plan) observe(h Hazard) {
	var risk, spent, time float64
	next := make([]int, len(p.when)) // in each row, the first instant that is not yet observed
	for {
		var earliest *instant
		var in int
		for n, row := range p.when {
			if next[n] < len(row) && (earliest == nil || row[next[n]].time < earliest.time) {
				earliest, in = &row[next[n]], n
			}
		}
		if earliest == nil {
			return
		}
		next[in]++
		if earliest.time > time {
			grown := max(risk, Failures(h, earliest.time))
			spent += math.Exp(-risk) * (earliest.time - time) * meanSurvival(grown-risk)
			risk, time = grown, earliest.time
		}
		earliest.alive, earliest.spent = math.Exp(-risk), spent
	}
}

// meanSurvival returns the mean of e^-x over x from 0 to the risk.
func meanSurvival(risk float64) float64 {
	if risk < 1e-12 {
		return 1
	}
	return -math.Expm1(-risk) / risk
}

// do returns the value of a checkpoint now, with work since the last one.
func (p *plan) do(since float64) float64 {
	done := &p.when[1][0]
	fresh := p.fresh[min(1, len(p.fresh)-1)][0]
	return done.spent + p.restart*(1-done.alive) + done.alive*(fresh-p.steady.price*since)
}

// skip returns the value of the best plan without a checkpoint now, with work since the last one,
// and the work until the next one in it: +Inf if there is none before the plan ends.
func (p *plan) skip(since float64) (value, next float64) { return p.best(0, 0, since) }

// best returns the value at request i after n checkpoints, with work since the last one, if none is
// done there, and the work until the next one in the best plan.
func (p *plan) best(n, i int, since float64) (value, next float64) {
	value, next = p.open(n, i, since), math.Inf(1)
	begin, after, fresh := &p.when[n][i], p.when[n+1], p.fresh[min(n+1, len(p.fresh)-1)]
	scale, worth := 1/begin.alive, p.restart+p.steady.price*(since-p.at[i])
	for j := i + 1; j < len(p.at); j++ {
		if p.ends == isStopped && p.at[j]+float64(n+1)*p.cost > p.last {
			break // it would not be complete
		}
		end := &after[j]
		v := p.restart + scale*(end.spent-begin.spent+end.alive*(fresh[j]-worth-p.steady.price*p.at[j]))
		if v < value {
			value, next = v, p.at[j]-p.at[i]
		}
	}
	return value, next
}

// open returns the value at request i after n checkpoints, with work since the last one, if there
// is no further one until the plan ends.
func (p *plan) open(n, i int, since float64) float64 {
	begin, end := &p.when[n][i], &p.when[n][len(p.at)]
	survives := end.alive / begin.alive
	value := (end.spent-begin.spent)/begin.alive + p.restart*(1-survives)
	since += p.last - p.at[i]
	switch p.ends {
	case isDone:
		value -= survives * p.steady.price * since
	case goesOn:
		value += survives * p.steady.ahead(since)
	}
	return value
}
