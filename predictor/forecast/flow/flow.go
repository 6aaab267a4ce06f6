// Package flow forecasts jobs that wait for other jobs: when each of them becomes eligible, starts
// and ends, and whether it ever does.
//
// It draws many courses of all the jobs together. In each course a job becomes eligible when the
// jobs that it waits for have done what it needs, waits by the forecast for that time, and runs by
// the forecast of its run time. So the end of the whole is the distribution of a longest path, and
// not a sum of quantiles, which is far too late for high ones and too early where branches join.
//
// All jobs wait in the same queue. If one waits for longer than was expected, the next one
// probably does too: the ranks of the waits of a course are correlated. What lies beyond all that
// is forecast of a wait is unknown, and as unknown for each job: it is the same few courses in
// which they wait so long. If it were others for each job, a chain of hundreds would hardly ever
// end.
package flow

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/varq-project/varq/predictor/delay"
)

// Event is what a job waits for of another.
type Event int

// The events.
const (
	Begun     Event = iota // it has started, or will not any more
	Ended                  // it has ended, or will not start any more
	Succeeded              // it has ended with exit code 0
	Failed                 // it has ended otherwise, or will not start any more
)

// Condition is one of those that make a job eligible: Delay seconds after an event of the Job-th
// job of the flow.
type Condition struct {
	Event
	Job   int
	Delay int64
}

// Job is a job of a flow. Times are Unix seconds.
type Job struct {
	// ID is its number. The random numbers of a job follow from it, so that its courses are the same
	// in each flow that has the same jobs before it.
	ID int64
	// Array, if not 0, is the one of which the job is some tasks. All tasks end well or badly
	// together.
	Array int64
	// Program, if not 0, stands for what the job runs, and for whom. Jobs with the same one mostly
	// end alike: their outcomes are correlated.
	Program uint64
	// Conditions are about jobs that come before it in the flow. So many of them are Needed, or all
	// if that is 0. Once fewer can come true, the job never starts.
	Conditions []Condition
	Needed     int
	// Earliest is before when the job does not become eligible in any case.
	Earliest int64
	// Started is when a job has started that runs, or 0. It needs no Conditions then, and a Wait only
	// with a FailureRate.
	Started int64
	// HoldUntil is before when its work does not begin, although it may have started.
	HoldUntil int64
	// Wait returns the distribution of the wait that begins, or goes on, at a time. It is asked about
	// few times, in ascending order.
	Wait func(eligible int64) delay.Distribution
	// Run returns a quantile, in seconds, of the time for which it runs or, of a job that runs, for
	// which it goes on from Earliest.
	Run func(prob float64) float64
	// Limit is after how many seconds of Run it is stopped, or 0 if it never is.
	Limit int64
	// Success is the probability that it ends with exit code 0, once it has started.
	Success float64
	// FailureRate is the expected number of failures of its nodes per second of its run. If they
	// fail, Slurm requeues the job: it waits and runs once more from the beginning.
	FailureRate float64
	// AsDrawn says that its courses are told as they are drawn, whatever has been learnt.
	AsDrawn bool
}

// Never is the time of what does not happen.
const Never = math.MaxInt64

// Courses are what happens to a job in each course.
type Courses struct {
	Eligible, Start, End []int64 // Unix seconds, or Never: also if that is beyond what is forecast
	good                 []bool  // it ends with exit code 0
	lost                 []bool  // it never becomes eligible, as others do not do what it needs
	stopped              []bool  // it ends at its time limit
}

// Draws is the number of courses.
const Draws = 1000

// AlikeWaits is the correlation between the ranks of the waits of two jobs of a flow. It was
// chosen on the logs KTH and CTC, replayed and simulated: .2 and .5 forecast the ends of flows too
// late, and .9 about as well.
const AlikeWaits = .8

// alikeOutcomes is the correlation between the outcomes of two jobs with the same Program, as that
// of normally distributed numbers of which the lower ones stand for success. Of jobs that the same
// user submits one after another, with the same program and size, it is .74 on the log KTH and .71
// on CTC, where it was chosen, .87 on Curie and .53 on Paragon.
const alikeOutcomes = .7

// mostAnchors is the greatest number of times at which a job may become eligible for which its wait
// is forecast. Between them the forecast is interpolated.
const mostAnchors = 5

// Flow has the courses of jobs of which some wait for others.
type Flow struct {
	correlation float64
	queue       []float64 // how long its jobs wait in each course, normally distributed
	beyond      []float64 // in (0,1): a wait of which so much or less is forecast is beyond that
	learnt      *Learnt
	now         int64
	jobs        []Job
	waits       []int         // on the longest path to the start of each job
	drawn       []Courses     // of the jobs
	courses     []Courses     // the same, corrected
	parts       map[int][]int // of those that Join has added
}

// New returns a Flow without jobs. correlation is that between the ranks of the waits of two jobs,
// in [0,1). Courses are corrected by what has been learnt at the time now, unless that is nil.
func New(correlation float64, learnt *Learnt, now int64) *Flow {
	random := rand.New(rand.NewPCG(1, 1))
	return &Flow{correlation: correlation, queue: normals(random), beyond: ranks(normals(random)), learnt: learnt, now: now, parts: map[int][]int{}}
}

