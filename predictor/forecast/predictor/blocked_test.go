package predictor

import (
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// TestBlocked: while no job can start on a calm cluster, nothing is promised, though no job
// waits yet. When it is over, all is as before.
func TestBlocked(t *testing.T) {
	pool := func(procs int32) twin.Pools {
		return func(workload.Place) twin.Pool {
			return twin.Pool{Name: "all", Size: workload.Size{Nodes: procs / 8, CPUs: procs}}
		}
	}
	take := func(p *Predictor, q *queue.Queue, at int64, procs int32) (end func()) {
		const week = 7 * 86_400
		j := workload.Job{ID: 1_000_000, Submit: at, Eligible: at}
		j.Partition, j.CPUs, j.Limit = "batch", procs, week
		q.Submit(j)
		p.Submitted(&j)
		j.Start = at
		q.Start(j)
		p.Started(&j)
		return func() {
			j.End = at + 60
			q.Remove(j.ID)
			p.Ended(&j)
		}
	}
	for name, block := range map[string]func(p *Predictor, q *queue.Queue, now int64) (end func()){
		"all nodes are taken for a week": func(p *Predictor, q *queue.Queue, now int64) func() { return take(p, q, now, 64) },
		"nodes are drained but for those that are taken": func(p *Predictor, q *queue.Queue, now int64) func() {
			end := take(p, q, now, 8)
			p.Hear(expert.News{Pools: pool(8)})
			return func() {
				p.Hear(expert.News{Pools: pool(64)})
				end()
			}
		},
		"fewer nodes than the job needs are left": func(p *Predictor, _ *queue.Queue, _ int64) func() {
			p.Hear(expert.News{Pools: pool(4)})
			return func() { p.Hear(expert.News{Pools: pool(64)}) }
		},
		"all nodes are drained": func(p *Predictor, _ *queue.Queue, now int64) func() {
			o := []qbets.Outage{{Partition: "batch", From: now, Reason: "no node can start jobs"}}
			p.Hear(expert.News{Outages: o})
			return func() {
				o[0].To = now + 1
				p.Hear(expert.News{Outages: o})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := new(queue.Queue)
			p := Standard(q, Options{Pools: pool(64)}, rand.New(rand.NewPCG(1, 1)))
			jobs := forecasttest.Jobs(1500, 3)
			if err := forecast.Replay(jobs, q, []forecast.Observer{p}, func(*workload.Job) error { return nil }); err != nil {
				t.Fatal(err)
			}
			now := int64(3600)
			for i := range jobs {
				now = max(now, jobs[i].End+3600)
			}
			// best returns the greatest probability of a start within some hours.
			best := func(lead int64) (prob float64) {
				asked := workload.Request{Partition: "batch", Size: workload.Size{CPUs: 8}, Limit: 3600}
				var c []workload.Candidate
				for at := int64(0); at <= lead; at += 600 {
					c = append(c, workload.Candidate{Submit: now + at, Limit: asked.Limit + lead - at, Budget: lead - at})
				}
				est := make([]workload.Estimate, len(c))
				Trajectory{p}.Forecast(asked, now, c, est)
				for _, e := range est {
					if e.Down == "" {
						prob = max(prob, e.Prob)
					}
				}
				return prob
			}
			leads := []int64{600, 3600, 12 * 3600}
			free := func(when string) {
				for _, lead := range leads {
					if prob := best(lead); prob < .9 {
						t.Errorf("%s, a start within %d s has the probability %.3f", when, lead, prob)
					}
				}
			}
			free("before")
			end := block(p, q, now)
			now += 60
			for _, lead := range leads {
				most := .05
				if lead == 12*3600 {
					// half of the jobs that are like the one of a week end within two hours
					most = .35
				}
				if prob := best(lead); prob > most {
					t.Errorf("a start within %d s has the probability %.3f", lead, prob)
				}
			}
			end()
			free("after")
		})
	}
}
