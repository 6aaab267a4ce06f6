package order

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"text/tabwriter"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// Known is what is known in the replays that are compared. The first one is what the others are
// compared with.
var Known = []Knowledge{{"nothing", false, false}, {"full QOS", false, true}, {"priorities", true, false}, {"both", true, true}}

var quantiles = [...]float64{.5, .75, .9, .95}

// blocks is in how many parts, of equal time, the jobs that are scored are divided. Only these are
// taken to be independent of one another.
const blocks = 10

// tally is how well one quantile was forecast, by block.
type tally struct {
	loss  [blocks]float64     // sums, seconds
	holds [blocks]stats.Count // without those that no number was said for
	none  int
}

// scores are those of one Knowledge, of the forecasts before a submission and after it.
type scores [2][len(quantiles)]tally

// Compare replays the recording with each of Known, and writes how well the jobs after the first
// quarter of the time were forecast.
func (r *Recording) Compare(to io.Writer) error {
	first, last := r.jobs[0].Submit, r.jobs[len(r.jobs)-1].Submit
	first += (last - first) / 4
	all, jobs, limited, past := make([]scores, len(Known)), 0, 0, r.past()
	for i := range r.jobs {
		if r.jobs[i].AtLimit {
			limited++
		}
	}
	for i, k := range Known {
		jobs = 0
		r.Replay(k, func(j *workload.Job, submitted bool, f forecast.Forecaster) {
			if j.Submit < first {
				return
			}
			question, when := forecast.AtSubmission(j), 1
			if !submitted {
				question.Job, when = 0, 0
				jobs++
			}
			var a forecast.Answer
			f.Forecast(&question, &a)
			wait, _ := j.Wait()
			recent := past.before(j.Submit)
			block := int(blocks * (j.Submit - first) / (last - first + 1))
			for n, quantile := range quantiles {
				x := a.Wait.Quantile(quantile)
				t := &all[i][when][n]
				if math.IsInf(x, 1) {
					t.none++
					x = float64(recent[int(quantile*float64(len(recent)))])
				} else {
					t.holds[block].Add(float64(wait) <= x)
				}
				t.loss[block] += score.Pinball(quantile, x, float64(wait))
			}
		})
	}
	fmt.Fprintf(to, "%d of %d jobs are scored, those that start, after the first quarter of the time; %d were at limits of an account, and are not scored\n\n", jobs, len(r.jobs), limited)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "asked\tknown\tquantile\tholds in\tloss, s\tof the first's\tno number")
	for when, asked := range []string{"before", "after"} {
		for n, quantile := range quantiles {
			for i, k := range Known {
				t, nothing := &all[i][when][n], &all[0][when][n]
				ratio := make([]stats.Ratio, blocks)
				sum := 0.
				for b := range blocks {
					ratio[b] = stats.Ratio{Sum: t.loss[b], Of: nothing.loss[b]}
					sum += t.loss[b]
				}
				fmt.Fprintf(w, "%s\t%s\t%g\t%s\t%.0f\t%s\t%d\n", asked, k.Name, quantile, share(t.holds[:]), sum/float64(jobs), of(ratio), t.none)
			}
		}
	}
	return w.Flush()
}

// past is the jobs that have started, in the order of that.
type past []workload.Job

func (r *Recording) past() past {
	started := slices.DeleteFunc(slices.Clone(r.jobs), func(j workload.Job) bool {
		_, ok := j.Wait()
		return !ok
	})
	slices.SortFunc(started, func(a, b workload.Job) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID)) })
	return started
}

// before returns the last waits before a time, in increasing order: as many as backtest.Score takes
// where there is no forecast.
func (p past) before(at int64) (waits []int64) {
	const most = 300
	n := sort.Search(len(p), func(i int) bool { return p[i].Start >= at })
	for _, j := range p[max(0, n-most):n] {
		wait, _ := j.Wait()
		waits = append(waits, wait)
	}
	slices.Sort(waits)
	return waits
}

func chance() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }

func share(counts []stats.Count) string {
	all := stats.Sum(counts)
	low, high, _ := stats.BlockInterval(counts, score.Confidence, chance())
	return fmt.Sprintf("%.3f [%.3f, %.3f]", float64(all.N)/float64(max(1, all.Of)), low, high)
}

func of(ratios []stats.Ratio) string {
	var all stats.Ratio
	for _, r := range ratios {
		all.Sum += r.Sum
		all.Of += r.Of
	}
	low, high, _ := stats.RatioInterval(ratios, score.Confidence, chance())
	return fmt.Sprintf("%.3f [%.3f, %.3f]", all.Value(), low, high)
}