// Add draws the courses of one more job, and returns its place in the flow. It takes
// O(Draws log Draws), and the time of mostAnchors forecasts.
func (f *Flow) Add(j Job) int {
	waits := 0
	for _, c := range j.Conditions {
		waits = max(waits, f.waits[c.Job])
	}
	if j.Started == 0 {
		waits++
	}
	drawn := f.draw(&j)
	f.drawn, f.courses = append(f.drawn, drawn), append(f.courses, f.correct(&j, &drawn, waits))
	f.jobs, f.waits = append(f.jobs, j), append(f.waits, waits)
	return len(f.jobs) - 1
}

// Join returns the place of a job that is several together, at least one, such as the tasks of an
// array: it begins when the first of them does, and ends when all have. It takes O(Draws) for each.
func (f *Flow) Join(parts []int) int {
	place, waits := len(f.jobs), 0
	for _, i := range parts {
		waits = max(waits, f.waits[i])
	}
	f.drawn, f.courses = append(f.drawn, join(f.drawn, parts)), append(f.courses, join(f.courses, parts))
	f.jobs, f.waits, f.parts[place] = append(f.jobs, f.jobs[parts[0]]), append(f.waits, waits), parts
	return place
}

// join returns the courses of several of all jobs together.
func join(all []Courses, parts []int) Courses {
	whole := &all[parts[0]]
	c := Courses{slices.Clone(whole.Eligible), slices.Clone(whole.Start), slices.Clone(whole.End), slices.Clone(whole.good), slices.Clone(whole.lost), slices.Clone(whole.stopped)}
	for _, i := range parts[1:] {
		part := &all[i]
		for d := range Draws {
			c.Eligible[d], c.Start[d], c.End[d] = min(c.Eligible[d], part.Eligible[d]), min(c.Start[d], part.Start[d]), max(c.End[d], part.End[d])
			c.good[d], c.lost[d], c.stopped[d] = c.good[d] && part.good[d], c.lost[d] || part.lost[d], c.stopped[d] || part.stopped[d]
		}
	}
	return c
}

// Courses returns what happens to the i-th job. It must not be changed.
func (f *Flow) Courses(i int) *Courses { return &f.courses[i] }

// Waits returns the number of waits on the longest path to the start of the i-th job, with its own:
// those of jobs that have not started, of which each waits for the one before it.
func (f *Flow) Waits(i int) int { return f.waits[i] }

// Drawn returns the flow as it was drawn, before its courses were corrected. Nothing may be added
// to it.
func (f *Flow) Drawn() *Flow { return &Flow{jobs: f.jobs, courses: f.drawn, parts: f.parts} }

func (f *Flow) draw(j *Job) Courses {
	c := Courses{make([]int64, Draws), make([]int64, Draws), make([]int64, Draws), make([]bool, Draws), make([]bool, Draws), make([]bool, Draws)}
	random := rand.New(rand.NewPCG(2, uint64(j.ID)))
	waits, runs := ranks(alike(f.correlation, f.queue, normals(random))), ranks(normals(random))
	outcomes := ranks(j.luck())
	times := make([]int64, 0, len(j.Conditions))
	for d := range Draws {
		c.Eligible[d], c.lost[d] = j.eligible(f.drawn, d, times)
	}
	wait := func(int, float64) float64 { return 0 }
	if j.Started == 0 {
		wait = j.waits(c.Eligible, f.beyond)
	}
	for d := range Draws {
		c.Start[d], c.End[d] = Never, Never
		if c.Eligible[d] == Never {
			continue
		}
		from := later(c.Eligible[d], wait(d, waits[d]))
		if c.Start[d] = from; j.Started != 0 {
			c.Start[d] = j.Started
		}
		c.End[d] = later(max(from, j.HoldUntil), j.Run(runs[d]))
	}
	if j.FailureRate > 0 {
		j.requeue(&c, random, waits, f.beyond)
	}
	ends := 1 - j.stops()
	for d := range Draws {
		c.good[d], c.stopped[d] = c.End[d] != Never && outcomes[d] < j.Success, c.End[d] != Never && outcomes[d] > ends
	}
	return c
}

// stops returns the probability that the job is stopped at its time limit. Jobs with the same
// Program are mostly stopped alike, as they end alike.
func (j *Job) stops() float64 {
	if j.Limit == 0 {
		return 0
	}
	first := sort.Search(Draws, func(i int) bool { return j.Run((float64(i)+.5)/Draws) >= float64(j.Limit) })
	return 1 - float64(first)/Draws
}

// luck returns normally distributed numbers: the lower that of a course is, the better does the job
// end there.
func (j *Job) luck() []float64 {
	luck := normals(rand.New(rand.NewPCG(3, uint64(cmp.Or(j.Array, j.ID)))))
	if j.Program == 0 {
		return luck
	}
	return alike(alikeOutcomes, normals(rand.New(rand.NewPCG(4, j.Program))), luck)
}

