package web

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurm/jobsize"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// mostRows is the most numbers of nodes, and time limits, that are looked at.
const mostRows = 4

// atOnce bounds how many quotes are asked for at the same time.
const atOnce = 4

// sizes is the table of what other sizes of the job would get.
type sizes struct {
	Trouble *trouble // instead of all else
	Why     string   // there is no probability for any size: the reason, if it is the same for all
	// a shorter job has a lower probability than a longer one, as it may hold its nodes for less
	Short  bool
	Ends   bool   // the probabilities are of an end
	Offer  string // what can be promised of the sizes of which nothing else is told, or ""
	None   bool   // nothing can be promised of any
	Varied bool   // something else is told of a size
	Apart  bool   // a wait is short and its probability low, which is to be explained
	First  string // which number of nodes starts first, a sentence, or "" if nobody knows
	asked  int    // the column of the limit of the form
	Limits []string
	Rows   []sizeRow
}

type sizeRow struct {
	Nodes int32
	Cells []sizeCell
}

// sizeCell is what is told of one size.
type sizeCell struct {
	Asked bool    // it is the size of the form
	best  float64 // the greatest probability of running by the deadline, 0 if there is none
	Level int     // of the colour: tenths of the probability, -1 if there is none
	Prob  string  // the greatest probability; "" if there is none
	Offer string  // what can be promised, and at what cost; "" if nothing can
	Said  bool    // Offer is told of several sizes together
	Why   string  // there is no probability: the reason
	Wait  string  // expected, if it is submitted now
	wait  float64 // the same, seconds
	Query template.URL
}

