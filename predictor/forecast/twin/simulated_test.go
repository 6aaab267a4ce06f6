package twin_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/sim"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/downey"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

const procs = 128

// made returns the log of a made-up machine on which jobs were started by a policy.
func made(policy twin.Policy, load float64, n int) []workload.Job {
	config := sched.Config{Procs: procs, Backfill: policy.Backfill}
	if policy.Order == twin.LWF {
		config.Order = sched.LWF()
	}
	ended := new(log)
	s := sim.New(config, ended)
	random := rand.New(rand.NewPCG(1, uint64(n)))
	for j := range (downey.Model{Procs: procs, Load: load}).Jobs(random, n) {
		const first = 1_000_000_000
		j.Submit += first
		s.Advance(j.Submit)
		s.Submit(&j)
	}
	s.Drain()
	slices.SortFunc(ended.jobs, func(a, b workload.Job) int { return cmp.Compare(a.ID, b.ID) })
	return ended.jobs
}

// log takes down the jobs that have ended.
type log struct{ jobs []workload.Job }

func (l *log) Ended(_ int64, j *sched.Job) {
	done := workload.Job{ID: j.ID, Submit: j.Submit, Eligible: j.Submit, Start: j.Start, End: j.End, State: workload.Completed}
	done.User, done.CPUs, done.Limit = fmt.Sprint("user", j.User), j.Procs, j.Limit
	l.jobs = append(l.jobs, done)
}
func (*log) Started(int64, *sched.Job)                {}
func (*log) Reserved(int64, *sched.Job, int64, int64) {}
func (*log) Stopped(int64, *sched.Job)                {}

func policies() []twin.Policy {
	return []twin.Policy{{twin.FCFS, sched.EASY}, {twin.FCFS, sched.NoBackfill}, {twin.LWF, sched.EASY}, {twin.LWF, sched.NoBackfill}}
}

// load is how much work a policy can cope with.
func load(p twin.Policy) float64 {
	if p.Backfill == sched.NoBackfill {
		return .15
	}
	return .75
}

// replay replays a log.
func replay(t *testing.T, jobs []workload.Job, q *queue.Queue, observers []forecast.Observer, asked func(*workload.Job)) {
	t.Helper()
	err := forecast.Replay(jobs, q, observers, func(j *workload.Job) error {
		asked(j)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLearnsPolicy lets twins find out by which policy jobs were started.
func TestLearnsPolicy(t *testing.T) {
	for _, policy := range policies() {
		jobs := made(policy, load(policy), 4000)
		var q queue.Queue
		w := twin.New(&q, twin.Options{})
		replay(t, jobs, &q, []forecast.Observer{w}, func(*workload.Job) {})
		_, e := w.Point(&jobs[len(jobs)-1].Request, jobs[len(jobs)-1].End)
		t.Logf("%v: learnt %v, %d processors", policy, e.Policy, e.Procs)
		if e.Policy != policy {
			t.Errorf("%v taken for %v", policy, e.Policy)
		}
		if e.Procs < procs*9/10 || e.Procs > procs {
			t.Errorf("%d processors of %d", e.Procs, procs)
		}
	}
}

// TestCalibrated holds the probabilities that twins tell against what comes true on
// made-up machines: of those told to be about p, about the share p comes true.
func TestCalibrated(t *testing.T) {
	for _, policy := range policies() {
		jobs := made(policy, load(policy), 1000)
		var q queue.Queue
		w := twin.New(&q, twin.Options{Runs: 32})
		r := rand.New(rand.NewPCG(1, 1))
		gap := (jobs[len(jobs)-1].Submit - jobs[0].Submit) / int64(len(jobs))
		var told, ahead reliability
		asked := 0
		var d delay.Distribution
		var point, now miss
		ask := func(j *workload.Job, told *reliability) {
			w.Wait(&j.Request, j.Submit, &d)
			for _, within := range []float64{0, 300, 1800, 3600, 4 * 3600} {
				told.add(d.Within(within), float64(j.Start-j.Submit) <= within)
			}
		}
		replay(t, jobs, &q, []forecast.Observer{w}, func(j *workload.Job) {
			if asked++; asked < len(jobs)/3 || asked%8 != 0 {
				return
			}
			w.Look(j.Submit, r)
			ask(j, &told)
			if next, _ := slices.BinarySearchFunc(jobs, j.Submit+4*gap, bySubmission); next < len(jobs) {
				ask(&jobs[next], &ahead)
			}
			p, _ := w.Point(&j.Request, j.Submit)
			point.add(float64(p.Expected), float64(j.Start-j.Submit))
			now.add(0, float64(j.Start-j.Submit))
		})
		t.Logf("%v: expected calibration error %.3f, of %.0f jobs to come %.3f; errors of the logarithm %.3f by expected run times, %.3f by none",
			policy, told.err(), ahead.n(), ahead.err(), point.mean(), now.mean())
		// A few hundred answers err by a few hundredths, the more the longer the same
		// jobs decide over them.
		told.check(t, .08)
		ahead.check(t, .12)
	}
}

func bySubmission(j workload.Job, at int64) int { return cmp.Compare(j.Submit, at) }

// reliability counts by tenths of the probability told.
type reliability struct{ count, sum, true [11]float64 }

func (r *reliability) add(p float64, came bool) {
	i := int(math.Round(p * 10))
	r.count[i]++
	r.sum[i] += p
	if came {
		r.true[i]++
	}
}

func (r *reliability) n() (n float64) {
	for _, c := range r.count {
		n += c
	}
	return n
}

func (r *reliability) err() (sum float64) {
	for i := range r.count {
		sum += math.Abs(r.sum[i] - r.true[i])
	}
	return sum / r.n()
}

// check complains of an expected calibration error above what chance explains.
func (r *reliability) check(t *testing.T, most float64) {
	t.Helper()
	if r.err() <= most {
		return
	}
	t.Errorf("expected calibration error %.3f", r.err())
	for i := range r.count {
		t.Logf("%.2f came true %.2f (%.0f)", r.sum[i]/r.count[i], r.true[i]/r.count[i], r.count[i])
	}
}
