package health

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/live/vitals"
)

const (
	// mostEvents is how many events are kept, to learn from them again when nodes come or go.
	mostEvents = 200_000
	// mostNodeDays bounds what there is to learn from: of many nodes not so much of the past is
	// needed.
	mostNodeDays = 1_000_000
	// relearnEvery is the least time, in seconds, between two times of learning from the whole past
	// again.
	relearnEvery = 3600
	day          = 86400
)

// Risks forecasts which nodes will fail. The zero value knows nothing. Its methods may be called
// concurrently.
type Risks struct {
	learning sync.Mutex // one Learn at a time; guards the following
	model    *fault.Model
	nodes    []string
	events   []fault.Event
	since    int64 // from when on events are known
	relearnt int64 // when the model was made
	// kinds are those of vitals.Kinds that have occurred: a kind that never occurs needs no room in
	// the model. unmodelled tells that one of them has occurred since the model was made.
	kinds      []string
	unmodelled bool
	last       int64 // now of the last call
	learnt     Learnt

	mu       sync.Mutex // guards the following
	told     map[string]Risk
	other    Risk // of a node of which nothing is known
	forecast *fault.Forecast
	from     Learnt
}

// Risk is how probable it is that a node fails.
type Risk struct {
	Prob     float64                    // within a day
	Why      string                     // what most of it rests on: part of a sentence
	Expected float64                    // failures within a day
	Model    float64                    // the same as fault.Model expects it, without any Voice
	Votes    [len(fault.Voters)]float64 // as each of fault.Voters expects it
}

// Voice is what one forecaster besides fault.Model says.
type Voice struct {
	Name string
	// Part is the part that it has in the vote (fault.Vote). The model has what all leave.
	Part float64
	// Expected has the failures within a day, by node. A node that is missing is one of which it
	// does not know.
	Expected map[string]float64
}

// Learnt is what Risks rest on.
type Learnt struct {
	Since    int64 // Unix seconds; 0 before the first call of Learn
	Failures int
}

// Learn takes in that these are the nodes at the time now, in Unix seconds, and what happened to
// them since the last call, in any order. What happened is known from the time since on, which may
// move back from one call to the next as more becomes known. A list without nodes is ignored. ask,
// which may be nil, returns what others say of the nodes; Replay waits for it, so that an event is
// either told to them or replayed.
//
// Learning from the past of n nodes takes as fault.Model's methods say, once, when since moves
// back, and when nodes have come or gone, a kind of vitals.Kinds occurs for the first time, or the
// clock has been set back, but at most once in relearnEvery. Of does not wait for that.
func (r *Risks) Learn(nodes []string, events []fault.Event, since, now int64, ask func() []Voice) {
	r.learning.Lock()
	defer r.learning.Unlock()
	r.remember(events)
	if len(nodes) == 0 {
		return
	}
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, natural)
	more := r.model == nil || since < r.since
	if more {
		r.since = since
	}
	setBack := now < r.last-relearnEvery
	if more || setBack || (r.unmodelled || !slices.Equal(nodes, r.nodes)) && now >= r.relearnt+relearnEvery {
		r.relearn(nodes, now)
	} else {
		for _, e := range events {
			r.observe(e)
		}
		r.model.Advance(now)
	}
	r.last = now
	var voices []Voice
	if ask != nil {
		voices = ask()
	}
	r.tell(voices)
}

// remember keeps events, and of too many the latest: events that are not failures go first.
func (r *Risks) remember(events []fault.Event) {
	for _, e := range events {
		if !slices.Contains(r.kinds, e.Kind) && slices.Contains(vitals.Kinds(), e.Kind) {
			r.kinds, r.unmodelled = append(r.kinds, e.Kind), true
		}
	}
	r.events = append(r.events, events...)
	more := len(r.events) - mostEvents
	if more <= 0 {
		return
	}
	r.events = slices.DeleteFunc(r.events, func(e fault.Event) bool {
		goes := more > 0 && e.Kind != fault.Failure
		if goes {
			more--
		}
		return goes
	})
	r.events = slices.Delete(r.events, 0, more)
}

