// Package faults is the study of how well failures of nodes are forecast. It replays each log from
// its first failure on, day by day. Every morning the forecaster says how probable it is that each
// node fails on that day, and that at least one of a job's nodes fails. The forecaster learns all
// the time. Its forecasts after the first 60 % of the days are judged.
package faults

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/predictor/workload"
)

// Study implements study.Study.
type Study struct{}

const (
	learns   = .6
	weekDays = 7
	memory   = 200. // days, of the rates that fade
	draws    = 4    // sets of each size a day
)

// systems are those of Los Alamos with more than one node. On those of freshSystems no constant was
// chosen.
var (
	systems      = []string{"18", "19", "20", "3", "4", "5", "6", "9", "10", "11", "13", "14", "21", "2", "8", "12", "16", "23"}
	freshSystems = []string{"2", "8", "12", "16", "23"}
	quickSystems = []string{"20", "8", "12"}
)

// setSizes are the sizes of sets of neighbouring nodes, as jobs have them.
var setSizes = []int{12, 48, 128}

// ownNodes is the case of the failures that Options name.
const ownNodes = "own nodes"

// Cases implements study.Study.
func (Study) Cases(o study.Options) []study.Case {
	var cases []study.Case
	for _, system := range systemsOf(o) {
		cases = append(cases, study.Case{Name: system, Seed: 1})
	}
	return cases
}

func systemsOf(o study.Options) []string {
	switch {
	case o.Failures != nil:
		return []string{ownNodes}
	case o.Quick:
		return quickSystems
	default:
		return systems
	}
}

// Run implements study.Study. The values are
//
//	failed                       number of node-days with a failure on which forecasts are judged
//	gain                         nats per failure that the model gains over the rate of all nodes,
//	                             frozen when the judging begins
//	own, fading                  the same of rates of each node, and of rates that fade
//	over own, over fading        nats per failure that the model gains over these
//	expected                     failures expected / failures seen
//	precision                    share of failures among the node-days at the greatest risk, of
//	                             which there are as many as failures
//	lift                         precision / share of failures among all node-days
//	hits N, gain N, expected N   the same of sets of N nodes: how many failed, nats per such set
//	                             gained, expected / seen
//	said K, came K, days K       of the node-days in the K-th bin of risks: mean risk, share with a
//	                             failure, number
//
// Values whose names end in " low" and " high" are the ends of 95 % intervals, for which weeks are
// independent.
func (Study) Run(o study.Options, c study.Case) (study.Values, error) {
	var nodes []string
	var log []workload.Failure
	switch {
	case c.Name == ownNodes && o.Failures != nil:
		nodes, log = o.Failures.Nodes, o.Failures.Failures
	case !slices.Contains(systems, c.Name):
		return nil, fmt.Errorf("faults has no case %q", c.Name)
	case o.Traces == nil:
		return nil, study.ErrNoTraces
	default:
		var err error
		if nodes, log, err = o.Traces.Failures(c.Name); err != nil {
			return nil, err
		}
	}
	t := newTrial(nodes, log, c.Seed)
	switch {
	case t.days < 10*weekDays:
		return nil, fmt.Errorf("the failures of %s span %d days: 70 are needed to judge forecasts", c.Name, t.days)
	case t.days > study.LongestLog:
		return nil, fmt.Errorf("the failures of %s span %d days, more than 100 years", c.Name, t.days)
	}
	for d := range t.days {
		t.live(d)
	}
	return t.values(), nil
}

// trial lets forecasters live through a log.
type trial struct {
	nodes  []string
	index  map[string]int
	log    []workload.Failure
	next   int // in log
	start  int64
	days   int64
	judged int64 // the first day that counts
	model  *fault.Model
	always *fault.Rates
	fading *fault.Rates
	seen   int     // node-days with a failure
	frozen float64 // failures per node and day until judged
	weeks  []weekSums
	risks  []nodeDay
	random *rand.Rand
}

// nodeDay is a risk, and what came of it.
type nodeDay struct {
	risk   float64
	failed bool
}

