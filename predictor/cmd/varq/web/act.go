package web

import (
	"fmt"
	"html/template"
	"net/http"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// result says what has become of an act.
type result struct {
	Done  bool
	What  string
	Next  string
	Query template.URL // of the page about the reservation
}

// cancelled takes a promise back, or ends its job, and answers with what has become of it.
func (s *site) cancelled(r *http.Request) (*page, error) {
	found, err := s.own(r.Context(), r.PostForm)
	if err != nil {
		return nil, err
	}
	done := result{Done: true, Query: queryOf(found)}
	if found.Job == 0 {
		err = s.varqd.Cancel(r.Context(), api.Cancellation{Plan: found.ID})
		done.What = fmt.Sprintf("Plan %s is taken back.", found.ID)
		done.Next = "varqd closes it within some seconds, unless it finds a job of it in the queue."
	} else {
		err = s.cancel(r.Context(), found.Job)
		done.What = fmt.Sprintf("Slurm ends job %d.", found.Job)
		done.Next = "varqd settles its promise once the job has left the queue, which may take a minute."
	}
	if err != nil {
		return nil, err
	}
	return &page{Title: "Cancellation: " + nameOf(found), Here: "reservations", Template: "result", Body: done}, nil
}

// accepted agrees to what idle nodes cost at most, as it was shown, and answers with what has
// become of it.
func (s *site) accepted(r *http.Request) (*page, error) {
	found, err := s.own(r.Context(), r.PostForm)
	if err != nil {
		return nil, err
	}
	most, err := api.ParseMaxCost(r.PostForm.Get(paramMost))
	if err != nil || most.Times != 0 {
		return nil, api.Fault(api.ErrInvalid, "say how many node-hours of idle nodes you agree to at most")
	}
	a, err := s.varqd.Accept(r.Context(), api.Acceptance{Job: found.Job, Worst: api.Cost{NodeSeconds: most.NodeSeconds}})
	if err != nil {
		return nil, err
	}
	done := result{Done: a.Moved, Query: queryOf(found), What: fmt.Sprintf("Job %d: idle nodes may cost up to %s now.", a.Job, a.Ceiling.RoundedUp())}
	if a.Moved {
		done.Next = fmt.Sprintf("It was moved: it may start from %s on, with the time limit %s, and by %s with probability %s.",
			slurmtime.Format(a.Set.BeginTime, s.env.Zone), slurmtime.FormatDuration(a.Set.TimeLimit), slurmtime.Format(a.BeginBy, s.env.Zone), told.Now(&a.Reservation))
	} else {
		done.Next = "It was not moved: " + a.Unmoved + "."
	}
	return &page{Title: "Higher cost: " + nameOf(found), Here: "reservations", Template: "result", Body: done}, nil
}
