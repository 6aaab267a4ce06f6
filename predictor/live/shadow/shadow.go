// Package shadow tells what varqd would promise if it made promises. For a sample of the jobs that
// begin to wait, it plans reservations that nobody has asked for. When the job has started, it
// knows which of these reservations would have been kept. It changes no job. Times are Unix
// seconds.
//
// Such a reservation asks that the work starts within a lead, with one of the probabilities Probs.
// The lead is drawn at random. varqd would make the reservation's job eligible at a time before the
// deadline. The time between the two would be the wait that the forecast demands: the shortest wait
// that is long enough for the probability. But the job watched is eligible now. So the reservation
// is planned for now, and that wait is called within. With a longer lead the same job would have
// become eligible later. The reservation would have been kept if the job waits no longer than
// within. Its nodes would have idled for the rest of within.
//
// The job watched has the time limit of its work alone. The job of a reservation would have a
// longer limit, by the hold, and might have waited longer.
package shadow

import (
	"context"
	"maps"
	"math/rand/v2"
	"sync"

	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// leads are those from which one is drawn for each job, in seconds.
var leads = [...]int64{3600, 4 * 3600, 12 * 3600}

// waits are the waits that are tried, in seconds.
var waits = []int64{
	30, 60, 2 * 60, 5 * 60, 10 * 60, 15 * 60, 20 * 60, 30 * 60, 45 * 60,
	3600, 5400, 2 * 3600, 3 * 3600, 4 * 3600, 6 * 3600, 8 * 3600, 10 * 3600, 12 * 3600,
}

// Options configure a Watcher.
type Options struct {
	Store *Store
	// Foresee returns for each of some waits the probability with which varqd would promise
	// that the job, which has become eligible at the time at, starts within the wait.
	Foresee func(j *workload.Job, at int64, waits []int64) ([]float64, error)
	// Most is the greatest number of jobs watched of a day, UTC. If more begin to wait, those
	// watched are a random sample.
	Most int
	Rand *rand.Rand
}

// Watcher watches jobs. Its methods may be called concurrently.
type Watcher struct {
	Options

	mu sync.Mutex
	// the jobs that have not ended, with the time since when they wait
	open map[workload.Submission]int64
	// A job is watched if its random key is below share. Invariant: of the jobs of the day
	// that have begun to wait, those watched are those with a key below share. They are at
	// most Most, because share is halved when they become more.
	share float64
	day   int64
	keys  []float64 // of the jobs of the day that are watched
}

// New returns a Watcher that goes on with the jobs in the store.
func New(ctx context.Context, o Options, now int64) (*Watcher, error) {
	w := &Watcher{Options: o, open: map[workload.Submission]int64{}, share: 1, day: score.Day(now)}
	rows, err := o.Store.rows(ctx, 0, 0, true)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		w.open[rows[i].Submission] = rows[i].eligible
	}
	today, err := o.Store.rows(ctx, w.day*86400, 0, false)
	if err != nil {
		return nil, err
	}
	highest := 1.
	for i := range today {
		w.keys = append(w.keys, today[i].key)
		if i == 0 || today[i].key > highest {
			highest = today[i].key
		}
	}
	for w.share/2 > highest {
		w.share /= 2
	}
	return w, nil
}

// ObserveQueue takes in a look at the queue, and the jobs that have begun to wait since the last
// one. It must be called before the forecasters observe them.
func (w *Watcher) ObserveQueue(ctx context.Context, l *look.Look, begun []*slurm.QueueEntry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := news{started: map[workload.Submission]int64{}, old: l.At - mostDays*86400}
	if today := score.Day(l.At); today != w.day {
		w.day, w.share, w.keys = today, min(1, 4*w.share), nil
	}
	chosen, keys := w.sample(begun, &n)
	for i, j := range chosen {
		within, err := w.plan(j)
		if err != nil {
			break // varqd promises nothing now; its health says why
		}
		n.begun = append(n.begun, row{
			Submission: j.Submission(), key: keys[i], partition: j.Partition, nodes: max(1, j.Nodes), within: within, eligible: j.Eligible,
		})
	}
	fresh := make(map[workload.Submission]int64, len(n.begun))
	for i := range n.begun {
		fresh[n.begun[i].Submission] = n.begun[i].eligible
	}
	for i := range l.Jobs {
		j := &l.Jobs[i]
		id := j.Submission()
		since, watched := fresh[id]
		if !watched {
			since, watched = w.open[id]
		}
		switch {
		case !watched:
		case j.Eligible != since || j.Held:
			n.dropped = append(n.dropped, id)
		case j.Start != 0:
			n.started[id] = j.Start
		}
	}
	if err := w.Store.record(ctx, n); err != nil {
		return err
	}
	maps.Copy(w.open, fresh)
	for _, id := range n.dropped {
		delete(w.open, id)
	}
	return nil
}

// sample draws a key for each job, and returns those jobs that are watched, with their keys. It
// notes in n if others of the day are not to be watched any more.
func (w *Watcher) sample(jobs []*slurm.QueueEntry, n *news) (chosen []*slurm.QueueEntry, keys []float64) {
	for _, j := range jobs {
		if key := w.Rand.Float64(); key < w.share {
			chosen, keys = append(chosen, j), append(keys, key)
		}
	}
	w.keys = append(w.keys, keys...)
	for len(w.keys) > w.Most {
		w.share /= 2
		n.share, n.since = w.share, w.day*86400
		w.keys = below(w.keys, w.share)
	}
	kept := 0
	for i, key := range keys {
		if key < w.share {
			chosen[kept], keys[kept] = chosen[i], key
			kept++
		}
	}
	return chosen[:kept], keys[:kept]
}

// below returns the keys below share.
func below(keys []float64, share float64) []float64 {
	var list []float64
	for _, key := range keys {
		if key < share {
			list = append(list, key)
		}
	}
	return list
}

// plan returns for each of Probs the shortest wait, not longer than a random lead, that would be
// promised, or 0.
func (w *Watcher) plan(j *slurm.QueueEntry) (within [len(Probs)]int64, err error) {
	return plan(&j.Job, j.Eligible, w.Foresee, w.Rand)
}

// plan is Watcher.plan for a job that has become eligible at a time.
func plan(j *workload.Job, at int64, foresee func(*workload.Job, int64, []int64) ([]float64, error), random *rand.Rand) (within [len(Probs)]int64, err error) {
	lead := leads[random.IntN(len(leads))]
	probs, err := foresee(j, at, waits)
	if err != nil {
		return within, err
	}
	for i, least := range Probs {
		for k, prob := range probs {
			if prob >= least && waits[k] <= lead {
				within[i] = waits[k]
				break
			}
		}
	}
	return within, nil
}

// ObserveAccounting takes in jobs from accounting.
func (w *Watcher) ObserveAccounting(ctx context.Context, jobs []workload.Job) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := news{started: map[workload.Submission]int64{}, ended: map[workload.Submission]int64{}}
	for i := range jobs {
		j := &jobs[i]
		id := j.Submission()
		if _, watched := w.open[id]; !watched {
			continue
		}
		if j.Start != 0 {
			n.started[id] = j.Start
		}
		if j.End != 0 && j.State.Finished() {
			n.ended[id] = j.End
		}
	}
	if err := w.Store.record(ctx, n); err != nil {
		return err
	}
	for id := range n.ended {
		delete(w.open, id)
	}
	return nil
}