// weekSums are those of a week.
type weekSums struct {
	failed, expected             float64
	constant, own, fading, model float64 // losses, in nats
	sets                         []setSums
}

// setSums are those of the sets of one size.
type setSums struct{ hit, expected, constant, model float64 }

func newTrial(nodes []string, log []workload.Failure, seed uint64) *trial {
	t := &trial{
		nodes: nodes, index: map[string]int{}, log: log, always: fault.NewRates(len(nodes)), fading: fault.NewRates(len(nodes)),
		random: rand.New(rand.NewPCG(seed, 2005)),
	}
	for i, node := range nodes {
		t.index[node] = i
	}
	if len(log) > 0 {
		t.start = log[0].Down
		t.days = (log[len(log)-1].Down-t.start)/study.Day + 1
	}
	t.judged = int64(learns * float64(t.days))
	t.model = fault.New(nodes, nil, t.start)
	return t
}

// live forecasts a day and lives through it.
func (t *trial) live(d int64) {
	morning := t.start + d*study.Day
	t.model.Advance(morning)
	if d == t.judged {
		t.frozen = -math.Log1p(-float64(t.seen) / float64(d) / float64(len(t.nodes)))
	}
	var sums *weekSums
	if d >= t.judged {
		if week := int((d - t.judged) / weekDays); week == len(t.weeks) {
			t.weeks = append(t.weeks, weekSums{sets: make([]setSums, len(setSizes))})
		}
		sums = &t.weeks[len(t.weeks)-1]
	}
	expected := make([]float64, len(t.nodes))
	var sets []askedSet
	if sums != nil {
		for n, node := range t.nodes {
			expected[n] = t.model.Expected(node, study.Day)
		}
		sets = t.askSets()
	}
	failed := make([]bool, len(t.nodes))
	for ; t.next < len(t.log) && t.log[t.next].Down < morning+study.Day; t.next++ {
		failure := t.log[t.next]
		failed[t.index[failure.Node]] = true
		t.model.Observe(fault.Event{Node: failure.Node, At: failure.Down})
	}
	for n, failed := range failed {
		if failed {
			t.seen++
		}
		if sums == nil {
			continue
		}
		t.risks = append(t.risks, nodeDay{-math.Expm1(-expected[n]), failed})
		sums.expected += -math.Expm1(-expected[n])
		if failed {
			sums.failed++
		}
		sums.constant += lossOf(t.frozen, failed)
		sums.own += lossOf(t.always.Rate(n), failed)
		sums.fading += lossOf(t.fading.Rate(n), failed)
		sums.model += lossOf(expected[n], failed)
	}
	for _, set := range sets {
		hit := slices.ContainsFunc(set.nodes, func(n int) bool { return failed[n] })
		sums.sets[set.size].add(set.prob, -math.Expm1(-t.frozen*float64(len(set.nodes))), hit)
	}
	t.always.Advance(1, 0)
	t.fading.Advance(1, 1/memory)
	for n, failed := range failed {
		if failed {
			t.always.Observe(n)
			t.fading.Observe(n)
		}
	}
}

// lossOf returns the log loss, in nats, where so many failures of a node were expected.
func lossOf(expected float64, failed bool) float64 {
	if failed {
		return -math.Log(-math.Expm1(-max(expected, leastRisk)))
	}
	return expected
}

// leastRisk is the least risk that a forecaster is taken to see, so that a surprise has a finite
// loss.
const leastRisk = 1e-9

// askedSet is a set of nodes that the model was asked about.
type askedSet struct {
	size  int // in setSizes
	nodes []int
	prob  float64
}

func (t *trial) askSets() (sets []askedSet) {
	for size, count := range setSizes {
		if count > len(t.nodes)/2 {
			continue
		}
		for range draws {
			set := askedSet{size: size}
			var names []string
			first := t.random.IntN(len(t.nodes))
			for i := range count {
				n := (first + i) % len(t.nodes)
				set.nodes, names = append(set.nodes, n), append(names, t.nodes[n])
			}
			set.prob = t.model.Prob(names, 0, study.Day)
			sets = append(sets, set)
		}
	}
	return sets
}

