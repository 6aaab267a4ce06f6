package web

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/prob"
)

// clusterPage tells operators of everybody's promises and of the nodes.
type clusterPage struct {
	Forbidden string // instead of all else: why this user may not see it
	Health    []string
	Summary   []told.Line
	Open      []openRow
	OpenLeft  int
	Kept      []keptRow
	Nodes     []nodeRow
	NodesLeft int
	Shadow    []shadowRow
	Verdict   string // of the shadow
}

type openRow struct {
	Name, User, Nodes, State, Deadline, Prob, Now, Held string
	Query                                               template.URL // of the page about it
	Endangered                                          bool
}

type keptRow struct{ Partition, Promises, Kept, Missed, Promised, Delivered, Held string }

type nodeRow struct{ Name, Risk, Why, State, Reason string }

type shadowRow struct{ Partition, Prob, Jobs, Promised, Delivered, Held, Ratio string }

// mostNodes bounds the nodes of the page.
const mostNodes = 20

// cluster answers with everybody's promises, or says why not.
func (s *site) cluster(r *http.Request) (*page, error) {
	p := &page{Title: "The cluster", Here: "cluster", Template: "cluster"}
	all, err := s.varqd.Reservations(r.Context(), api.ReservationsQuery{User: api.Everybody})
	if errors.Is(err, api.ErrForbidden) {
		p.Status, p.Body = http.StatusForbidden, clusterPage{Forbidden: err.Error()}
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	since := s.env.Now() - 30*day
	report, err := s.varqd.Report(r.Context(), api.ReportQuery{By: "partition", User: api.Everybody, Selection: api.Selection{Start: since}})
	if err != nil {
		return nil, err
	}
	nodes, err := s.varqd.Nodes(r.Context())
	if err != nil {
		return nil, err
	}
	shadow, err := s.varqd.Shadow(r.Context(), api.ShadowQuery{Start: since})
	if err != nil {
		return nil, err
	}
	health, err := s.varqd.Health(r.Context())
	if err != nil {
		return nil, err
	}
	body := clusterPage{Health: slices.Concat(health.Problems, health.Notes, health.Policy, health.Certificate)}
	s.promises(&body, all)
	for _, row := range report.Rows {
		body.Kept = append(body.Kept, kept(&row))
	}
	body.nodes(&nodes)
	body.shadow(&shadow)
	p.Body = body
	return p, nil
}

// promises sets the open reservations, those least likely to be kept first, and sums them up.
func (s *site) promises(p *clusterPage, all []api.Reservation) {
	listed := slices.DeleteFunc(all, func(r api.Reservation) bool { return !goesOn(&r) })
	slices.SortStableFunc(listed, func(a, b api.Reservation) int {
		return cmp.Or(first(told.Endangered(&a), told.Endangered(&b)), cmp.Compare(a.Deadline(), b.Deadline()))
	})
	var endangered, holding int
	var idle, ceiling, missing float64
	for i := range listed {
		r := &listed[i]
		held := float64(r.Has()) * float64(told.Held(r, s.env.Now()))
		idle += held
		ceiling += r.Ceiling.NodeSeconds
		if told.Endangered(r) {
			endangered++
		}
		if r.State == api.StateHolding {
			holding++
		}
		if told.Open(r) && r.Now != nil {
			missing += 1 - *r.Now
		}
		if i < mostListed {
			row := s.row(r)
			p.Open = append(p.Open, openRow{row.Name, r.User, fmt.Sprint(r.Has()), row.State, row.Deadline, row.Prob, row.Now, cli.NodeHours(held), row.Query, row.Endangered})
		}
	}
	p.OpenLeft = max(0, len(listed)-mostListed)
	p.Summary = []told.Line{
		{Name: "Open promises", Text: fmt.Sprintf("%d, of which %d hold nodes now", len(listed), holding)},
		{Name: "Endangered", Text: fmt.Sprintf("%d; by the present forecasts %.1f of the open promises will be missed", endangered, missing)},
		{Name: "Nodes that idle", Text: fmt.Sprintf("%s node-hours so far for open promises, at most %s", cli.NodeHours(idle), api.HoursUp(ceiling))},
	}
}

func kept(r *api.ReportRow) keptRow {
	k := keptRow{r.Group, fmt.Sprint(r.Promises), fmt.Sprint(r.Kept), fmt.Sprint(r.Missed), cli.None, cli.None, cli.NodeHours(max(0, r.Used-r.Required))}
	if r.Kept+r.Missed > 0 {
		k.Promised, k.Delivered = prob.Format(r.Promised), cli.Interval(r.Delivered, r.Low, r.High)
	}
	return k
}

func (p *clusterPage) nodes(list *api.Nodes) {
	expected := 0.
	for i, n := range list.Nodes {
		expected += n.Risk
		if i < mostNodes {
			p.Nodes = append(p.Nodes, nodeRow{n.Name, fmt.Sprintf("%.4f", n.Risk), n.Why, n.State, cmp.Or(n.Reason, cli.None)})
		}
	}
	p.NodesLeft = max(0, len(list.Nodes)-mostNodes)
	p.Summary = append(p.Summary, told.Line{Name: "Nodes", Text: fmt.Sprintf("%d, of which %.2f are expected to fail within a day", len(list.Nodes), expected)})
}

// shadow sets what would have been promised where varqd only watches.
func (p *clusterPage) shadow(s *api.Shadow) {
	if !s.Watching && s.Jobs == 0 {
		p.Verdict = "varqd makes promises here; it does not only watch (plan.mode in varq.yaml)."
		return
	}
	p.Verdict = fmt.Sprintf("%s jobs of the last 30 days were watched.", cli.Thousands(s.Jobs))
	for _, r := range s.Rows {
		row := shadowRow{cmp.Or(r.Partition, "(all)"), prob.Format(r.Prob), fmt.Sprint(r.Jobs), fmt.Sprint(r.Jobs - r.Refused), cli.None, cli.NodeHours(r.Held), fmt.Sprintf("%.2f", r.Ratio)}
		if r.Kept+r.Missed > 0 {
			row.Delivered = cli.Interval(r.Delivered, r.Low, r.High)
		}
		if r.Partition == "" && r.Prob == .9 && r.Kept+r.Missed > 0 {
			p.Verdict += fmt.Sprintf(" Of what would have been promised with probability %s, %s would have been kept: %s.",
				prob.Format(r.Prob), row.Delivered, score.Judge(r.Low, r.High, r.Prob))
		}
		p.Shadow = append(p.Shadow, row)
	}
}
