// Package flows is the study "flows". It tells how often all jobs of a flow, of which some wait for
// others, have ended by the quantiles that were forecast when it was submitted, and how often
// promises about that are kept.
package flows

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/predictor/trial/study/flows/graph"
)

// Study implements study.Study.
type Study struct{}

const (
	share      = .05 // of the machine, that the work of the flows takes
	learning   = .25 // share of the time, before the first flow
	until      = .9  // share of the time, after which no flow begins
	usualSeeds = 3
	quickSeeds = 1
	quickJobs  = 3000
	mostJobs   = 30 // of a flow
)

// logs are logs with full queues.
var logs = []string{"KTH-SP2-1996", "CTC-SP2-1996", "SDSC-SP2-1998"}

// shape is how jobs of a flow wait for one another. after returns those for which the i-th of n
// waits.
type shape struct {
	name  string
	n     int
	after func(i, n int, random *rand.Rand) []int
}

var shapes = []shape{
	{"chain of 5", 5, func(i, _ int, _ *rand.Rand) []int {
		if i == 0 {
			return nil
		}
		return []int{i - 1}
	}},
	{"fan-out of 10", 12, func(i, n int, _ *rand.Rand) []int {
		switch i {
		case 0:
			return nil
		case n - 1:
			return upTo(1, n-1)
		}
		return []int{0}
	}},
	{"diamond", 4, func(i, _ int, _ *rand.Rand) []int { return [][]int{nil, {0}, {0}, {1, 2}}[i] }},
	{"graph of 30", mostJobs, func(i, _ int, random *rand.Rand) (after []int) {
		for range min(i, 1+random.IntN(3)) {
			after = append(after, max(0, i-1-random.IntN(6)))
		}
		slices.Sort(after)
		return slices.Compact(after)
	}},
}

// upTo returns the numbers from one to before another.
func upTo(from, to int) (all []int) {
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

// methods has the names of graph.Method.
var methods = [graph.Methods]string{graph.Told: "varqd", graph.Courses: "courses", graph.Sum: "sum"}

func (Study) seeds(o study.Options) int { return o.Repetitions(usualSeeds, quickSeeds) }

func same(log string) string { return log }

// Cases implements study.Study.
func (s Study) Cases(o study.Options) []study.Case { return study.Cross(s.seeds(o), logs, same) }

// Run implements study.Study. Its values are sums over the flows that were forecast. For all of
// them, and for each shape:
//
//	n all, n chain of 5                 flows
//	all varqd 0.9, chain of 5 sum 0.9   of these, those that had ended by that quantile
//
// and over all shapes:
//
//	loss varqd 0.9             the pinball losses of that quantile, in seconds
//	n promised 0.9, kept 0.9   flows to which this was promised with this probability, and no more,
//	                           and of these those that had ended in time
func (Study) Run(o study.Options, c study.Case) (study.Values, error) {
	log, err := study.Setting("flows", c, logs, same)
	if err != nil {
		return nil, err
	}
	pool, err := o.Pool(log, o.AtMost(quickJobs))
	if err != nil {
		return nil, err
	}
	flows, kinds := draw(pool.Jobs, pool.Procs, c.Seed)
	e := graph.Experiment{Procs: pool.Procs, Flows: flows, Request: pool.Request, Seed: c.Seed, Background: o.Background}
	return valuesOf(&e, kinds, e.Run(pool.Jobs)), nil
}

// valuesOf returns the values of Study.Run from outcomes. kinds has the shape of each flow.
func valuesOf(e *graph.Experiment, kinds []string, outcomes []graph.Outcome) study.Values {
	v := study.Values{number(everyShape): 0}
	for _, s := range shapes {
		v[number(s.name)] = 0
	}
	for _, level := range graph.Levels {
		v[promised(level)], v[kept(level)] = 0, 0
	}
	for i := range outcomes {
		o := &outcomes[i]
		for _, kind := range []string{everyShape, kinds[o.Flow]} {
			v[number(kind)]++
			for m := range graph.Methods {
				for k, level := range graph.Levels {
					if o.Took <= o.Quantiles[m][k] {
						v[within(kind, m, level)]++
					}
				}
			}
		}
		for m := range graph.Methods {
			for k, level := range graph.Levels {
				// where nothing is forecast, the longest wait that is counts
				late := o.Took - min(o.Quantiles[m][k], longest)
				v[loss(m, level)] += max(level*late, (level-1)*late)
			}
		}
		for k := len(graph.Levels) - 1; k >= 0; k-- {
			if level := graph.Levels[k]; o.Prob >= level {
				v[promised(level)]++
				if o.Took <= float64(e.Flows[o.Flow].Within) {
					v[kept(level)]++
				}
				break
			}
		}
	}
	return v
}

// longest is the greatest time that a quantile counts for, in seconds.
const longest = 100 * 86400

// everyShape stands for all shapes in the names of values.
const everyShape = "all"

// number and the like return the names of values.
func number(kind string) string { return "n " + kind }
func within(kind string, m graph.Method, level float64) string {
	return fmt.Sprint(kind, " ", methods[m], " ", level)
}
func loss(m graph.Method, level float64) string { return fmt.Sprint("loss ", methods[m], " ", level) }
func promised(level float64) string             { return fmt.Sprint("n promised ", level) }
func kept(level float64) string                 { return fmt.Sprint("kept ", level) }

// draw draws flows, and their shapes. The jobs of each are jobs that a user submitted one after
// another. A flow begins as long after the one before it as it takes for that one's work to be a
// share of what all processors do. Its user wants it to have ended in .2 to 2 times as long as its
// longest path has limits.
func draw(jobs []sched.Job, procs int32, seed uint64) (flows []graph.Flow, kinds []string) {
	of := map[int32][]int{} // the jobs of each user
	for i := range jobs {
		of[jobs[i].User] = append(of[jobs[i].User], i)
	}
	var starts []int // where as many jobs follow as any flow has
	follow := map[int][]int{}
	for i := range jobs {
		list := of[jobs[i].User]
		k, _ := slices.BinarySearch(list, i)
		if len(list)-k >= mostJobs {
			starts, follow[i] = append(starts, i), list[k:k+mostJobs]
		}
	}
	if len(starts) == 0 {
		return nil, nil
	}
	random := rand.New(rand.NewPCG(seed, 0x666c_6f77))
	first, last := jobs[0].Submit, jobs[len(jobs)-1].Submit
	span := float64(last - first)
	for at := first + int64(learning*span); at < first+int64(until*span); {
		s := shapes[random.IntN(len(shapes))]
		f := graph.Flow{Begin: at}
		work := 0.
		for i, place := range follow[starts[random.IntN(len(starts))]][:s.n] {
			j := jobs[place]
			f.Jobs, f.After = append(f.Jobs, j), append(f.After, s.after(i, s.n, random))
			work += float64(min(j.Run, j.Limit)) * float64(j.Procs)
		}
		limits := f.Longest(func(i int) float64 { return float64(f.Jobs[i].Limit) })
		f.Within = int64(limits * (.2 + 1.8*random.Float64()))
		flows, kinds = append(flows, f), append(kinds, s.name)
		at += 1 + int64(work/(share*float64(procs)))
	}
	return flows, kinds
}
