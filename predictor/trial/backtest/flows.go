package backtest

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/flow"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/trial/follow"
	"github.com/varq-project/varq/predictor/workload"
)

// Flow is a user's jobs in a log as a flow: in stages, of which each waits for all jobs of the one
// before it. When the log was written nothing of the kind was said; what a user did shows it.
type Flow struct{ Stages [][]*workload.Job }

const (
	// together is by how many seconds the jobs of a stage are submitted after the first of them at
	// most.
	together = 60
	// afterwards is by how many seconds a stage is submitted after the end of the one before at most.
	afterwards = 600
	// mostOfFlow is the greatest number of jobs of a flow.
	mostOfFlow = 30
)

// flowsOf returns the flows of a log that have several stages, by the first of their jobs.
func flowsOf(jobs []workload.Job) map[int64]*Flow {
	users := map[string][]*workload.Job{}
	for i := range jobs {
		if j := &jobs[i]; j.Start > 0 && j.End >= j.Start && j.Since() > 0 {
			users[j.User] = append(users[j.User], j)
		}
	}
	flows := map[int64]*Flow{}
	for _, list := range users {
		slices.SortStableFunc(list, func(a, b *workload.Job) int { return int(a.Since() - b.Since()) })
		var f Flow
		end, n := int64(0), 0 // of the last stage, and how many jobs there are
		finish := func() {
			if len(f.Stages) > 1 {
				flows[f.Stages[0][0].ID] = &Flow{f.Stages}
			}
			f, end, n = Flow{}, 0, 0
		}
		for _, j := range list {
			last := len(f.Stages) - 1
			switch {
			case n == mostOfFlow:
				finish()
				f.Stages = [][]*workload.Job{{j}}
			case last >= 0 && j.Since()-f.Stages[last][0].Since() <= together:
				f.Stages[last] = append(f.Stages[last], j)
			case last >= 0 && j.Since() >= end && j.Since() <= end+afterwards:
				f.Stages = append(f.Stages, []*workload.Job{j})
			default:
				finish()
				f.Stages = [][]*workload.Job{{j}}
			}
			end, n = max(end, j.End), n+1
		}
		finish()
	}
	return flows
}

// length returns after how many seconds the last job ends, if each has the wait and the run time of
// the log, and none waits for its user.
func (f *Flow) length() (seconds int64) {
	for _, stage := range f.Stages {
		longest := int64(0)
		for _, j := range stage {
			longest = max(longest, j.End-j.Since())
		}
		seconds += longest
	}
	return seconds
}

// Flows has the methods of forecasting when all jobs of a flow have ended, as of the submission of
// the first. The baselines come last.
var Flows = []Maker{
	{Name: "calibrated", Cost: 10 * blendCost, New: func(c Cluster) Method { return newCalibrated(newFlows(c, "calibrated", flow.AlikeWaits)) }},
	{Name: "flow", Cost: 10 * blendCost, New: func(c Cluster) Method { return newFlows(c, "flow", flow.AlikeWaits) }},
	{Name: "independent", Baseline: true, Cost: 10 * blendCost, New: func(c Cluster) Method { return newFlows(c, "independent", 0) }},
	{Name: "sum", Baseline: true, Cost: 10 * blendCost, New: func(c Cluster) Method { return &singles{newFlows(c, "sum", 0)} }},
}

// wholeFlows is the Method that draws courses of all jobs of a flow together.
type wholeFlows struct {
	*completion.Forecaster
	name        string
	waits       forecast.Forecaster
	correlation float64
	flow        *Flow // that is asked about
}

func newFlows(c Cluster, name string, correlation float64) *wholeFlows {
	p := present(c)
	return &wholeFlows{completion.New(p, p, chance()), name, p, correlation, nil}
}

// flowMethod is a Method that is asked about flows: about that of the next question.
type flowMethod interface{ about(f *Flow) }

func (m *wholeFlows) about(f *Flow) { m.flow = f }

// Name implements [Method].
func (m *wholeFlows) Name() string { return m.name }

// job returns a job of a flow that is asked about at a time, and waits for others. It reports false
// if nothing is known of it.
func (m *wholeFlows) job(j *workload.Job, now int64, after []int) (job flow.Job, ok bool) {
	return follow.Flows{Waits: m.waits, Ends: m.Forecaster}.Job(j.ID, j.Request, now, after)
}

// Predict implements [Method].
func (m *wholeFlows) Predict(q *forecast.Question) (end, lower score.Prediction) {
	if all, last := m.courses(q, nil); all != nil {
		return lengthsOf(all.Last(last), q.Now), nil
	}
	return nil, nil
}

