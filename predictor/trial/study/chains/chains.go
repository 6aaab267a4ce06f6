// Package chains is the study "chains". It compares ways to submit the next job of a chain of jobs,
// each of which goes on where the one before it had to stop. Its measures are those of "Mirage:
// Towards Low-interruption Services on Batch GPU Clusters with Reinforcement Learning" (Ding et al.
// 2023): how often there is no gap, how long gaps are, and for how long two jobs overlap.
package chains

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/predictor/trial/study/chains/chain"
)

// Study implements study.Study.
type Study struct{}

const (
	links      = 5        // of a chain
	share      = .05      // of the machine, that the work of the chains takes
	shortest   = 2 * 3600 // the least run time, in seconds, of a job that links are like
	noGap      = 60       // the longest gap, in seconds, that counts as none
	learning   = .25      // share of the jobs, before the first chain
	usualSeeds = 3
	quickSeeds = 1
	quickJobs  = 3000
)

// logs are logs with full queues.
var logs = []string{"CTC-SP2-1996", "SDSC-SP2-1998", "KTH-SP2-1996"}

// way is a way to submit the next link.
type way struct {
	name string
	chain.Way
}

var (
	atEnd    = way{"at the end", chain.AtEnd}
	promised = way{"by varq", chain.Promised}
	ways     = []way{
		atEnd,
		{"at once, afterany", chain.AfterAny},
		{"at once, no dependency", chain.Independent},
		{"by the mean wait", chain.MeanWait},
		promised,
	}
)

// setting is the setting of a case.
type setting struct {
	log string
	way way
}

func (c setting) name() string { return strings.Join([]string{c.log, c.way.name}, ", ") }

func settings() []setting {
	var cases []setting
	for _, log := range logs {
		for _, way := range ways {
			cases = append(cases, setting{log, way})
		}
	}
	return cases
}

func (Study) seeds(o study.Options) int { return o.Repetitions(usualSeeds, quickSeeds) }

// Cases implements study.Study.
func (s Study) Cases(o study.Options) []study.Case {
	return study.Cross(s.seeds(o), settings(), setting.name)
}

// Run implements study.Study. Its values are sums over the pairs of links, one after the other:
//
//	n pairs               pairs
//	without               of these, those without a gap
//	gap                   the seconds of their gaps
//	n promised 0.9        pairs to which this was promised with this probability
//	kept 0.9              of these, those for which it was kept
//
// and besides:
//
//	n work, idle          the processor seconds of the chains' work, and those for which processors
//	                      idled before it
//	n others, wait        other jobs after the first chain began, and the seconds that they waited
//	n machine             the processor seconds that there were
//	taken, by chains      of these, those of all jobs, and those of chains
func (Study) Run(o study.Options, c study.Case) (study.Values, error) {
	s, err := study.Setting("chains", c, settings(), setting.name)
	if err != nil {
		return nil, err
	}
	return s.run(o, c.Seed)
}

func (c setting) run(o study.Options, seed uint64) (study.Values, error) {
	pool, err := o.Pool(c.log, o.AtMost(quickJobs))
	if err != nil {
		return nil, err
	}
	e := chain.Experiment{Procs: pool.Procs, Chains: draw(pool.Jobs, pool.Procs, seed), Request: pool.Request, Seed: seed, Background: o.Background}
	result := e.Run(pool.Jobs, c.way.Way)
	values := study.Values{
		"n pairs": float64(len(result.Pairs)), "without": 0, "gap": 0,
		"n work": result.Work, "idle": result.Idle, "n others": float64(result.Others), "wait": result.Wait,
		"n machine": result.Machine, "taken": result.Taken, "by chains": result.Chains,
	}
	for _, prob := range chain.Ladder {
		values[promisedWith(prob)], values[keptWith(prob)] = 0, 0
	}
	for _, p := range result.Pairs {
		values["gap"] += float64(p.Gap)
		if p.Gap <= noGap {
			values["without"]++
		}
		if p.Prob == 0 {
			continue
		}
		values[promisedWith(p.Prob)]++
		if p.Gap == 0 {
			values[keptWith(p.Prob)]++
		}
	}
	return values, nil
}

// promisedWith and keptWith return the names of the values for a probability.
func promisedWith(prob float64) string { return fmt.Sprint("n promised ", prob) }
func keptWith(prob float64) string     { return fmt.Sprint("kept ", prob) }

// draw draws chains. The links of each are like a job that ran for two hours and for half of its
// limit at least. A chain begins as long after the one before it as it takes for that one's work to
// be a share of what all processors do.
func draw(jobs []sched.Job, procs int32, seed uint64) []chain.Chain {
	var like []sched.Job
	for i := range jobs {
		if j := &jobs[i]; min(j.Run, j.Limit) >= max(shortest, j.Limit/2) {
			like = append(like, *j)
		}
	}
	if len(like) == 0 {
		return nil
	}
	random := rand.New(rand.NewPCG(seed, 0x6c69_6e6b))
	var chains []chain.Chain
	last := jobs[len(jobs)-1].Submit
	for at := jobs[int(learning*float64(len(jobs)))].Submit; ; {
		c := chain.Chain{Begin: at, Links: links, Link: like[random.IntN(len(like))]}
		at += int64(float64(links*c.Link.Limit) * float64(c.Link.Procs) / (share * float64(procs)))
		if at > last {
			return chains
		}
		chains = append(chains, c)
	}
}
