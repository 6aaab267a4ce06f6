package order

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
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
	jobs     []workload.Job
	changes  []forecast.Event
	outlooks []outlook
	tested   map[int64]int64 // when jobs would start, by sbatch --test-only before their submission
}

// outlook is when Slurm expects the jobs to start that are pending at a time, by ID. It is 0, or
// missing, of a job of which Slurm expects nothing.
type outlook struct {
	at       int64
	expected map[int64]int64
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
	jobs, last, r := map[int64]*workload.Job{}, map[int64]workload.Job{}, &Recording{tested: map[int64]int64{}}
	expected := map[int64]int64{}
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		var s Sighting
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, fmt.Errorf("recording: %w", err)
		}
		begun := stretch(&s)
		for id, at := range s.Tested {
			r.tested[id] = at * Quicker
		}
		if s.Tested != nil {
			continue
		}
		if s.Job.ID == 0 {
			for id, at := range s.Expected {
				expected[id] = at * Quicker
			}
			r.outlooks = append(r.outlooks, outlook{s.At, maps.Clone(expected)})
			continue
		}
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

// AskRest asks a forecaster about a job that waits at a time, and is going to start. Slurm expects
// it to start at another time, or, if that is 0, does not say when.
type AskRest func(j *workload.Job, now, expected int64, f forecast.Forecaster)

// Replay lives through the recording, and asks about each job that is going to start and has a
// wait, twice: just before it is submitted, and when it has just been.
func (r *Recording) Replay(k Knowledge, ask Ask) {
	q, f := forecaster(k)
	r.live(k, q, f, func(j *workload.Job, submitted bool) { ask(j, submitted, f) }, nil)
}

// ReplayRests lives through the recording, and asks about jobs while they wait. At each time at
// which the recording tells when Slurm expects jobs to start, these are a few of those that wait,
// each as likely as any other.
func (r *Recording) ReplayRests(k Knowledge, ask AskRest) {
	q, f := forecaster(k)
	random := rand.New(rand.NewPCG(2, 2))
	r.live(k, q, f, nil, func(o *outlook, waiting []*workload.Job) {
		random.Shuffle(len(waiting), func(a, b int) { waiting[a], waiting[b] = waiting[b], waiting[a] })
		for _, j := range waiting[:min(mostSeen, len(waiting))] {
			ask(j, o.at, o.expected[j.ID], f)
		}
	})
}

// mostSeen is about how many jobs ReplayRests asks at a time.
const mostSeen = 8

// forecaster returns varqd's with what is known, and the queue that it reads.
func forecaster(k Knowledge) (*queue.Queue, *predictor.Predictor) {
	q := new(queue.Queue)
	f := predictor.Standard(q, predictor.Options{Pools: pools}, rand.New(rand.NewPCG(1, 1)))
	if k.Order {
		f.Hear(expert.News{Aging: &aging})
	}
	return q, f
}

// live tells a queue and an observer of what happened, and asks as Replay does, unless ask is nil.
// Unless look is nil, it is told of each outlook, with the jobs that wait then and have a wait.
func (r *Recording) live(k Knowledge, q *queue.Queue, f observer, ask func(j *workload.Job, submitted bool), look func(*outlook, []*workload.Job)) {
	jobs := make([]workload.Job, len(r.jobs))
	waits := map[int64]*workload.Job{}
	for i := range r.jobs {
		jobs[i] = *k.without(r.jobs[i])
		if _, ok := jobs[i].Wait(); ok {
			waits[jobs[i].ID] = &jobs[i]
		}
	}
	if ask == nil {
		ask = func(*workload.Job, bool) {}
	}
	changes, outlooks := r.changes, r.outlooks
	change := func(until int64) {
		for ; len(changes) > 0 && changes[0].At <= until; changes = changes[1:] {
			if j := q.Job(changes[0].Job.ID); j != nil && j.State == workload.Pending {
				c := changes[0]
				c.Job = k.without(*c.Job)
				c.Tell(q, f)
			}
		}
	}
	for _, e := range forecast.Events(jobs) {
		for ; look != nil && len(outlooks) > 0 && outlooks[0].at < e.At; outlooks = outlooks[1:] {
			change(outlooks[0].at)
			var waiting []*workload.Job
			for j := range q.Pending() {
				if j := waits[j.ID]; j != nil {
					waiting = append(waiting, j)
				}
			}
			look(&outlooks[0], waiting)
		}
		change(e.At)
		if e.Kind != forecast.Submitted {
			e.Tell(q, f)
			continue
		}
		j := *e.Job
		j.AtLimit = false // changes tell from when on it is
		if of := waits[j.ID]; of != nil {
			ask(of, false)
		}
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