// courses returns the courses of the flow that is asked about, and the jobs of its last stage. It
// returns nil if nothing is known of one of its jobs. learnt corrects the courses, unless it is
// nil.
func (m *wholeFlows) courses(q *forecast.Question, learnt *flow.Learnt) (all *flow.Flow, last []int) {
	all = flow.New(m.correlation, learnt, q.Now)
	for _, stage := range m.flow.Stages {
		var places []int
		for _, j := range stage {
			job, ok := m.job(j, q.Now, last)
			if !ok {
				return nil, nil
			}
			places = append(places, all.Add(job))
		}
		last = places
	}
	return all, last
}

// calibrated is a Method that learns from jobs that have waited for others how often forecasts of
// their starts came true, as varqd does, and takes that for the ends of flows.
type calibrated struct {
	*wholeFlows
	learnt *flow.Learnt
	rng    *rand.Rand
	sights map[int64]sight // by job
}

// sight is a job of a flow that waits for others, and what is forecast of it.
type sight struct {
	starts flow.Times // as they were drawn
	waits  int
	start  int64 // what comes
}

func newCalibrated(m *wholeFlows) *calibrated {
	return &calibrated{m, flow.NewLearnt(), chance(), map[int64]sight{}}
}

// Predict implements [Method].
func (m *calibrated) Predict(q *forecast.Question) (end, lower score.Prediction) {
	all, last := m.courses(q, m.learnt)
	if all == nil {
		return nil, nil
	}
	drawn, final := all.Drawn(), len(m.flow.Stages)-1
	before := &Flow{m.flow.Stages[:final]}
	for i, place := range last {
		j := m.flow.Stages[final][i]
		m.sights[j.ID] = sight{flow.TimesOf(drawn.Courses(place).Start), all.Waits(place), q.Now + before.length() + j.Start - j.Since()}
	}
	return lengthsOf(all.Last(last), q.Now), nil
}

// Started implements [forecast.Observer].
func (m *calibrated) Started(j *workload.Job) {
	m.wholeFlows.Started(j)
	if of, ok := m.sights[j.ID]; ok {
		m.learnt.LearnRank(of.waits, of.starts.Rank(of.start, m.rng.Float64()), j.Start)
		delete(m.sights, j.ID)
	}
}

// singles is the Method that adds quantiles of each job alone: of a stage that of the longest job.
type singles struct{ *wholeFlows }

// Predict implements [Method].
func (m *singles) Predict(q *forecast.Question) (end, lower score.Prediction) {
	var sum sumOfLengths
	for _, stage := range m.flow.Stages {
		var jobs []*lengths
		for _, j := range stage {
			job, ok := m.job(j, q.Now, nil)
			if !ok {
				return nil, nil
			}
			alone := flow.New(0, nil, q.Now)
			jobs = append(jobs, lengthsOf(alone.Last([]int{alone.Add(job)}), q.Now))
		}
		sum = append(sum, jobs)
	}
	return &sum, nil
}

// lengths are how long something takes from now on, in seconds.
type lengths struct {
	flow.Times
	now int64
}

// lengthsOf returns the lengths of something that ends at a time in each course; see flow.TimesOf.
func lengthsOf(ends []int64, now int64) *lengths {
	return &lengths{flow.TimesOf(ends), now}
}

// Quantile implements [score.Prediction].
func (l *lengths) Quantile(q float64) float64 {
	end := l.Times.Quantile(q)
	if end == flow.Never {
		return math.Inf(1)
	}
	return float64(end - l.now)
}

// Within implements [score.Prediction].
func (l *lengths) Within(seconds float64) float64 { return l.Prob(l.now + int64(math.Floor(seconds))) }

// Below implements [score.Prediction].
func (l *lengths) Below(seconds float64) float64 {
	return l.Prob(l.now + int64(math.Ceil(seconds)) - 1)
}

// sumOfLengths are those of the jobs of each stage.
type sumOfLengths [][]*lengths

// Quantile implements [score.Prediction].
func (s *sumOfLengths) Quantile(q float64) (sum float64) {
	for _, stage := range *s {
		longest := 0.
		for _, l := range stage {
			longest = max(longest, l.Quantile(q))
		}
		sum += longest
	}
	return sum
}

// Within implements [score.Prediction].
func (s *sumOfLengths) Within(seconds float64) float64 {
	return float64(sort.Search(1000, func(i int) bool { return s.Quantile(float64(i)/1000) > seconds })) / 1000
}

// Below implements [score.Prediction].
func (s *sumOfLengths) Below(seconds float64) float64 { return s.Within(seconds) }
