package web

import (
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// newJobPage is the page that asks when a job would run that is yet to be submitted.
type newJobPage struct {
	*question
	Zone       string
	Partitions partitions
	Answer     *answer
	Sizes      *sizes
}

// answer is what varqd says to the question.
type answer struct {
	Trouble  *trouble // instead of all else
	Wrong    []*field // of the form, instead of all else
	Headline string
	Promised bool
	Lines    []told.Line
	Sbatch   string // the line to paste; "" if nothing can be promised
	AtOnce   bool   // in which an option lets the work start as soon as the job does
	Surer    *surer // nil if a greater probability costs more, or cannot be promised
	Offers   []offer
	Kept     string // until when the room of the offers is kept, or ""
	Curve    *curve // nil if nothing was forecast
	quote    *api.PlanAnswer
}

// surer is a greater probability that can be promised at the same cost.
type surer struct {
	Prob  string
	Query template.URL // of the page about it
}

// offer is what can be promised instead.
type offer struct {
	What, Prob, Extra, Sbatch string
	// of the page about it; "" if the form has no field for what differs
	Query template.URL
}

// newJob answers with the form, and with what varqd says to it.
func (s *site) newJob(r *http.Request) (*page, error) {
	q := read(r.URL.Query(), s.env)
	p := &page{Title: "When would a new job run?", Here: "./", Template: "newjob", Status: q.status()}
	body := newJobPage{question: q, Zone: s.zone(q.deadline()), Partitions: s.partitions(r.Context(), q.Partition.Value), Answer: s.answer(r, q)}
	body.Sizes = s.sizes(r.Context(), q, body.Answer.quote)
	p.Body = body
	return p, nil
}

// answerPart answers with what varqd says to the form alone.
func (s *site) answerPart(r *http.Request) (*page, error) {
	q := read(r.URL.Query(), s.env)
	return &page{Template: "answer", Status: q.status(), Body: s.answer(r, q)}, nil
}

// sizesPart answers with the table of sizes alone.
func (s *site) sizesPart(r *http.Request) (*page, error) {
	q := read(r.URL.Query(), s.env)
	return &page{Template: "sizes", Status: q.status(), Body: s.sizes(r.Context(), q, nil)}, nil
}

func (q *question) status() int {
	if len(q.wrong()) > 0 {
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

// zone names the time zone of a time.
func (s *site) zone(at int64) string { return time.Unix(at, 0).In(s.env.Zone).Format("MST") }

// answer asks varqd.
func (s *site) answer(r *http.Request, q *question) *answer {
	if wrong := q.wrong(); len(wrong) > 0 {
		return &answer{Wrong: wrong}
	}
	request := q.request
	request.Trajectory = !request.Finishes()
	quote, err := s.varqd.Quote(r.Context(), request)
	if err == nil && quote.Plan == nil && quote.Refusal == nil {
		err = errors.New("varqd's answer is neither a plan nor a refusal")
	}
	if err != nil {
		t := troubleOf(err)
		return &answer{Trouble: &t}
	}
	a := &answer{Promised: quote.Plan != nil, quote: &quote}
	if a.Promised {
		s.promise(a, q, quote.Plan)
		s.offer(a, q, quote.Offers)
	} else {
		s.refuse(a, q, &quote)
	}
	a.Curve = newCurve(&quote, &request, s.env.Zone)
	return a
}

func (s *site) promise(a *answer, q *question, p *api.Plan) {
	what := "running"
	if p.FinishBy != 0 {
		what, a.Lines = "finished", told.End(p, s.env.Now(), s.env.Zone)
	} else {
		a.Lines = told.Plan(p, &q.request, s.env.Now(), s.env.Zone)
	}
	a.Headline = fmt.Sprintf("Can be promised: %s by %s with probability %s (estimate %s), %s.",
		what, slurmtime.Format(p.Deadline(), s.env.Zone), prob.Format(p.Prob), prob.Format(p.Estimate), extra(p.AtMost()))
	a.Sbatch, a.AtOnce = sbatch(q.options(p.Prob, s.env.Zone)), q.request.BestEffort
	// no nodes idle, however much is promised
	if most := prob.Percent(p.Estimate); (a.AtOnce || p.FinishBy != 0) && most > p.Prob {
		a.Surer = &surer{prob.Format(most), q.query(fieldProb, strconv.FormatFloat(most, 'g', -1, 64))}
	}
}

func (s *site) refuse(a *answer, q *question, quote *api.PlanAnswer) {
	a.Headline = "Cannot be promised: " + told.Reason(quote, s.env.Now(), s.env.Zone) + "."
	s.offer(a, q, quote.Refusal.Offers)
	a.Kept = quote.Refusal.Kept(s.env.Zone)
}

// offer adds what can be promised instead.
func (s *site) offer(a *answer, q *question, offers []api.Offer) {
	options := q.options(0, s.env.Zone)
	for i := range offers {
		o := &offers[i]
		what := told.Offer(o)
		if o.Kind == api.OfferEnd {
			what = "Finished by " + slurmtime.Format(o.FinishBy, s.env.Zone)
		}
		a.Offers = append(a.Offers, offer{
			What: what, Prob: prob.Format(o.Prob), Extra: extra(o.Worst),
			Sbatch: sbatch(told.Override(options, o.Options(&q.request, s.env.Zone))), Query: s.queryOf(q, o),
		})
	}
}

// queryOf returns the query of the page about an offer, or "" if there is none.
func (s *site) queryOf(q *question, o *api.Offer) template.URL {
	probability := strconv.FormatFloat(o.Prob, 'g', -1, 64)
	switch o.Kind {
	case api.OfferProb:
		return q.query(fieldProb, probability)
	case api.OfferFree:
		changed := []string{fieldWork, workAny}
		if o.Prob != q.request.Prob {
			changed = append(changed, fieldProb, probability)
		}
		if o.BeginBy != q.request.BeginBy {
			changed = append(changed, fieldBeginBy, s.notBefore(o.BeginBy))
		}
		return q.query(changed...)
	case api.OfferLater:
		return q.query(fieldBeginBy, s.notBefore(o.BeginBy))
	case api.OfferEnd:
		return q.query(fieldBeginBy, s.notBefore(o.FinishBy), fieldProb, probability)
	case api.OfferNodes:
		nodes := strconv.Itoa(int(o.Nodes))
		if slices.Equal(o.Options(&q.request, s.env.Zone), []string{"--nodes=" + nodes}) {
			return q.query(fieldNodes, nodes)
		}
	case api.OfferTime:
		return q.query(fieldTime, slurmtime.FormatDuration(o.Limit))
	}
	return ""
}

// notBefore writes the first whole minute that is not before a time, for the form.
func (s *site) notBefore(at int64) string {
	return time.Unix(at+59, 0).In(s.env.Zone).Format(clockLayout)
}

// extra says what a promise costs at most beyond the work.
func extra(idle api.Cost) string {
	if idle == (api.Cost{}) {
		return "at no extra cost"
	}
	return fmt.Sprintf("for at most %s node-hours of idle nodes", api.HoursUp(idle.NodeSeconds))
}

func sbatch(options []string) string { return "sbatch " + strings.Join(options, " ") + " job.sh" }
