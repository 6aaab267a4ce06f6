package simulate

import (
	"fmt"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/trial/scenario"
)

// comparison compares trials with the first, in which nobody reserves. Each is that of all seeds
// together.
type comparison struct {
	setting
	jobs   int        // with the first seed
	log    bool       // the jobs are those of a log, the same with every seed
	cut    bool       // only the first jobs of a log were simulated
	Trials []compared `json:"scenarios"`
}

// compared is a trial with its difference from the first.
type compared struct {
	*trial
	Change *change  `json:"change,omitempty"`  // nil for the first
	BySeed []seeded `json:"by_seed,omitempty"` // if there are several seeds; not for the first
}

// change has the relative changes from the trial without reservations: .1 means 10 % more.
// A change is nil if the value of that trial is 0.
type change struct {
	Wait        *float64  `json:"mean_wait"`
	WaitWithin  *interval `json:"mean_wait_interval,omitempty"` // nil if it is not known
	Slowdown    *float64  `json:"bounded_slowdown"`
	Utilisation *float64  `json:"utilisation"`
}

// interval has the ends of an interval of score.Confidence.
type interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Over says what is independent of one another: weeks, or seeds.
	Over string `json:"over"`
}

// seeded is what a trial came to with one seed.
type seeded struct {
	Seed     uint64   `json:"seed"`
	Wait     *float64 `json:"mean_wait_change"`
	Promised int      `json:"promised"`
	Kept     int      `json:"kept"`
}

// newComparison compares the trials of all rounds.
func newComparison(s *simulation, rounds [][]*trial) *comparison {
	c := &comparison{setting: s.setting, jobs: rounds[0][0].Jobs, log: s.jobs.log, cut: s.cut}
	base := pool(rounds, 0, s.jobs.log)
	c.Trials = append(c.Trials, compared{trial: base})
	for i := range rounds[0] {
		if i == 0 {
			continue
		}
		row := compared{trial: pool(rounds, i, s.jobs.log)}
		if len(rounds) > 1 {
			for k, round := range rounds {
				row.BySeed = append(row.BySeed, seedOf(s.Seed+uint64(k), round[0], round[i]))
			}
		}
		row.Change = &change{
			Wait:        relative(row.Others.Mean, base.Others.Mean),
			WaitWithin:  waitWithin(base.Result, row.Result, row.BySeed),
			Slowdown:    relative(row.Others.Slowdown, base.Others.Slowdown),
			Utilisation: relative(row.Utilisation, base.Utilisation),
		}
		c.Trials = append(c.Trials, row)
	}
	return c
}

// pool returns a trial of all rounds as one. same says that all have the same jobs.
func pool(rounds [][]*trial, i int, same bool) *trial {
	first := rounds[0][i]
	pooled := &trial{Reservations: first.Reservations, kind: first.kind}
	var results []*scenario.Result
	for _, round := range rounds {
		results = append(results, round[i].Result)
		if p := round[i].Plain; p != nil {
			if pooled.Plain == nil {
				pooled.Plain = new(plain)
			}
			pooled.Plain.plus(p)
		}
	}
	if pooled.Plain != nil {
		pooled.Plain.conclude()
	}
	pooled.Result = scenario.Pool(results, same)
	return pooled
}

func seedOf(seed uint64, base, t *trial) seeded {
	s := seeded{Seed: seed, Wait: relative(t.Others.Mean, base.Others.Mean)}
	if v := t.VARQ; v != nil {
		s.Promised, s.Kept = v.Promised, v.Kept
	}
	return s
}

func relative(now, before float64) *float64 {
	if before == 0 {
		return nil
	}
	r := now/before - 1
	return &r
}

// waitWithin returns the interval of the change of the others' mean wait. Waits of one week depend
// on one another, so weeks are resampled. With too few weeks for that, the interval is Student's
// over the seeds, of which there must be two or more: it tells then how much hangs on who reserves.
func waitWithin(base, r *scenario.Result, seeds []seeded) *interval {
	before := make(map[int64]float64)
	for _, w := range base.Weeks {
		before[w.Week] = w.Wait
	}
	var blocks []stats.Ratio
	for _, w := range r.Weeks {
		if w.Others > 0 {
			blocks = append(blocks, stats.Ratio{Sum: w.Wait, Of: before[w.Week]})
		}
	}
	if base.Others.Mean == 0 {
		return nil
	}
	if low, high, ok := stats.RatioInterval(blocks, score.Confidence, rand.New(rand.NewPCG(1, 2))); ok {
		return &interval{low - 1, high - 1, "weeks"}
	}
	var changes []float64
	for _, s := range seeds {
		if s.Wait != nil {
			changes = append(changes, *s.Wait)
		}
	}
	if low, high, ok := stats.MeanInterval(changes, score.Confidence); ok {
		return &interval{max(-1, low), high, "seeds"}
	}
	return nil
}

// replayed says which jobs were simulated, and where.
func (c *comparison) replayed() string {
	first := ""
	if c.cut {
		first = "The first "
	}
	text := fmt.Sprintf("%s%s jobs of %s", first, cli.Thousands(c.jobs), c.setting)
	if c.Seeds > 1 {
		text += fmt.Sprintf(", %d times", c.Seeds)
	}
	return text
}

// weeks returns for how many weeks jobs were submitted, rounded, and at least 1.
func (c *comparison) weeks() int {
	const week = 7 * 24 * 3600
	t := c.Trials[0]
	return max(1, int((t.Last-t.First+week/2)/week))
}
