package size

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/forecast/speedup/fit"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/slurm/sacct"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/sites"
	"github.com/varq-project/varq/predictor/workload"
)

// history is where past runs are found: the sacct of the cluster at hand.
type history struct {
	link *link.Link
	run  sites.Sacct
}

// fit returns the sizes by the past runs of the user's jobs of a name, from the value of
// --starttime on: those asked for, or if there are none those that were run, doubled up to twice
// the largest.
func (h history) fit(ctx context.Context, env *cli.Env, name, from string, nodes []int32) (shapes, error) {
	since, err := env.PastTime("--starttime", from)
	if err != nil {
		return shapes{}, cli.UsageError{Command: "varq size", Err: err}
	}
	if since > env.Now() {
		return shapes{}, cli.UsageError{Command: "varq size", Err: fmt.Errorf("--starttime: %s is in the future: --fit goes by jobs of the past", env.Moment(since))}
	}
	runs, held, others, err := h.runs(ctx, env, name, since)
	if err != nil {
		return shapes{}, err
	}
	// Any seed will do, as long as the same runs always give the same interval.
	model, err := fit.Fit(runs, rand.New(rand.NewPCG(1, 1)))
	if errors.Is(err, fit.ErrTooLittle) {
		left := ""
		if others > 0 {
			left = fmt.Sprintf(" (%s not, and are left out)", cli.Count(others, "other did", "others did"))
		}
		return shapes{}, fmt.Errorf("%w\nThese are your jobs %q that completed since %s%s. Say by --sizes how long the job runs, or look further back with --starttime",
			err, name, env.Moment(since), left)
	}
	if err != nil {
		return shapes{}, err
	}
	if nodes == nil {
		nodes = around(model)
	}
	all := shapes{past: &past{model, held, others}}
	for _, n := range nodes {
		_, low, high := model.At(n)
		all.list = append(all.list, shape{
			nodes: n, low: low, high: high, times: model.Times(n),
			limit: 60 * slurmtime.Minutes(int64(math.Ceil(model.Enough(n)))),
		})
	}
	return all, nil
}

// around returns the sizes of a model's runs, and those between and up to twice as large that
// double the least; if the program turned slower at some size, none above that.
func around(m *fit.Model) []int32 {
	least, most := m.Runs[0].Nodes, 2*m.Runs[len(m.Runs)-1].Nodes
	if turn := m.Turn(); turn != 0 {
		most = turn
	}
	var nodes []int32
	for n := least; n <= most; n *= 2 {
		nodes = append(nodes, n)
	}
	for _, r := range m.Runs {
		if r.Nodes <= most {
			nodes = append(nodes, r.Nodes)
		}
	}
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	if len(nodes) > elastic.MaxSizes {
		nodes = nodes[:elastic.MaxSizes]
	}
	return nodes
}

// runs asks for the user's jobs of a name since a time. It returns the runs of those that
// completed, without the time for which they held their nodes before the work, how many did hold
// them, and how many others ended.
func (h history) runs(ctx context.Context, env *cli.Env, name string, since int64) (runs []fit.Run, held, others int, err error) {
	here, err := h.link.Sites("")
	if err != nil {
		return nil, 0, 0, err
	}
	out, err := here[0].Sacct(ctx, h.run, "-X", "-P", "--name="+name, "--starttime="+slurmtime.Format(since, env.Zone), "--format="+strings.Join(sacct.Fields, ","))
	if err != nil {
		return nil, 0, 0, fmt.Errorf("the past jobs %q: %w", name, err)
	}
	holds, err := h.holds(ctx, name)
	if err != nil {
		return nil, 0, 0, err
	}
	type dated struct {
		fit.Run
		end int64
	}
	var all []dated
	for r, err := range sacct.Records("sacct", bytes.NewReader(out), env.Zone) {
		switch {
		case err != nil:
			return nil, 0, 0, err
		case !r.State.Finished() || r.Start == 0 || r.Allocated.Nodes < 1:
		case r.State != workload.Completed || r.End <= r.Start:
			others++
		default:
			work := r.Start
			if began := holds[ran{r.ID, r.Start}]; began > r.Start && began < r.End {
				work = began
				held++
			}
			all = append(all, dated{fit.Run{Nodes: r.Allocated.Nodes, Seconds: float64(r.End - work)}, r.End})
		}
	}
	slices.SortStableFunc(all, func(a, b dated) int { return cmp.Compare(a.end, b.end) })
	for _, r := range all {
		runs = append(runs, r.Run)
	}
	return runs, held, others, nil
}

// ran is one run of a job: its number, and when it started.
type ran struct{ job, start int64 }

// holds returns when the work of the user's jobs of a name began that were promised something.
func (h history) holds(ctx context.Context, name string) (map[ran]int64, error) {
	varqd, err := h.link.Dial()
	if err != nil {
		return nil, err
	}
	promised, err := varqd.Reservations(ctx, api.ReservationsQuery{All: true, Selection: api.Selection{Names: []string{name}}})
	if err != nil {
		return nil, err
	}
	holds := map[ran]int64{}
	for i := range promised {
		if r := &promised[i]; r.WorkStart > 0 {
			holds[ran{r.Job, r.Start}] = r.WorkStart
		}
	}
	return holds, nil
}
