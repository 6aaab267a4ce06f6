package extern

import (
	"maps"
	"sync"
)

// Failure is a way in which a forecaster fails to answer a question.
type Failure string

// The ways to fail.
const (
	// Late: the program did not answer in time.
	Late Failure = "late"
	// Nonsense: the program's answer is not valid.
	Nonsense Failure = "nonsense"
	// Failed: the program answered with an error, or ended during the call.
	Failed Failure = "failed"
	// Busy: the program was not asked, because it was still learning or answering others.
	Busy Failure = "busy"
)

// Health is how well a forecaster works.
type Health struct {
	// Name is the configured name. Version is the version that the program last reported.
	Name, Version string
	// Problem says why the forecaster is left out. It is empty while the forecaster is asked.
	Problem string
	// Answers counts the calls that were answered, Failures the calls that were not.
	Answers  uint64
	Failures map[Failure]uint64
	// Starts counts how often the program became ready to be asked.
	Starts uint64
}

// Health returns how well the forecaster works.
func (s *supervisor[To]) Health() Health { return s.record.health() }

// record keeps a Health.
type record struct {
	mu     sync.Mutex
	h      Health
	inRow  int              // failures since the last answer
	logged map[Failure]bool // ways to fail that were logged since the program was started
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

// up notes that the forecaster is asked from now on.
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

// failed counts a failure. It returns whether the failure is the first of its kind since the
// program was started, and how many failures have come in succession. For Busy it returns
// false and 0.
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
