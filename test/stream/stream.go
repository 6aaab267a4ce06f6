// Package stream generates a stream of jobs, some of which can run on several numbers of nodes. It
// runs the jobs on real clusters, so that the effects of varq can be compared with those of Slurm
// alone.
package stream

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/forecast/speedup"
)

// Job is one job of a stream. Times are seconds.
type Job struct {
	Name string
	User string
	At   float64 // when it is submitted, since the stream began
	// Nodes is how many nodes the job needs, or 0 if it can have any number.
	Nodes int32
	// Run is how long it runs: on one node, if it can have any number.
	Run float64
	// Limit is the time limit of a job with Nodes, in whole minutes.
	Limit int64
}

// law is the speedup of jobs that can have any number of nodes.
var law = speedup.Amdahl{Serial: .05}

// On returns how long the job runs on n nodes, in seconds.
func (j *Job) On(n int32) float64 {
	if j.Nodes > 0 {
		return j.Run
	}
	return j.Run / law.Of(float64(n))
}

// LimitOn returns the time limit with which the job is asked for on n nodes, in seconds: what it
// needs there, in whole minutes of Slurm's, if it can have any number of nodes.
func (j *Job) LimitOn(n int32) int64 {
	if j.Nodes > 0 {
		return j.Limit
	}
	return wholeMinutes(j.On(n))
}

// wholeMinutes leaves half a second for the job's start and end.
func wholeMinutes(seconds float64) int64 { return 60 * int64(math.Ceil((seconds+.5)/60)) }

// Config describes streams of jobs for a cluster.
type Config struct {
	Seed  uint64
	Nodes int32   // of the cluster
	Until float64 // when the last job is submitted, in seconds
}

// Others returns the jobs of others, which would keep half of the cluster busy: for a while more
// jobs come than it can run, and few then. phase, from 0 to 1, says where in that the stream
// begins.
func (c Config) Others(phase float64) []Job {
	const (
		period = 1200.0 // seconds
		busy   = .3     // of it
		much   = 1.5    // of the nodes, while busy
		little = .1
	)
	random := rand.New(rand.NewPCG(c.Seed, 0x6f7468657273))
	work := c.meanWork()
	return c.arrivals(random, "bob", "other", func(at float64) float64 {
		if _, f := math.Modf(at/period + phase); f < busy {
			return much * float64(c.Nodes) / work
		}
		return little * float64(c.Nodes) / work
	}, func(j *Job) { c.drawRigid(random, j) })
}

// Moldable returns jobs that can have any number of nodes. They come all the time, and on one node
// each they would keep a quarter of the cluster busy.
func (c Config) Moldable() []Job {
	const (
		share = .25
		least = 120.0 // run times on one node, seconds
		most  = 720.0
	)
	random := rand.New(rand.NewPCG(c.Seed, 0x6d6f6c6461626c65))
	rate := share * float64(c.Nodes) / ((most - least) / math.Log(most/least))
	return c.arrivals(random, "alice", "job", func(float64) float64 { return rate },
		func(j *Job) { j.Run = least * math.Pow(most/least, random.Float64()) })
}

// Rigid returns jobs of one user whose sizes are fixed, as those of others are. They come all the
// time, and would keep six tenths of the cluster busy; they are for two of its kind.
func (c Config) Rigid() []Job {
	const share = .6
	random := rand.New(rand.NewPCG(c.Seed, 0x7269676964))
	rate := share * float64(c.Nodes) / c.meanWork()
	return c.arrivals(random, "alice", "job", func(float64) float64 { return rate }, func(j *Job) { c.drawRigid(random, j) })
}

// Run times of jobs with a fixed size, in seconds, and up to how many times as long their limits
// are.
const (
	shortest   = 30.0
	longest    = 480.0
	generosity = 2.0
)

func (c Config) drawRigid(random *rand.Rand, j *Job) {
	j.Run = shortest * math.Pow(longest/shortest, random.Float64())
	j.Limit = wholeMinutes(j.Run * (1 + (generosity-1)*random.Float64()))
	j.Nodes = min(size(random), c.Nodes)
}

// meanWork is the mean node-seconds of a job with a fixed size.
func (c Config) meanWork() float64 {
	work := 0.0
	for i, share := range shares {
		work += share * float64(min(int32(1)<<i, c.Nodes))
	}
	return work * (longest - shortest) / math.Log(longest/shortest)
}

// shares are how many of the jobs with a fixed size have 1, 2, 4 and 8 nodes.
var shares = [...]float64{.4, .3, .2, .1}

func size(random *rand.Rand) int32 {
	x := random.Float64()
	for i, share := range shares {
		if x -= share; x < 0 {
			return 1 << i
		}
	}
	return 1 << (len(shares) - 1)
}

// arrivals are a Poisson process of which the rate, in jobs a second, may change with time, by
// thinning.
func (c Config) arrivals(random *rand.Rand, user, name string, rate func(at float64) float64, draw func(*Job)) []Job {
	highest := 0.0
	for at := range 3600 {
		highest = max(highest, rate(float64(at)))
	}
	var jobs []Job
	for at := random.ExpFloat64() / highest; at < c.Until; at += random.ExpFloat64() / highest {
		if random.Float64()*highest >= rate(at) {
			continue
		}
		j := Job{Name: fmt.Sprintf("%s%d", name, len(jobs)+1), User: user, At: at}
		draw(&j)
		jobs = append(jobs, j)
	}
	return jobs
}

// Together returns the jobs of several streams in the order of their submission.
func Together(streams ...[]Job) []Job {
	all := slices.Concat(streams...)
	slices.SortStableFunc(all, func(a, b Job) int { return cmp.Compare(a.At, b.At) })
	return all
}
