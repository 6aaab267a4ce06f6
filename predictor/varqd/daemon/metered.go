package daemon

import (
	"context"
	"iter"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/sacctmgr"
	"github.com/varq-project/varq/predictor/workload"
)

// metered is the Slurm whose answers are timed.
type metered struct {
	slurm Slurm
	load  *load
	// loaded is set once the past is loaded. To load it takes long, but happens once: that
	// does not count.
	loaded *latch
	took   *prometheus.HistogramVec
}

// newRequestSeconds returns the histogram of how long requests take.
func newRequestSeconds() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "varq_slurmrestd_request_seconds",
		Help:    "How long varqd's requests to slurmrestd took, by kind, and whether they were answered, refused or left unanswered.",
		Buckets: []float64{.005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 120},
	}, []string{"request", "outcome"})
}

// timed notes that a request begins. The function that it returns notes that it is over, with its
// error.
func (m metered) timed(kind string) func(*error) { return m.timedAs(kind, true) }

// timedAs is timed of a request that counts or does not.
func (m metered) timedAs(kind string, counts bool) func(*error) {
	end, began := m.load.begin(kind, counts), m.load.now()
	return func(err *error) {
		end(*err)
		m.observe(kind, *err, m.load.now().Sub(began))
	}
}

// observe notes how long a request took that is over, and its error.
func (m metered) observe(kind string, err error, took time.Duration) {
	outcome := "answered"
	switch {
	case unanswered(err):
		outcome = "unanswered"
	case err != nil:
		outcome = "refused"
	}
	m.took.WithLabelValues(kind, outcome).Observe(took.Seconds())
}

// Queue implements Slurm.
func (m metered) Queue(ctx context.Context) (_ []slurm.QueueEntry, err error) {
	defer m.timed("queue")(&err)
	return m.slurm.Queue(ctx)
}

// Clock implements Slurm.
func (m metered) Clock(ctx context.Context) (ahead, uncertainty time.Duration, err error) {
	defer m.timed("clock")(&err)
	return m.slurm.Clock(ctx)
}

// Job implements keeper.Slurm.
func (m metered) Job(ctx context.Context, id int64) (_ slurm.QueueEntry, err error) {
	defer m.timedAs("job", !isAwaited(ctx))(&err)
	return m.slurm.Job(ctx, id)
}

// Update implements keeper.Slurm.
func (m metered) Update(ctx context.Context, u slurm.Update) (err error) {
	defer m.timed("change")(&err)
	return m.slurm.Update(ctx, u)
}

// Cancel implements keeper.Slurm.
func (m metered) Cancel(ctx context.Context, job int64) (err error) {
	defer m.timed("change")(&err)
	return m.slurm.Cancel(ctx, job)
}

// Ended implements keeper.Slurm.
func (m metered) Ended(ctx context.Context, job int64) (_ workload.Job, err error) {
	defer m.timed("queue")(&err)
	return m.slurm.Ended(ctx, job)
}

// Accounted implements keeper.Slurm.
func (m metered) Accounted(ctx context.Context, job int64) (_ []workload.Job, err error) {
	defer m.timed("accounting")(&err)
	return m.slurm.Accounted(ctx, job)
}

// AccountedAll implements keeper.Slurm.
func (m metered) AccountedAll(ctx context.Context, jobs []int64) (_ map[int64][]workload.Job, err error) {
	defer m.timed("accounting")(&err)
	return m.slurm.AccountedAll(ctx, jobs)
}

// Cluster implements premises.Slurm.
func (m metered) Cluster(ctx context.Context) (_ limits.Cluster, err error) {
	defer m.timed("limits")(&err)
	return m.slurm.Cluster(ctx)
}

// Nodes implements premises.Slurm.
func (m metered) Nodes(ctx context.Context) (_ []slurm.Node, err error) {
	defer m.timed("limits")(&err)
	return m.slurm.Nodes(ctx)
}

// NodeEvents implements Slurm. slurmrestd is not asked.
func (m metered) NodeEvents(ctx context.Context, from int64) ([]sacctmgr.Event, error) {
	return m.slurm.NodeEvents(ctx, from)
}

// Operators implements premises.Slurm.
func (m metered) Operators(ctx context.Context) (_ []string, err error) {
	defer m.timed("limits")(&err)
	return m.slurm.Operators(ctx)
}

// History implements ingest.Source. The time that the caller takes over a job, or in progress, is
// not counted.
func (m metered) History(ctx context.Context, from, to int64, progress func(slurm.Progress)) iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		counts := m.loaded.isSet()
		end, began := m.load.begin("accounting", counts), m.load.now()
		var failed error
		var spent time.Duration // by the caller
		defer func() {
			end(nil)
			m.observe("history", failed, m.load.now().Sub(began)-spent)
		}()
		callBack := func(err error, call func()) {
			end(err)
			called := m.load.now()
			call()
			spent += m.load.now().Sub(called)
			end = m.load.begin("accounting", counts)
		}
		var report func(slurm.Progress)
		if progress != nil {
			report = func(p slurm.Progress) { callBack(nil, func() { progress(p) }) }
		}
		for job, err := range m.slurm.History(ctx, from, to, report) {
			goOn := true
			failed = err
			callBack(err, func() { goOn = yield(job, err) })
			if !goOn {
				return
			}
		}
	}
}
