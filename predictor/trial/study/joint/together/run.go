package together

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/promise/joint"
)

// near is how many seconds after a job at one site a job is submitted to the other, at most, to be
// its counterpart.
const near = 1800

// Experiment asks for starts at two sites.
type Experiment struct {
	// Sites have their jobs by submission. If the second is nil, both jobs are at the first site,
	// and of different users: as if its partitions shared all nodes.
	Sites [2][]Job
	// Shift is added to the times of the second site's jobs.
	Shift int64
	// Every is how many jobs of the first site there are for one that asks.
	Every int
	// Seed determines which jobs ask, and for which deadline.
	Seed uint64
}

// Outcome is what came of a question whether any, or all, of two jobs start by a deadline.
type Outcome struct {
	At   int64 // when it was asked, Unix seconds of the first site
	Kind joint.Kind
	// Members are the probabilities of both jobs, each by itself, and Met whether they started in
	// time.
	Members [2]float64
	Met     [2]bool
	joint.Quote
	Came bool
}

// event is something that becomes known at a time.
type event struct {
	at   int64
	turn turn
	job  *Job // that has started
	site int  // of the job
	ask  *request
}

// turn orders events of the same second.
type turn uint8

const (
	started turn = iota
	due
	asked
)

// request is a question about two jobs.
type request struct {
	jobs     [2]*Job
	at       int64 // when both have been submitted
	deadline int   // index of Deadlines
	outcomes [2]Outcome
}

// sites are the names of the sites.
var sites = [2]string{"first", "second"}

// Run asks, and returns two outcomes for each question, of which the first is that of any, by time.
//
// A job that asks at the first site has as its counterpart the next job that is submitted to the
// second within half an hour and has at least half and at most twice as many processors. It takes
// both jobs' own waits: neither job is there for the request. The deadline is as far from the one's
// submission as from the other's. Without a counterpart nothing is asked.
//
// A start is known when it happens, and whether a deadline was met when it has passed: a quote
// rests on nothing later.
func (e *Experiment) Run() []Outcome {
	random := rand.New(rand.NewPCG(e.Seed, 0x746f_6765))
	one := e.Sites[1] == nil
	names, other, shift := sites, e.Sites[1], e.Shift
	if one {
		names, other, shift = [2]string{sites[0], sites[0]}, e.Sites[0], 0
	}
	var events []event
	var requests []*request
	for i := range e.Sites[0] {
		j := &e.Sites[0][i]
		events = append(events, event{at: j.Submit + j.Wait, job: j})
		wanted, deadline := random.IntN(e.Every) == 0, random.IntN(len(Deadlines))
		if !wanted {
			continue
		}
		if with := counterpart(j, other, shift, one); with != nil {
			r := &request{jobs: [2]*Job{j, with}, at: with.Submit + shift, deadline: deadline}
			requests = append(requests, r)
			events = append(events, event{at: r.at, turn: asked, ask: r}, event{at: r.at + Deadlines[deadline], turn: due, ask: r})
		}
	}
	for i := range e.Sites[1] {
		j := &e.Sites[1][i]
		events = append(events, event{at: j.Submit + j.Wait + shift, job: j, site: 1})
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.turn, b.turn)) })
	var m joint.Model
	for _, happens := range events {
		switch j, r := happens.job, happens.ask; happens.turn {
		case started:
			m.Learn(names[happens.site], happens.at-j.Wait, happens.at, j.Rank)
		case asked:
			r.quote(&m, names)
		case due:
			for i := range r.outcomes {
				m.Came(r.outcomes[i].Kind, r.outcomes[i].Joint, r.outcomes[i].Came, happens.at)
			}
		}
	}
	slices.SortStableFunc(requests, func(a, b *request) int { return cmp.Compare(a.at, b.at) })
	var outcomes []Outcome
	for _, r := range requests {
		outcomes = append(outcomes, r.outcomes[:]...)
	}
	return outcomes
}

// counterpart returns the job that is submitted together with j, or nil if there is none.
func counterpart(j *Job, others []Job, shift int64, one bool) *Job {
	i, _ := slices.BinarySearchFunc(others, j.Submit-shift, func(o Job, at int64) int { return cmp.Compare(o.Submit, at) })
	for ; i < len(others) && others[i].Submit+shift <= j.Submit+near; i++ {
		o := &others[i]
		if o.Procs <= 2*j.Procs && 2*o.Procs >= j.Procs && (!one || o.User != j.User) {
			return o
		}
	}
	return nil
}

// quote asks the model for both probabilities.
func (r *request) quote(m *joint.Model, names [2]string) {
	var o Outcome
	var members []joint.Member
	met := 0
	for i, j := range r.jobs {
		o.Members[i], o.Met[i] = j.Within[r.deadline], j.Wait <= Deadlines[r.deadline]
		members = append(members, joint.Member{Site: names[i], Prob: o.Members[i]})
		if o.Met[i] {
			met++
		}
	}
	o.At = r.at
	for i, g := range []joint.Group{joint.AnyOf(members...), joint.AllOf(members...)} {
		o.Kind, o.Quote, o.Came = g.Kind(), m.Quote(g, r.at), met > i
		r.outcomes[i] = o
	}
}