// sizes asks varqd about smaller, shorter and larger jobs than that of the form. asked is the
// answer about that itself, or nil if it is not known. sizes returns nil while something is wrong
// with the form.
func (s *site) sizes(ctx context.Context, q *question, asked *api.PlanAnswer) *sizes {
	if len(q.wrong()) > 0 {
		return nil
	}
	nodes := around(int64(q.request.Job.Nodes), 1)
	for len(nodes) < mostRows { // the job is small
		nodes = append(nodes, 2*nodes[len(nodes)-1])
	}
	limits := around(q.request.Job.Limit, 60)
	table := &sizes{asked: slices.Index(limits, q.request.Job.Limit)}
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
				known, itself := asked, n == int64(q.request.Job.Nodes) && limit == q.request.Job.Limit
				if !itself {
					known = nil
				}
				row.Cells[i], err = s.cell(ctx, &shape, known)
				row.Cells[i].Asked = itself
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
	table.Ends = q.request.Finishes()
	table.shareOffer()
	table.Apart = !table.Ends && table.puzzles(q.deadline()-s.env.Now())
	table.Short = !q.request.BestEffort && table.growing()
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

// shareOffer tells once what can be promised of several sizes, if that is more than one: what is so
// of most. If nothing can be promised of any, it tells that once.
func (t *sizes) shareOffer() {
	count := map[string]int{}
	most := ""
	for _, row := range t.Rows {
		for _, c := range row.Cells {
			if c.Offer == "" {
				continue
			}
			if count[c.Offer]++; count[c.Offer] > max(1, count[most]) {
				most = c.Offer
			}
		}
	}
	t.None = !t.Ends && len(count) == 0
	if t.Offer = most; most == "" && !t.None {
		return
	}
	for _, row := range t.Rows {
		for i := range row.Cells {
			c := &row.Cells[i]
			c.Said = c.Offer == most && c.Why == ""
			t.Varied = t.Varied || !c.Said
		}
	}
}

// puzzles reports whether a size is expected to wait for a small part of the time until the
// deadline, which is some seconds ahead, and yet has not nearly certainty.
func (t *sizes) puzzles(ahead int64) bool {
	const small, nearly = .1, .95
	return slices.ContainsFunc(t.Rows, func(r sizeRow) bool {
		return slices.ContainsFunc(r.Cells, func(c sizeCell) bool {
			return c.Wait != "" && c.wait < small*float64(ahead) && 0 < c.best && c.best < nearly
		})
	})
}

// growing reports whether a probability is greater than that of a shorter job.
func (t *sizes) growing() bool {
	return slices.ContainsFunc(t.Rows, func(r sizeRow) bool {
		return !slices.IsSortedFunc(r.Cells, func(a, b sizeCell) int { return cmp.Compare(b.best, a.best) })
	})
}

// column returns the question how long jobs on these nodes would wait, all with one limit: varqd
// compares numbers of nodes.
func (q *question) column(nodes []int64, limit int64) api.SizeRequest {
	all := api.SizeRequest{Job: q.request.Job, Needs: q.request.Needs, By: api.SizeAuto}
	all.Job.Limit, all.Job.Size = 0, workload.Size{}
	for _, n := range nodes {
		all.Sizes = append(all.Sizes, api.Size{Size: q.sized(n, limit).Job.Size, Limit: limit})
	}
	return all
}

// around returns n with its quarter, half and double, these in whole steps, each once and in
// increasing order: mostRows at most.
func around(n, step int64) []int64 {
	share := func(of int64) int64 {
		return max(1, int64(math.Round(float64(n)/float64(of*step)))) * step
	}
	list := []int64{share(4), share(2), n, 2 * n}
	slices.Sort(list)
	return slices.Compact(list)
}

// sized returns the request for another size.
func (q *question) sized(nodes, limit int64) api.PlanRequest {
	r := q.request
	options := jobsize.Options{Nodes: strconv.FormatInt(nodes, 10)}
	// What the form's number of nodes passed, its double passes unless it is beyond all clusters;
	// varqd then says so.
	r.Job.Size, _ = options.Size()
	if needs, err := options.Needs(); err == nil {
		r.Needs = &needs
	}
	r.Job.Limit = limit
	return r
}

// cell asks what one size would get, unless the answer is known.
func (s *site) cell(ctx context.Context, r *api.PlanRequest, known *api.PlanAnswer) (sizeCell, error) {
	if r.Finishes() {
		return s.endCell(ctx, *r)
	}
	c := sizeCell{Level: -1}
	if known == nil {
		asked := *r
		asked.Trajectory = true
		quote, err := s.varqd.Quote(ctx, asked)
		if err != nil {
			return refused(err)
		}
		known = &quote
	}
	for _, p := range known.Trajectory {
		c.best = max(c.best, p.Prob)
	}
	if p := known.Plan; p != nil {
		c.best = max(c.best, p.Estimate)
		c.Offer = fmt.Sprintf("%s can be promised, %s", prob.Format(p.Prob), extra(p.AtMost()))
	}
	if no := known.Refusal; no != nil {
		for i := range no.Offers {
			if o := &no.Offers[i]; o.Kind == api.OfferProb {
				c.Offer = fmt.Sprintf("only %s can be promised, %s", prob.Format(o.Prob), extra(o.Worst))
			}
		}
	}
	switch {
	case c.best > 0:
		c.Prob, c.Level = prob.Format(c.best), int(10*c.best)
	case known.Refusal != nil:
		c.Why = slurmtime.InZone(known.Refusal.Reason, s.env.Zone)
	}
	return c, nil
}

// endCell asks how likely one size has ended by the deadline: an end that is hardly likely can be
// promised too, and at no cost.
func (s *site) endCell(ctx context.Context, r api.PlanRequest) (sizeCell, error) {
	r.Prob = prob.Least
	quote, err := s.varqd.Quote(ctx, r)
	if err != nil {
		return refused(err)
	}
	c := sizeCell{Level: -1}
	if p := quote.Plan; p != nil {
		c.best, c.Prob, c.Level, c.Said = p.Estimate, prob.Format(p.Estimate), int(10*p.Estimate), true
	} else if quote.Refusal != nil {
		c.Why = slurmtime.InZone(quote.Refusal.Reason, s.env.Zone)
	}
	return c, nil
}

// refused returns what is told of a size to which varqd gives no answer, or the error if that is
// about something else.
func refused(err error) (sizeCell, error) {
	if !api.Refused(err) {
		return sizeCell{}, err
	}
	return sizeCell{Level: -1, Why: cli.Printable(err.Error())}, nil
}

// wait sets the waits that are expected of the sizes, by columns, and says which has the shortest
// of those with the limit asked for.
func (t *sizes) wait(columns []api.SizeAnswer) {
	var asked []float64 // by row; infinite if nobody knows
	for i := range t.Rows {
		for column, answer := range columns {
			wait, cell := math.Inf(1), &t.Rows[i].Cells[column]
			if i < len(answer.Sizes) && answer.Sizes[i].Wait != nil {
				wait = *answer.Sizes[i].Wait
				cell.Wait, cell.wait = cli.Rounded(wait), wait
			}
			if column == t.asked {
				asked = append(asked, wait)
			}
		}
	}
	if shortest := slices.Min(asked); !math.IsInf(shortest, 1) {
		t.First = t.first(asked, shortest)
	}
}

// first says which rows wait for the shortest time, given the waits with the limit asked for. Those
// that a minute or a tenth of it, whichever is more, tells apart count as equal.
func (t *sizes) first(waits []float64, shortest float64) string {
	const minute, tenth = 60, .1
	var nodes []string
	for i, wait := range waits {
		if wait <= shortest+max(minute, tenth*shortest) {
			nodes = append(nodes, cli.Count(int(t.Rows[i].Nodes), "node", "nodes"))
		}
	}
	what := " on " + strings.Join(nodes, " or ") + " would start first"
	if len(nodes) == len(waits) {
		what = " would start about as soon on any of these numbers of nodes"
	}
	return fmt.Sprintf("Submitted now, without a promise, a job of %s%s: after about %s.", t.Limits[t.asked], what, cli.Rounded(shortest))
}
