package predictor

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/workload"
)

// count has the results of judge.
type count struct {
	asked, answered int
	held, kept      [len(judged)]int
	promised        [len(judged)]int
	score, anybody  float64
}

var judged = [...]float64{.5, .75, .95}

// judge replays jobs, and judges the forecasts of f for all but the first warm of them. Each
// question is asked lead seconds before the submission.
func judge(t *testing.T, jobs []workload.Job, q *queue.Queue, f forecast.Forecaster, warm int, lead int64) (c count) {
	t.Helper()
	random := rand.New(rand.NewPCG(9, 9))
	var all delay.Distribution
	for i := range jobs {
		wait, _ := jobs[i].Wait()
		for k := delay.Index(float64(wait)); k < delay.Points; k++ {
			all[k] += 1 / float64(len(jobs))
		}
	}
	asked := 0
	err := forecast.Replay(jobs, q, []forecast.Observer{f}, func(j *workload.Job) error {
		if asked++; asked <= warm {
			return nil
		}
		c.asked++
		question := forecast.AtSubmission(j)
		question.Now -= lead
		var a forecast.Answer
		if !f.Forecast(&question, &a) {
			return nil
		}
		c.answered++
		seconds, _ := j.Wait()
		wait := float64(seconds)
		pit := a.Wait.PIT(wait, random.Float64())
		for k, level := range judged {
			if pit <= level {
				c.held[k]++
			}
			if budget := a.Lower.Quantile(level); !math.IsInf(budget, 1) {
				c.promised[k]++
				if wait <= budget {
					c.kept[k]++
				}
			}
		}
		c.score += a.Wait.CRPS(wait)
		c.anybody += all.CRPS(wait)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// hold checks that almost all questions are answered, that quantiles hold about as often as
// their levels, and that promises hold at least as often. More cannot be checked with so few
// jobs, whose waits depend on each other.
func (c *count) hold(t *testing.T, near float64) {
	t.Helper()
	if c.answered < c.asked*99/100 {
		t.Errorf("answers %d of %d", c.answered, c.asked)
	}
	for k, level := range judged {
		if share := float64(c.held[k]) / float64(c.answered); math.Abs(share-level) > near {
			t.Errorf("%v held in %.3f", level, share)
		}
		if share := float64(c.kept[k]) / float64(c.promised[k]); c.promised[k] < c.asked/2 || share < level {
			t.Errorf("%v was promised %d times, and kept in %.3f", level, c.promised[k], share)
		}
	}
}

// TestHistory: without simulations, quantiles hold as often as their levels. Scores are much
// better than those of the distribution of all waits, future ones included.
func TestHistory(t *testing.T) {
	t.Parallel()
	var q queue.Queue
	c := judge(t, forecasttest.Jobs(2000, 3), &q, History(Options{}, rand.New(rand.NewPCG(1, 1))), 500, 0)
	c.hold(t, .04)
	if c.score > .3*c.anybody {
		t.Errorf("scores %.1f, anybody %.1f", c.score, c.anybody)
	}
}

// TestStandard is the same with simulations.
func TestStandard(t *testing.T) {
	t.Parallel()
	var q queue.Queue
	p := Standard(&q, Options{}, rand.New(rand.NewPCG(1, 1)))
	c := judge(t, forecasttest.Jobs(1200, 4), &q, p, 400, 0)
	c.hold(t, .06)
	if c.score > .3*c.anybody {
		t.Errorf("scores %.1f, anybody %.1f", c.score, c.anybody)
	}
}

// TestLaterSubmissions: hours before a submission, quantiles hold as often, though forecasts
// are less exact.
func TestLaterSubmissions(t *testing.T) {
	t.Parallel()
	var q queue.Queue
	c := judge(t, forecasttest.Jobs(2000, 5), &q, History(Options{}, rand.New(rand.NewPCG(1, 1))), 500, 3*3600)
	c.hold(t, .04)
	if c.score > c.anybody {
		t.Errorf("scores %.1f, anybody %.1f", c.score, c.anybody)
	}
}

// TestTrajectoryFallsWithBudgets: probabilities of candidates fall with their budgets, and
// are between 0 and 1.
func TestTrajectoryFallsWithBudgets(t *testing.T) {
	var q queue.Queue
	p := History(Options{}, rand.New(rand.NewPCG(1, 1)))
	jobs := forecasttest.Jobs(600, 6)
	if err := forecast.Replay(jobs, &q, []forecast.Observer{p}, func(*workload.Job) error { return nil }); err != nil {
		t.Fatal(err)
	}
	now := jobs[len(jobs)-1].Submit
	for _, r := range []workload.Request{jobs[3].Request, jobs[50].Request} {
		var c []workload.Candidate
		for budget := int64(0); budget <= 86_400; budget += 600 {
			c = append(c, workload.Candidate{Submit: now, Limit: r.Limit, Budget: budget})
		}
		est := make([]workload.Estimate, len(c))
		Trajectory{p}.Forecast(r, now, c, est)
		for i, e := range est {
			if e.Prob < 0 || e.Prob > 1 || e.Held < 0 || e.Held > float64(c[i].Budget) {
				t.Fatalf("%+v of %+v", e, c[i])
			}
			if i > 0 && (e.Prob < est[i-1].Prob || e.Held < est[i-1].Held) {
				t.Fatalf("%+v of %+v, after %+v", e, c[i], est[i-1])
			}
		}
		if est[len(est)-1].Prob < .5 {
			t.Errorf("a start within a day is promised with %v", est[len(est)-1].Prob)
		}
	}
}

// TestRestart: forecasters that observe unknown jobs, in any order, still make forecasts.
func TestRestart(t *testing.T) {
	var q queue.Queue
	random := rand.New(rand.NewPCG(1, 1))
	all := []forecast.Forecaster{
		Standard(&q, Options{}, random), expert.NewDowney(&q),
		expert.NewForest(random, nil, nil), History(Options{}, random),
	}
	jobs := forecasttest.Jobs(150, 7)
	now := jobs[0].Submit
	for i := range jobs {
		j := jobs[i]
		now = max(now, j.Submit)
		for range 2 {
			switch random.IntN(3) {
			case 0:
				waiting := j
				waiting.Start, waiting.End = 0, 0
				q.Submit(waiting)
				for _, f := range all {
					f.Submitted(&waiting)
				}
			case 1:
				running := j
				running.Start, running.End = now, 0
				q.Start(running)
				for _, f := range all {
					f.Started(&running)
				}
			default:
				ended := j
				ended.End = now
				q.Remove(j.ID)
				for _, f := range all {
					f.Ended(&ended)
				}
			}
		}
		for _, f := range all {
			var a forecast.Answer
			if f.Forecast(&forecast.Question{Request: j.Request, Now: now, Submit: now}, &a) && !(a.Wait[0] >= 0 && a.Wait[delay.Points-1] <= 1) {
				t.Fatalf("%s says %v", f.Name(), a.Wait)
			}
		}
	}
}

func TestOutage(t *testing.T) {
	p := History(Options{}, rand.New(rand.NewPCG(1, 1)))
	q := forecast.Question{Request: workload.Request{Partition: "main", Limit: 60}, Now: 100, Submit: 100}
	var a forecast.Answer
	p.Hear(expert.News{Outages: []qbets.Outage{{Partition: "main", From: 50, Reason: "it is being moved"}}})
	if p.Forecast(&q, &a) || a.Down != "it is being moved" {
		t.Errorf("down: %q", a.Down)
	}
	p.Hear(expert.News{Outages: []qbets.Outage{{Partition: "main", From: 50, To: 90}}})
	if p.Forecast(&q, &a); a.Down != "" {
		t.Errorf("after the outage, down: %q", a.Down)
	}
}