// relearn makes the model again, from all events.
func (r *Risks) relearn(nodes []string, now int64) {
	start := max(min(r.since, now), now-mostNodeDays/int64(len(nodes))*day)
	slices.SortStableFunc(r.events, byTime)
	r.model = fault.New(nodes, slices.Concat(Kinds(), r.kinds), start)
	r.nodes, r.relearnt, r.unmodelled, r.learnt = nodes, now, false, Learnt{Since: start}
	for _, e := range r.events {
		if e.At >= start && e.At <= now {
			r.observe(e)
		}
	}
	r.model.Advance(now)
}

func (r *Risks) observe(e fault.Event) {
	if r.model.Observe(e) && e.Kind == fault.Failure {
		r.learnt.Failures++
	}
}

// Replay tells all that has been learnt, in the order of time. Its error is that of ctx.
func (r *Risks) Replay(ctx context.Context, to func(fault.Event)) error {
	r.learning.Lock()
	events := slices.Clone(r.events)
	r.learning.Unlock()
	slices.SortStableFunc(events, byTime)
	for _, e := range events {
		to(e)
	}
	return ctx.Err()
}

func byTime(a, b fault.Event) int { return cmp.Compare(a.At, b.At) }

// tell makes what Of and Forecast return.
func (r *Risks) tell(voices []Voice) {
	told, forecast := make(map[string]Risk, len(r.nodes)), r.model.Forecast(r.nodes)
	risk := func(node string) Risk {
		expected, o := forecast.Expected(node, day), r.model.Outlook(node)
		return Risk{Prob: -math.Expm1(-expected), Why: o.Parts[0].Evidence, Expected: expected, Model: expected, Votes: o.Votes}
	}
	for _, node := range r.nodes {
		r := risk(node)
		if r.hear(node, voices) {
			forecast.Correct(node, r.Expected/r.Model)
		}
		told[node] = r
	}
	other := risk("")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told, r.other, r.forecast, r.from = told, other, forecast, r.learnt
}

// hear blends what others say of a node into its risk, and reports whether anybody does. Who does
// not know is left out of the vote.
func (r *Risk) hear(node string, voices []Voice) bool {
	vote, each := fault.Vote{1}, []float64{r.Model}
	loudest, most := "", 0.
	for i := range voices {
		v := &voices[i]
		vote[0] -= v.Part
		if expected, known := v.Expected[node]; known {
			vote, each = append(vote, v.Part), append(each, expected)
			if v.Part*expected > most {
				loudest, most = v.Name, v.Part*expected
			}
		}
	}
	if len(each) == 1 {
		return false
	}
	vote[0] = max(vote[0], leastPart)
	if most > vote[0]*r.Model {
		r.Why = "what " + loudest + " says"
	}
	sum := 0.
	for _, part := range vote {
		sum += part
	}
	for i := range vote {
		vote[i] /= sum
	}
	r.Expected = vote.Expected(each)
	r.Prob = -math.Expm1(-r.Expected)
	return true
}

// leastPart is the least part that the model has in a vote.
const leastPart = .001

// Of returns the risk of a node as of the last call of Learn, that of a mean node where it is not
// known.
func (r *Risks) Of(node string) Risk {
	r.mu.Lock()
	defer r.mu.Unlock()
	if risk, ok := r.told[node]; ok {
		return risk
	}
	return r.other
}

// Forecast returns what is to be said of several nodes together, as of the last call of Learn, and
// what that rests on. Before the first call it is nil.
func (r *Risks) Forecast() (*fault.Forecast, Learnt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.forecast, r.from
}

// Learnt returns what the risks rest on.
func (r *Risks) Learnt() Learnt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.from
}

// natural compares names as people order them: n2 before n10. So nodes that stand near each other
// are near each other in a list.
func natural(a, b string) int {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x, y := digits(a[i:]), digits(b[j:])
		if x == 0 || y == 0 {
			if a[i] != b[j] {
				return cmp.Compare(a[i], b[j])
			}
			i, j = i+1, j+1
			continue
		}
		if c := compareNumbers(a[i:i+x], b[j:j+y]); c != 0 {
			return c
		}
		i, j = i+x, j+y
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// digits returns how many digits a text begins with.
func digits(text string) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}

// compareNumbers compares two texts of digits as numbers.
func compareNumbers(a, b string) int {
	for len(a) > 1 && a[0] == '0' {
		a = a[1:]
	}
	for len(b) > 1 && b[0] == '0' {
		b = b[1:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
