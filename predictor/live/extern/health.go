package extern

import (
	"maps"
	"sync"
)

// Failure is a way in which a forecaster fails to answer a question.
type Failure string

// The ways to fail.
const (
	// Late: there was no answer in time.
	Late Failure = "late"
	// Nonsense: what it answered cannot be an answer.
	Nonsense Failure = "nonsense"
	// Failed: it answered by an error, or ended meanwhile.
	Failed Failure = "failed"
	// Busy: it was not asked, for it was still learning or answering others.
	Busy Failure = "busy"
)

// Health is how well a forecaster works.
type Health struct {
	// Name is the configured name, Version what the program last called itself.
	Name, Version string
	// Problem says why it is left out, and is empty while it is asked.
	Problem string
	// Answers counts the calls that were answered, Failures those that were not.
	Answers  uint64
	Failures map[Failure]uint64
	// Starts counts how often the program became ready to be asked.
	Starts uint64
}

// Health returns how well the forecaster works.
func (f *Forecaster) Health() Health { return f.record.health() }

// record keeps a Health.
type record struct {
	mu     sync.Mutex
	h      Health
	inRow  int              // failures since the last answer
	logged map[Failure]bool // since the program was started
}

func newRecord(name string) *record {
	return &record{h: Health{Name: name, Problem: "it is being started and told of the past", Failures: map[Failure]uint64{}}}
}

func (r *record) health() Health {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.h
	h.Failures = maps.Clone(h.Failures)
	return h
}

// out notes why the forecaster is left out from now on.
func (r *record) out(problem string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.h.Problem = problem
}

// up notes that it is asked from now on.
func (r *record) up(version string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.h.Version, r.h.Problem = version, ""
	r.h.Starts++
	r.inRow, r.logged = 0, map[Failure]bool{}
}

func (r *record) answered() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.h.Answers++
	r.inRow = 0
}

// failed counts a failure. It returns whether it is the first of its kind since the
// program was started, and how many have come in succession. Busy counts for neither.
func (r *record) failed(way Failure) (first bool, inRow int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.h.Failures[way]++
	if way == Busy {
		return false, 0
	}
	r.inRow++
	first = !r.logged[way]
	r.logged[way] = true
	return first, r.inRow
}
