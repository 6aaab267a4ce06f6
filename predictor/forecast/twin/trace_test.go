package twin_test

import (
	"math"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/archive"
)

// beginning returns the first jobs of a log.
func beginning(t testing.TB, name string, most int) (jobs []workload.Job) {
	t.Helper()
	for job := range archive.Jobs(t, name) {
		if jobs = append(jobs, job); len(jobs) == most {
			break
		}
	}
	return jobs
}

// miss is a mean absolute error of log(60 s + wait).
type miss struct{ n, sum float64 }

func (m *miss) add(predicted, wait float64) {
	m.n++
	m.sum += math.Abs(math.Log(60+predicted) - math.Log(60+wait))
}

func (m *miss) mean() float64 { return m.sum / m.n }

// TestTrace replays the beginnings of real logs. At each submission it compares two
// predictions of the wait: the twin's, and the wait of the job that started last.
func TestTrace(t *testing.T) {
	for _, name := range []string{"SDSC-SP2-1998", "KTH-SP2-1996", "CTC-SP2-1996"} {
		t.Run(name, func(t *testing.T) {
			jobs := beginning(t, name, 4000)
			var q queue.Queue
			w := twin.New(&q, nil)
			last := &lastWait{}
			var point, limits, before miss
			asked := 0
			replay(t, jobs, &q, []forecast.Observer{w, last}, func(j *workload.Job) {
				wait, ok := j.Wait()
				if asked++; !ok || asked < len(jobs)/10 {
					return
				}
				p := w.Point(&j.Request, j.Submit, 0)
				point.add(float64(p.Expected), float64(wait))
				limits.add(float64(p.Limits), float64(wait))
				before.add(last.seconds, float64(wait))
			})
			t.Logf("errors of log(60 s + wait) by: expected run times %.3f, limits %.3f, last wait %.3f", point.mean(), limits.mean(), before.mean())
			end := w.Snapshot(&jobs[len(jobs)-1].Request, jobs[len(jobs)-1].End, 0)
			t.Logf("in the end: %v, on %d processors", end.Policy, end.Procs)
			if point.mean() > before.mean() {
				t.Errorf("the last wait is a better guess than the twin")
			}
		})
	}
}

// lastWait is the wait of the job that started last.
type lastWait struct{ seconds float64 }

func (l *lastWait) Submitted(*workload.Job) {}
func (l *lastWait) Ended(*workload.Job)     {}
func (l *lastWait) Started(j *workload.Job) {
	wait, _ := j.Wait()
	l.seconds = float64(wait)
}
