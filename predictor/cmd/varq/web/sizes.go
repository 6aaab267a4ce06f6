package web

import (
	"context"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurm/jobsize"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// The shares of the nodes and the time limit asked for that are looked at. There are 16 sizes at most: a time limit that is no
// whole minutes is looked at rounded, too.
var (
	nodeShares = []float64{.25, .5, 1, 2}
	timeShares = []float64{.25, .5, 1}
)

// atOnce bounds how many quotes are asked for at the same time.
const atOnce = 4

// sizes is the table of what other sizes of the job would get.
type sizes struct {
	Trouble *trouble // instead of all else
	Why     string   // there is no probability for any size: the reason, if it is the same for all
	First   string   // which size starts first, a sentence, or "" if nobody knows
	Limits  []string
	Rows    []sizeRow
}

type sizeRow struct {
	Nodes int32
	Cells []sizeCell
}

// sizeCell is what is told of one size.
type sizeCell struct {
	Asked    bool   // it is the size of the form
	Level    int    // of the colour: tenths of the probability, -1 if there is none
	Prob     string // the greatest probability of running by the deadline; "" if there is none
	Promised string // the probability that can be promised; "" if none can
	Less     bool   // it is less than was asked for
	Cost     string // of idle nodes, at most, if it is promised
	Why      string // there is no probability: the reason
	Wait     string // expected, if it is submitted now
	Query    template.URL
}

// sizes asks varqd about smaller, shorter and larger jobs than that of the form.
func (s *site) sizes(ctx context.Context, q *question) *sizes {
	if q.wrong() {
		return &sizes{Trouble: &trouble{What: "No other sizes are shown while the form is not complete."}}
	}
	nodes := shares(nodeShares, int64(q.request.Job.Nodes), 1)
	limits := shares(timeShares, q.request.Job.Limit, 60)
	table := &sizes{}
	for _, l := range limits {
		table.Limits = append(table.Limits, slurmtime.FormatDuration(l))
	}
	var asking errgroup.Group
	asking.SetLimit(atOnce)
	for _, n := range nodes {
		row := sizeRow{Nodes: int32(n), Cells: make([]sizeCell, len(limits))}
		for i, limit := range limits {
			shape := q.sized(n, limit)
			asking.Go(func() (err error) {
				row.Cells[i], err = s.cell(ctx, &shape)
				row.Cells[i].Asked = n == int64(q.request.Job.Nodes) && limit == q.request.Job.Limit
				row.Cells[i].Query = q.query(fieldNodes, strconv.FormatInt(n, 10), fieldTime, slurmtime.FormatDuration(limit))
				return err
			})
		}
		table.Rows = append(table.Rows, row)
	}
	waits := make([]api.SizeAnswer, len(limits))
	for i, limit := range limits {
		asking.Go(func() (err error) {
			waits[i], err = s.varqd.Size(ctx, q.column(nodes, limit))
			return err
		})
	}
	if err := asking.Wait(); err != nil {
		t := troubleOf(err)
		return &sizes{Trouble: &t}
	}
	table.wait(waits)
	table.share()
	return table
}

// share tells a reason once that is that of all sizes.
func (t *sizes) share() {
	why := t.Rows[0].Cells[0].Why
	for _, row := range t.Rows {
		if slices.ContainsFunc(row.Cells, func(c sizeCell) bool { return c.Why != why }) {
			return
		}
	}
	t.Why = why
	for _, row := range t.Rows {
		for i := range row.Cells {
			row.Cells[i].Why = ""
		}
	}
}

// column returns the question how long jobs on these nodes would wait, all with one limit: varqd compares numbers of nodes.
func (q *question) column(nodes []int64, limit int64) api.SizeRequest {
	all := api.SizeRequest{Job: q.request.Job, Needs: q.request.Needs, By: api.SizeAuto}
	all.Job.Limit, all.Job.Size = 0, workload.Size{}
	for _, n := range nodes {
		all.Sizes = append(all.Sizes, api.Alternative{Size: q.sized(n, limit).Job.Size, Limit: limit})
	}
	return all
}

// shares returns shares of n, in whole steps, each once and in increasing order.
func shares(of []float64, n, step int64) []int64 {
	var list []int64
	for _, share := range of {
		list = append(list, max(1, int64(math.Round(share*float64(n)/float64(step))))*step)
	}
	list = append(list, n)
	slices.Sort(list)
	return slices.Compact(list)
}

// sized returns the request for another size.
func (q *question) sized(nodes, limit int64) api.PlanRequest {
	r := q.request
	options := jobsize.Options{Nodes: strconv.FormatInt(nodes, 10)}
	// What the form's number of nodes passed, its double passes unless it is beyond all clusters; varqd then says so.
	r.Job.Size, _ = options.Size()
	if needs, err := options.Needs(); err == nil {
		r.Needs = &needs
	}
	r.Job.Limit = limit
	return r
}

// cell asks what one size would get.
func (s *site) cell(ctx context.Context, r *api.PlanRequest) (sizeCell, error) {
	asked := *r
	asked.Trajectory = true
	quote, err := s.varqd.Quote(ctx, asked)
	c := sizeCell{Level: -1}
	switch {
	case api.Refused(err):
		c.Why = cli.Printable(err.Error())
		return c, nil
	case err != nil:
		return c, err
	}
	best := 0.
	for _, p := range quote.Trajectory {
		best = max(best, p.Prob)
	}
	if quote.Plan != nil {
		best = max(best, quote.Plan.Estimate)
		c.Promised, c.Cost = prob.Format(quote.Plan.Prob), api.HoursUp(quote.Plan.AtMost().NodeSeconds)
	}
	if quote.Refusal != nil {
		for i := range quote.Refusal.Offers {
			if o := &quote.Refusal.Offers[i]; o.Kind == api.OfferProb {
				c.Less, c.Promised, c.Cost = true, prob.Format(o.Prob), api.HoursUp(o.Worst.NodeSeconds)
			}
		}
	}
	switch {
	case best > 0:
		c.Prob, c.Level = prob.Format(best), int(10*best)
	case quote.Refusal != nil:
		c.Why = slurmtime.InZone(quote.Refusal.Reason, s.env.Zone)
	}
	return c, nil
}

// wait sets the waits that are expected of the sizes, by columns, and says which is the shortest.
func (t *sizes) wait(columns []api.SizeAnswer) {
	var first []string // the sizes with the shortest wait, as it is shown
	shortest, known := math.Inf(1), 0
	for column, answer := range columns {
		for i, f := range answer.Sizes[:min(len(answer.Sizes), len(t.Rows))] {
			if f.Wait == nil {
				continue
			}
			known++
			row, wait := &t.Rows[i], math.Round(*f.Wait)
			row.Cells[column].Wait = cli.Rounded(wait)
			if wait < shortest {
				shortest, first = wait, nil
			}
			if wait == shortest {
				first = append(first, fmt.Sprintf("%s for %s", cli.Count(int(row.Nodes), "node", "nodes"), t.Limits[column]))
			}
		}
	}
	switch said := cli.Rounded(shortest); len(first) {
	case 0: // no wait is known
	case 1:
		t.First = fmt.Sprintf("Submitted now, without a promise, %s would start first: it is expected to wait for %s.", first[0], said)
	case known:
		t.First = fmt.Sprintf("Submitted now, without a promise, no size would start before another: each is expected to wait for %s.", said)
	default:
		t.First = fmt.Sprintf("Submitted now, without a promise, %d sizes would start first, %s among them: each is expected to wait for %s.", len(first), first[len(first)-1], said)
	}
}
