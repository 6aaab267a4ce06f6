package every

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// Bounds of what is stored.
const (
	maxSeries = 100      // of one user
	maxKept   = 100      // occurrences of one series, the latest
	maxAhead  = 24       // occurrences of one series that are reserved and still to come
	maxBytes  = 1 << 20  // of a file
	maxArgs   = 64 << 10 // of sbatch's arguments together, in bytes
	maxTold   = 2000     // of what sbatch says, in bytes
	// seconds: what nobody reserved longer ago is not told, and nothing is reserved longer before
	// its time
	maxMissedBy = 7 * 86400
)

// Series is a job that recurs, or a flow. Times are Unix seconds.
type Series struct {
	ID       string `json:"id"`
	Schedule string `json:"schedule"`
	Zone     string `json:"zone,omitempty"` // its time zone by name, or empty for the host's
	// as --prob was given, or empty for the site's default
	Prob string `json:"prob,omitempty"`
	// how long before its time an occurrence is reserved, in seconds
	Ahead   int64    `json:"ahead"`
	Program string   `json:"sbatch"`         // the path of sbatch or, of a flow, of varq
	Flow    bool     `json:"flow,omitempty"` // varq flow submits what recurs
	Args    []string `json:"args"`
	Dir     string   `json:"dir"` // in which the program runs
	Made    int64    `json:"made"`
	// Occurrences are in the order of their times.
	Occurrences []Occurrence `json:"occurrences,omitempty"`
}

// The states of an occurrence, beside those of a reservation (package api).
const (
	// StateSubmitting: the program was started, and whether it has submitted the job is not known.
	StateSubmitting = "SUBMITTING"
	// StateRefused: it is not reserved; the next run tries again, until its time.
	StateRefused = "REFUSED"
)

// Occurrence is one time at which the job is to be running, or all jobs of the flow to have ended.
type Occurrence struct {
	At    int64  `json:"at"`
	State string `json:"state"`
	Job   int64  `json:"job,omitempty"`   // of a flow its first one
	Tried int64  `json:"tried,omitempty"` // when the program was started last
	Note  string `json:"note,omitempty"`  // why it is not reserved, or what the program said
}

// own returns the options that are the series' own, for the occurrence at a time.
func (s *Series) own(at int64) []string {
	options := []string{"--parsable", "--begin-by=uts" + strconv.FormatInt(at, 10)}
	if s.Flow {
		options = []string{"flow", "--json", "--finish-by=uts" + strconv.FormatInt(at, 10)}
	}
	if s.Prob != "" {
		options = append(options, "--prob="+s.Prob)
	}
	return options
}

// name returns what the program is called in a sentence.
func (s *Series) name() string {
	if s.Flow {
		return "varq flow"
	}
	return "sbatch"
}

// settled reports whether nothing becomes of the occurrence any more.
func (o *Occurrence) settled() bool {
	return o.State == api.StateKept || o.State == api.StateMissed || o.State == api.StateCancelled
}

// validID is the form of Series.ID.
var validID = regexp.MustCompile(`^[a-z0-9]{6}$`)

// zone returns the time zone of the schedule.
func (s *Series) zone(host *time.Location) (*time.Location, error) {
	if s.Zone == "" {
		return host, nil
	}
	return time.LoadLocation(s.Zone)
}

// check makes sure that a series that was read from a file can be worked with.
func (s *Series) check(now int64, host *time.Location) (*Schedule, error) {
	size := 0
	for _, arg := range s.Args {
		size += len(arg)
	}
	switch {
	case !validID.MatchString(s.ID):
		return nil, fmt.Errorf("id: %.20q is none", s.ID)
	case s.Ahead <= 0:
		return nil, fmt.Errorf("ahead: %d is not a duration", s.Ahead)
	case s.Program == "" || len(s.Args) == 0:
		return nil, errors.New("sbatch: there is none, or no job")
	case size > maxArgs:
		return nil, fmt.Errorf("args: they are longer than %d bytes", maxArgs)
	}
	zone, err := s.zone(host)
	if err != nil {
		return nil, fmt.Errorf("zone: %w", err)
	}
	return ParseSchedule(s.Schedule, now, zone)
}

// skew is by how many seconds the clocks of two hosts may differ on which varq every run is called
// by turns: that none takes back what the other has decided, and tells it again.
const skew = 15 * 60

// plan adds the occurrences that are due to be reserved now, and those for which nothing was done
// in time. What was planned by a clock that was far ahead, and is not due by now, does not count.
func (s *Series) plan(schedule *Schedule, now int64) {
	s.Occurrences = slices.DeleteFunc(s.Occurrences, func(o Occurrence) bool {
		early := o.At > now+skew && o.State == api.StateMissed || o.At > now+skew+s.Ahead && o.State == StateRefused
		return early && o.Job == 0
	})
	after := max(min(s.Made, now), now-maxMissedBy)
	waiting := map[int64]bool{}
	for i := range s.Occurrences {
		if at := s.Occurrences[i].At; at > now {
			waiting[at] = true
		} else {
			after = max(after, at)
		}
	}
	for at := schedule.Next(after); at != 0 && at <= now+s.Ahead && len(waiting) < maxAhead; at = schedule.Next(at) {
		if waiting[at] {
			continue
		}
		o := Occurrence{At: at, State: StateRefused}
		if at > now {
			waiting[at] = true
		} else {
			o.Note = "'varq every run' did not run in time"
		}
		s.Occurrences = append(s.Occurrences, o)
	}
	slices.SortStableFunc(s.Occurrences, func(a, b Occurrence) int { return cmp.Compare(a.At, b.At) })
	s.Occurrences = s.Occurrences[max(0, len(s.Occurrences)-maxKept):]
}

// Next returns the time of the next occurrence after now, or 0 if there is none.
func (s *Series) Next(now int64, host *time.Location) int64 {
	schedule, err := s.check(now, host)
	if err != nil {
		return 0
	}
	return schedule.Next(now)
}