// alike returns normally distributed numbers of a job from those that jobs have in common and its
// own. The correlation is that of two such jobs.
func alike(correlation float64, common, own []float64) []float64 {
	numbers := make([]float64, len(own))
	for d := range own {
		numbers[d] = math.Sqrt(correlation)*common[d] + math.Sqrt(1-correlation)*own[d]
	}
	return numbers
}

// requeue has the nodes of a job fail in some of its courses, and puts off its end there. waits are
// the ranks of its waits.
func (j *Job) requeue(c *Courses, random *rand.Rand, waits, beyond []float64) {
	failed := make([]int64, Draws)
	for d := range Draws {
		at := later(max(c.Start[d], j.Earliest), random.ExpFloat64()/j.FailureRate)
		if failed[d] = Never; at < c.End[d] && c.End[d] != Never {
			failed[d] = at
		}
	}
	wait := j.waits(failed, beyond)
	for d, at := range failed {
		if at != Never {
			from := max(c.Start[d], j.Earliest)
			c.End[d] = later(later(at, wait(d, waits[d])), float64(c.End[d]-from))
		}
	}
}

// later returns the time so many seconds after another.
func later(at int64, seconds float64) int64 {
	if at == Never || math.IsInf(seconds, 1) {
		return Never
	}
	return at + int64(math.Ceil(seconds))
}

// eligible returns when the job becomes eligible in a course, or Never. lost is true if it cannot.
// times is room for as many as there are conditions. With n of these it takes O(n), and O(n log n)
// if not all are needed.
func (j *Job) eligible(all []Courses, d int, times []int64) (at int64, lost bool) {
	if len(j.Conditions) == 0 {
		return j.Earliest, false
	}
	failed := 0
	for _, c := range j.Conditions {
		done, cannot := all[c.Job].done(c, d)
		if times = append(times, done); cannot {
			failed++
		}
	}
	needed := cmp.Or(j.Needed, len(times))
	if needed < len(times) {
		slices.Sort(times)
		at = times[needed-1]
	} else {
		at = slices.Max(times)
	}
	return max(at, j.Earliest), failed > len(times)-needed
}

// done returns when a condition comes true in a course, or Never. cannot is true if it cannot. A
// job that is lost waits until somebody cancels it.
func (a *Courses) done(c Condition, d int) (at int64, cannot bool) {
	switch ended := a.End[d] != Never; {
	case a.lost[d], c.Event == Succeeded && ended && !a.good[d], c.Event == Failed && a.good[d]:
		return Never, true
	case c.Event != Begun:
		return a.End[d], false
	case a.Start[d] != Never:
		return a.Start[d] + c.Delay, false
	}
	return Never, false
}

// waits returns a quantile of the wait in a course, which begins when the job becomes eligible
// there: of those waits that are forecast, unless it is beyond these.
func (j *Job) waits(eligible []int64, beyond []float64) func(d int, prob float64) float64 {
	anchors := anchorsOf(eligible)
	waits := make([]delay.Distribution, len(anchors))
	for i, at := range anchors {
		waits[i] = j.Wait(at)
	}
	return func(d int, prob float64) float64 {
		quantile := func(i int) float64 {
			all := waits[i].Within(math.Inf(1))
			if beyond[d] >= all {
				return math.Inf(1)
			}
			return waits[i].Quantile(prob * all)
		}
		i, _ := slices.BinarySearch(anchors, eligible[d])
		switch {
		case i == 0:
			return quantile(0)
		case i == len(anchors):
			return quantile(i - 1)
		}
		before, after := quantile(i-1), quantile(i)
		if math.IsInf(before, 1) || math.IsInf(after, 1) {
			return max(before, after)
		}
		share := float64(eligible[d]-anchors[i-1]) / float64(anchors[i]-anchors[i-1])
		return before + share*(after-before)
	}
}

// anchorsOf returns times, ascending, that stand for many: at most mostAnchors of those that are
// not Never.
func anchorsOf(times []int64) (anchors []int64) {
	ever := slices.DeleteFunc(slices.Clone(times), func(at int64) bool { return at == Never })
	if len(ever) == 0 {
		return nil
	}
	all := TimesOf(ever)
	return slices.Compact(all.Shares(mostAnchors))
}

// normals returns a normally distributed number for each course.
func normals(random *rand.Rand) []float64 {
	numbers := make([]float64, Draws)
	for d := range numbers {
		numbers[d] = random.NormFloat64()
	}
	return numbers
}

// ranks returns the ranks of numbers, each in the middle of its share of (0,1).
func ranks(numbers []float64) []float64 {
	order := make([]int, len(numbers))
	for d := range order {
		order[d] = d
	}
	slices.SortFunc(order, func(a, b int) int {
		if numbers[a] < numbers[b] {
			return -1
		}
		return 1
	})
	ranked := make([]float64, len(numbers))
	for rank, d := range order {
		ranked[d] = (float64(rank) + .5) / float64(len(numbers))
	}
	return ranked
}
