package chaos

import (
	"sync"
	"time"
)

// Submission is what a user asked for, what she read, and what she did to the job afterwards.
// Times are Unix seconds, durations seconds.
type Submission struct {
	Name, User string // the job's name is different for each
	Args       []string
	Kind       string
	Reserved   bool
	Limit      int64 // of the work
	Nodes      int
	OnMiss     bool    // cancel
	Began      float64 // the submission
	Done       float64
	Code       int
	Said       string // on standard error
	Killed     bool   // the submitting command was, on purpose
	Job        int64  // 0 if no number was printed
	Promise    *Promise
	Acts       []Act
}

// Promise is what the user read.
type Promise struct {
	BeginBy, From int64 // From is 0 unless she gave a window
	BestEffort    bool
	Prob          string
	Eligible      int64
	Limit         string
	Ceiling       float64 // node-hours
}

// Act is something that a user did to her job.
type Act struct {
	What        string
	Args        []string
	Began, Done float64
	Code        int
	Said        string
}

// Fault is a fault while it lasted.
type Fault struct {
	Kind, Detail string
	Began, Done  float64
}

// journal is what the campaign did. It may be written by many at once.
type journal struct {
	mu          sync.Mutex
	submissions []*Submission
	faults      []Fault
	failures    []string // of varqd itself
	endings     []Ending
	end         float64
}

// Ending is an end of varqd that nobody wanted.
type Ending struct {
	At    float64
	State string
}

func newJournal() *journal { return &journal{} }

func (j *journal) submitted(s *Submission) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.submissions = append(j.submissions, s)
}

func (j *journal) acted(s *Submission, a Act) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s.Acts = append(s.Acts, a)
}

func (j *journal) faulted(f Fault) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.faults = append(j.faults, f)
}

// failed notes that varqd did what it must never do.
func (j *journal) failed(what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.failures = append(j.failures, what)
}

// ended notes that varqd has ended by itself.
func (j *journal) ended(state string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.endings = append(j.endings, Ending{now(), state})
}

// lastDeadline returns the last deadline that a user read, or 0.
func (j *journal) lastDeadline() (last int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.submissions {
		if s.Promise != nil {
			last = max(last, s.Promise.BeginBy)
		}
	}
	return last
}

// setEnd notes when the campaign cancels all jobs.
func (j *journal) setEnd(at float64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.end = at
}

func (j *journal) counts() (submissions, promises, faults int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.submissions {
		if s.Promise != nil {
			promises++
		}
	}
	return len(j.submissions), promises, len(j.faults)
}

func now() float64 { return seconds(time.Now()) }

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
