package web

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// The parameters by which a reservation is named. A promise without a job has a plan alone.
const (
	paramJob  = "job"
	paramPlan = "plan"
	paramOld  = "old"
	paramMost = "most" // node-hours of idle nodes that are agreed to
)

// mostListed bounds the reservations of a page.
const mostListed = 200

// listPage lists reservations.
type listPage struct {
	Old     bool // also those that were settled long ago
	Rows    []listRow
	Left    int      // how many older ones are not shown
	Flows   []string // the trees of promised flows
	Problem []string
}

// listRow is one reservation of a list.
type listRow struct {
	Name                           string
	Query                          template.URL
	State, Says                    string // the state, and in words
	Deadline, Prob, Now            string
	Start, Held, Note              string
	Endangered, Accepts, Cancelled bool // what is to be seen, and may be done
}

// reservations answers with the user's reservations.
func (s *site) reservations(r *http.Request) (*page, error) {
	old := r.URL.Query().Has(paramOld)
	found, err := s.varqd.Reservations(r.Context(), api.ReservationsQuery{All: old})
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(r api.Reservation) bool { return r.Unused() })
	flows, err := s.varqd.Flows(r.Context(), api.FlowsQuery{Old: old})
	if err != nil {
		return nil, err
	}
	health, err := s.varqd.Health(r.Context())
	if err != nil {
		return nil, err
	}
	// The open ones first, of these the nearest deadline, and of the others the latest.
	slices.SortStableFunc(found, func(a, b api.Reservation) int {
		nearest := cmp.Compare(a.Deadline(), b.Deadline())
		if !goesOn(&a) {
			nearest = -nearest
		}
		return cmp.Or(first(goesOn(&a), goesOn(&b)), nearest)
	})
	body := listPage{Old: old, Problem: slices.Concat(health.Problems, health.Notes), Left: max(0, len(found)-mostListed)}
	for i := range found[:len(found)-body.Left] {
		body.Rows = append(body.Rows, s.row(&found[i]))
	}
	for _, f := range slices.Backward(flows.Flows[max(0, len(flows.Flows)-mostListed):]) {
		body.Flows = append(body.Flows, told.FlowTree(&f, s.env.Zone))
	}
	return &page{Title: "My reservations", Here: "reservations", Template: "reservations", Body: body}, nil
}

// first compares two rows of which some come first.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// row returns what a list tells of a reservation.
func (s *site) row(r *api.Reservation) listRow {
	_, start, _ := told.Times(r)
	row := listRow{
		Name: nameOf(r), Query: queryOf(r), State: r.State, Says: state(r), Deadline: slurmtime.Format(r.Deadline(), s.env.Zone),
		Prob: prob.Format(r.Prob), Now: told.Now(r), Start: cli.Moment(start, s.env.Zone), Held: cli.None,
		Note: slurmtime.InZone(told.ListNote(r, accepts(r.Rescue)), s.env.Zone), Endangered: told.Endangered(r),
		Accepts: r.Rescue != nil, Cancelled: !goesOn(r),
	}
	if r.Group != "" {
		row.Prob = cli.None
	}
	if r.Start != 0 || r.HeldBefore != 0 {
		row.Held = slurmtime.FormatDuration(told.Held(r, s.env.Now()))
	}
	return row
}

// nameOf names a reservation by its job, or its plan if it has none.
func nameOf(r *api.Reservation) string {
	switch {
	case r.Job == 0:
		return "plan " + r.ID
	case r.Name == "":
		return fmt.Sprintf("job %d", r.Job)
	}
	return fmt.Sprintf("job %d %q", r.Job, r.Name)
}

// queryOf returns the query of the page about a reservation.
func queryOf(r *api.Reservation) template.URL {
	if r.Job == 0 {
		return template.URL(url.Values{paramPlan: {r.ID}}.Encode())
	}
	return queryOfJob(r.Job)
}

// storyPage tells all of one reservation.
type storyPage struct {
	listRow
	Story  []told.Line
	Missed string // what could be done against that, or ""
	Events []eventRow
	Job    int64
	Ran    bool // the job has started
	Plan   string
	Asks   string // what is to be confirmed: "cancel" or "accept", or ""
	Told   bool   // it is told of, and nothing is to be done
	Rescue *rescueRow
}

type eventRow struct{ At, Kind, Text string }

