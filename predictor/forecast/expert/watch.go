package expert

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast/features"
	"github.com/varq-project/varq/predictor/forecast/forest"
	"github.com/varq-project/varq/predictor/workload"
)

// watch learns from jobs while they wait how likely those like them are to start soon. It sees each
// job when it begins to wait, and at each look a few of those that wait.
type watch struct {
	hazards *forest.Hazards
	queue   *queue.Queue
	rng     *rand.Rand
	next    int64 // when the next look is due
	places  []int // scratch
}

// horizons are those of a watch, in seconds.
var horizons = []int64{1800, 2 * 3600, 8 * 3600, 24 * 3600}

const (
	// lookEvery is how many seconds pass between two looks. Some pass more, at random, so that
	// looks do not keep to the times of what comes each hour.
	lookEvery = 1800
	// looked is how many jobs a look sees.
	looked = 8
	// aging is the number of features, beside those of package features, of a job that has waited
	// for a while.
	aging = 5
)

// newWatch returns a watch of the jobs that wait in a queue.
func newWatch(q *queue.Queue, rng *rand.Rand, b forest.Background) *watch {
	rng = rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))
	return &watch{hazards: forest.NewHazards(features.Count+aging, horizons, rng, b), queue: q, rng: rng}
}

// logOdds appends to list the log-odds that a job with these features starts within each of
// horizons from now.
func (w *watch) logOdds(list []float32, v *features.Vector, limit, since, now int64) []float32 {
	return w.hazards.LogOdds(list, sight(v, limit, since, now))
}

// sight returns the features of a job that waits since a time.
func sight(v *features.Vector, limit, since, now int64) []float32 {
	const hour, day, week = 3600, 24 * 3600, 7 * 24 * 3600
	age, ends := features.Delay(float64(now-since)), now+limit
	return append(v[:len(v):len(v)],
		age, age-float32(math.Log(float64(max(1, limit)))),
		float32(now%day)/hour, float32((now+3*day)%week)/hour, float32(ends%day)/hour)
}

// submitted takes in that j begins to wait, in a situation with these features.
func (w *watch) submitted(j *workload.Job, v *features.Vector) {
	w.hazards.See(sight(v, j.Limit, j.Since(), j.Since()), j.ID, j.Since())
}

// teaches reports whether how long a job goes on waiting tells anything of others: not of one that
// waits for a limit of its own, or for nodes that it has named, nor of many tasks that are one job
// as yet.
func teaches(j *workload.Job) bool { return j.Count() == 1 && !j.AtLimit && !j.Narrow() }

func (w *watch) started(j *workload.Job) {
	if _, ok := j.Wait(); ok {
		w.hazards.Happened(j.ID, j.Start)
	} else {
		w.hazards.Withdrawn(j.ID, j.Start)
	}
}

func (w *watch) ended(j *workload.Job) { w.hazards.Withdrawn(j.ID, j.End) }

// look takes a look if one is due. It costs O(n) with n jobs waiting, and what a few questions
// cost.
func (w *watch) look(e *features.Extractor, now int64) {
	if now < w.next {
		return
	}
	w.next = now - now%lookEvery + lookEvery + w.rng.Int64N(lookEvery/4)
	var v features.Vector
	for _, j := range w.sample() {
		if teaches(&j.Job) {
			e.Look(&j.Request, j.ID, now, j.Since(), &v)
			w.hazards.See(sight(&v, j.Limit, j.Since(), now), j.ID, now)
		}
	}
	w.hazards.Grow(now)
}

// sample returns a few of the jobs that wait, or one of them more than once.
func (w *watch) sample() (jobs []*queue.Job) {
	n, _ := w.queue.Len()
	w.places = w.places[:0]
	for range min(n, looked) {
		w.places = append(w.places, w.rng.IntN(n))
	}
	slices.Sort(w.places)
	place := 0
	for j := range w.queue.Pending() {
		for len(jobs) < len(w.places) && w.places[len(jobs)] == place {
			jobs = append(jobs, j)
		}
		if len(jobs) == len(w.places) {
			break
		}
		place++
	}
	return jobs
}
