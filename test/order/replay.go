package order

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/forecast/predictor"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Quicker is how many times as long as in the recording all takes in a Replay: 5 seconds are 50
// minutes then, and three quarters of an hour 19 days.
const Quicker = 600

// aging is that of conf, in the time of a Replay.
var aging = workload.Aging{Weight: 20000, Max: 1800 * Quicker}

// Recording is what a Site has recorded, in the time of a Replay.
type Recording struct {
	jobs    []workload.Job
	changes []forecast.Event
}

// Open reads the recording in a file, which may be compressed: NAME.gz.
func Open(name string) (*Recording, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if !strings.HasSuffix(name, ".gz") {
		return Read(file)
	}
	text, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return Read(text)
}

// Read reads a recording.
func Read(from io.Reader) (*Recording, error) {
	jobs, last, r := map[int64]*workload.Job{}, map[int64]workload.Job{}, &Recording{}
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		var s Sighting
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, fmt.Errorf("recording: %w", err)
		}
		begun := stretch(&s)
		if s.Job.State == workload.Pending { // what a reason means may have been learnt since
			s.Job.AtLimit, s.Job.QOSFull = slurm.AtLimit(s.Reason), slurm.QOSFull(s.Reason)
		}
		j := jobs[s.Job.ID]
		switch {
		case j == nil && s.Job.State == workload.Pending:
			jobs[s.Job.ID], last[s.Job.ID] = &s.Job, s.Job
			s.Job.Priority -= aging.Gain(s.At - begun)
		case j == nil: // it started before it was seen waiting: its priority is not known
			jobs[s.Job.ID] = &s.Job
		case s.Job.State == workload.Pending:
			now := s.Job
			now.Priority -= aging.Gain(s.At - begun)
			j.AtLimit = j.AtLimit || now.AtLimit
			if was := last[now.ID]; now.Priority != was.Priority || now.QOSFull != was.QOSFull || now.AtLimit != was.AtLimit {
				r.changes = append(r.changes, forecast.Event{At: s.At, Kind: forecast.Changed, Job: &now})
			}
			last[now.ID] = now
		default:
			j.Start, j.End, j.State, j.Given = s.Job.Start, s.Job.End, s.Job.State, s.Job.Given
		}
	}
	for _, j := range jobs {
		r.jobs = append(r.jobs, *j)
	}
	slices.SortFunc(r.jobs, func(a, b workload.Job) int { return cmp.Compare(a.ID, b.ID) })
	return r, lines.Err()
}

// stretch changes the times of a sighting to those of a Replay, and returns when its job began to
// wait.
func stretch(s *Sighting) (begun int64) {
	j := &s.Job
	for _, t := range []*int64{&s.At, &j.Submit, &j.Eligible, &j.Start, &j.End, &j.Limit} {
		*t *= Quicker
	}
	return j.Since()
}

// Knowledge is what of Slurm's order a Replay knows.
type Knowledge struct {
	Name    string
	Order   bool // priorities
	QOSFull bool
}

// without takes away what is not known.
func (k Knowledge) without(j workload.Job) *workload.Job {
	if !k.Order {
		j.Priority = 0
	}
	j.QOSFull = j.QOSFull && k.QOSFull
	return &j
}

func pools(workload.Place) twin.Pool {
	return twin.Pool{Name: "main", Size: workload.Size{Nodes: nodes, CPUs: nodes * cpus}}
}

// Ask asks a forecaster about a job that is going to start. Submitted is false just before the job
// is submitted, when its priority is not known yet.
type Ask func(j *workload.Job, submitted bool, f forecast.Forecaster)

// Replay lives through the recording, and asks about each job that is going to start and has a
// wait, twice: just before it is submitted, and when it has just been.
func (r *Recording) Replay(k Knowledge, ask Ask) {
	q := new(queue.Queue)
	f := predictor.Standard(q, predictor.Options{Pools: pools}, rand.New(rand.NewPCG(1, 1)))
	if k.Order {
		f.Hear(expert.News{Aging: &aging})
	}
	r.live(k, q, f, func(j *workload.Job, submitted bool) { ask(j, submitted, f) })
}

// live tells a queue and an observer of what happened, and asks as Replay does.
func (r *Recording) live(k Knowledge, q *queue.Queue, f observer, ask func(j *workload.Job, submitted bool)) {
	jobs := make([]workload.Job, len(r.jobs))
	waits := map[int64]*workload.Job{}
	for i := range r.jobs {
		jobs[i] = *k.without(r.jobs[i])
		if _, ok := jobs[i].Wait(); ok {
			waits[jobs[i].ID] = &jobs[i]
		}
	}
	changes := r.changes
	for _, e := range forecast.Events(jobs) {
		for len(changes) > 0 && changes[0].At <= e.At {
			if j := q.Job(changes[0].Job.ID); j != nil && j.State == workload.Pending {
				c := changes[0]
				c.Job = k.without(*c.Job)
				c.Tell(q, f)
			}
			changes = changes[1:]
		}
		if e.Kind != forecast.Submitted {
			e.Tell(q, f)
			continue
		}
		if j := waits[e.Job.ID]; j != nil {
			ask(j, false)
		}
		j := *e.Job
		j.AtLimit = false // changes tell from when on it is
		e.Job = &j
		e.Tell(q, submission{waits, func(j *workload.Job) { ask(j, true) }}, f)
	}
}

// observer is told of changes, too.
type observer interface {
	forecast.Observer
	forecast.Changer
}

// submission is an observer that asks about a job which the queue has, and the forecaster has not
// observed.
type submission struct {
	waits map[int64]*workload.Job
	ask   func(*workload.Job)
}

func (s submission) Submitted(j *workload.Job) {
	if j := s.waits[j.ID]; j != nil {
		s.ask(j)
	}
}
func (submission) Started(*workload.Job) {}
func (submission) Ended(*workload.Job)   {}