// rescueRow is what the user may agree to.
type rescueRow struct {
	Worst, Prob string
	Most        string // node-hours
}

// reservation answers with the story of one reservation of the user's and, if asked for, with a
// question whether to cancel or accept.
func (s *site) reservation(r *http.Request) (*page, error) {
	query := r.URL.Query()
	found, err := s.own(r.Context(), query)
	if err != nil {
		return nil, err
	}
	body := s.storyOf(r.Context(), found)
	if asks := query.Get("ask"); asks == "cancel" && !body.Cancelled || asks == "accept" && body.Accepts {
		body.Asks = asks
	}
	return &page{Title: "Reservation: " + body.Name, Here: "reservations", Template: "reservation", Body: body}, nil
}

// story answers with the story of one reservation, of any user as far as varqd tells of it. Nothing
// is changed there.
func (s *site) story(r *http.Request) (*page, error) {
	found, err := s.named(r.Context(), r.URL.Query(), api.Everybody)
	if err != nil {
		return nil, err
	}
	body := s.storyOf(r.Context(), found)
	body.Told = true
	return &page{Title: fmt.Sprintf("Reservation: %s of %s", body.Name, found.User), Here: "cluster", Template: "reservation", Body: body}, nil
}

// storyOf returns what a page tells of one reservation.
func (s *site) storyOf(ctx context.Context, found *api.Reservation) storyPage {
	body := storyPage{listRow: s.row(found), Missed: missed(found), Job: found.Job, Ran: found.Start != 0, Plan: found.ID}
	if rescue := found.Rescue; rescue != nil {
		body.Rescue = &rescueRow{rescue.Worst.RoundedUp(), prob.Format(rescue.Prob), api.HoursUp(rescue.Worst.NodeSeconds)}
	}
	events := found.Events
	found.Events = nil // they have a table of their own
	group := s.groups(ctx, []api.Reservation{*found})[found.Group]
	body.Story = told.Story(found, &group, s.env.Now(), s.env.Zone)
	for _, e := range events {
		body.Events = append(body.Events, eventRow{slurmtime.Format(e.At, s.env.Zone), e.Kind, slurmtime.InZone(e.Text, s.env.Zone)})
	}
	return body
}

// parseJob reads a job id.
func parseJob(text string) (int64, error) {
	job, err := strconv.ParseInt(text, 10, 64)
	if err != nil || job <= 0 {
		return 0, api.Fault(api.ErrInvalid, fmt.Sprintf("%.40q is not a job id", text))
	}
	return job, nil
}

// own returns the reservation that form values name, by a job or a plan, which must be the user's
// own.
func (s *site) own(ctx context.Context, values url.Values) (*api.Reservation, error) {
	me, err := s.user(ctx)
	if err != nil {
		return nil, err
	}
	return s.named(ctx, values, me)
}

// named returns the reservation that form values name, by a job or a plan, of a user or, with
// api.Everybody, of any one.
func (s *site) named(ctx context.Context, values url.Values, user string) (*api.Reservation, error) {
	query := api.ReservationsQuery{}
	plan := values.Get(paramPlan)
	if text := values.Get(paramJob); text != "" {
		job, err := parseJob(text)
		if err != nil {
			return nil, err
		}
		query.Job = job // operators are told of that of any user
	} else if !api.ValidPlanID(plan) {
		return nil, api.Fault(api.ErrInvalid, "name a reservation: its job, or its plan of 12 letters and digits")
	} else if user == api.Everybody {
		query.User = user
	}
	found, err := s.varqd.Reservations(ctx, query)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(r api.Reservation) bool {
		return r.User != user && user != api.Everybody || query.Job != r.Job && query.Job != 0 || query.Job == 0 && r.ID != plan
	})
	whose := "you have no"
	if user == api.Everybody {
		whose = "there is no"
	}
	switch {
	case len(found) > 0:
		return &found[len(found)-1], nil
	case query.Job != 0:
		return nil, api.Fault(api.ErrNotFound, fmt.Sprintf("%s reservation for job %d", whose, query.Job))
	}
	return nil, api.Fault(api.ErrNotFound, fmt.Sprintf("%s open promise %s", whose, strings.TrimSpace(plan)))
}

// user returns who asks, as varqd says.
func (s *site) user(ctx context.Context) (string, error) {
	limits, err := s.varqd.Limits(ctx)
	return limits.User, err
}