func (s *setSums) add(prob, constant float64, hit bool) {
	s.expected += prob
	if hit {
		s.hit++
	}
	s.constant += lossOf(-math.Log1p(-constant), hit)
	s.model += lossOf(-math.Log1p(-min(prob, 1-leastRisk)), hit)
}

// riskEdges are the bounds of the bins of risks.
var riskEdges = []float64{0, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, .1, .2, 1}

func (t *trial) values() study.Values {
	v := study.Values{}
	ratio := func(name string, of func(*weekSums) stats.Ratio) {
		blocks := make([]stats.Ratio, len(t.weeks))
		var sum stats.Ratio
		for i := range t.weeks {
			blocks[i] = of(&t.weeks[i])
			sum.Sum, sum.Of = sum.Sum+blocks[i].Sum, sum.Of+blocks[i].Of
		}
		if sum.Of == 0 {
			return
		}
		v[name] = sum.Value()
		if low, high, ok := stats.RatioInterval(blocks, .95, t.random); ok {
			v[name+" low"], v[name+" high"] = low, high
		}
	}
	ratio("gain", func(s *weekSums) stats.Ratio { return stats.Ratio{Sum: s.constant - s.model, Of: s.failed} })
	ratio("own", func(s *weekSums) stats.Ratio { return stats.Ratio{Sum: s.constant - s.own, Of: s.failed} })
	ratio("fading", func(s *weekSums) stats.Ratio { return stats.Ratio{Sum: s.constant - s.fading, Of: s.failed} })
	ratio("over own", func(s *weekSums) stats.Ratio { return stats.Ratio{Sum: s.own - s.model, Of: s.failed} })
	ratio("over fading", func(s *weekSums) stats.Ratio { return stats.Ratio{Sum: s.fading - s.model, Of: s.failed} })
	ratio("expected", func(s *weekSums) stats.Ratio { return stats.Ratio{Sum: s.expected, Of: s.failed} })
	for i, size := range setSizes {
		hits := 0.
		for _, week := range t.weeks {
			hits += week.sets[i].hit
		}
		v[fmt.Sprint("hits ", size)] = hits
		ratio(fmt.Sprint("gain ", size), func(s *weekSums) stats.Ratio {
			return stats.Ratio{Sum: s.sets[i].constant - s.sets[i].model, Of: s.sets[i].hit}
		})
		ratio(fmt.Sprint("expected ", size), func(s *weekSums) stats.Ratio {
			return stats.Ratio{Sum: s.sets[i].expected, Of: s.sets[i].hit}
		})
	}
	t.rank(v)
	return v
}

// rank adds the values that compare risks with what came of them.
func (t *trial) rank(v study.Values) {
	slices.SortStableFunc(t.risks, func(a, b nodeDay) int { return cmp.Compare(b.risk, a.risk) })
	count := func(list []nodeDay) (failed float64, risk float64) {
		for _, d := range list {
			risk += d.risk
			if d.failed {
				failed++
			}
		}
		return failed, risk
	}
	failed, _ := count(t.risks)
	v["failed"] = failed
	if failed > 0 {
		found, _ := count(t.risks[:int(failed)])
		v["precision"] = found / failed
		v["lift"] = v["precision"] / (failed / float64(len(t.risks)))
	}
	for k := range len(riskEdges) - 1 {
		low, high := riskEdges[k], riskEdges[k+1]
		from, _ := slices.BinarySearchFunc(t.risks, high, func(d nodeDay, edge float64) int { return cmp.Compare(edge, d.risk) })
		to, _ := slices.BinarySearchFunc(t.risks, low, func(d nodeDay, edge float64) int { return cmp.Compare(edge, d.risk) })
		if k == 0 {
			to = len(t.risks)
		}
		if days := float64(to - from); days > 0 {
			came, said := count(t.risks[from:to])
			v[fmt.Sprint("said ", k)], v[fmt.Sprint("came ", k)], v[fmt.Sprint("days ", k)] = said/days, came/days, days
		}
	}
}
