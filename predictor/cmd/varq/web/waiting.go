package web

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// mostName bounds a job's name in a list, in characters. On the page about the job it is whole.
const mostName = 32

// paramUser says whose jobs are selected; none for one's own.
const paramUser = "user"

// waitingPage tells when jobs that wait are forecast to start and to end.
type waitingPage struct {
	User, Partition field // what is selected
	Partitions      partitions
	Asked           bool // anything is
	Rows            []waitingRow
	Others          bool     // rows have users
	Times           []string // by which each row has the probability of a start
	Picture         *bars    // nil if there is nothing to see
	Left            int      // how many more are not told of
	Learning        bool     // the forecasts rest on the newest part of the past
	Old             string   // how old the queue is, or ""
}

// waitingRow is what a list tells of one job that waits.
type waitingRow struct {
	ID, Name, User, Partition string
	Query                     template.URL // of the page about it
	Start, StartLate          string
	End, EndLate              string
	By                        []string // probabilities
	Slurm, Why, Ahead         string
	Promised                  string       // by when, and how probably; "" if it is not
	PromisedLink              template.URL // of the page about the promise
}

// waiting answers with the jobs that wait: the user's own, or those of others, as far as she may
// see them.
func (s *site) waiting(r *http.Request) (*page, error) {
	form := r.URL.Query()
	body := waitingPage{
		User:      field{Name: paramUser, Label: "User", Value: strings.TrimSpace(form.Get(paramUser))},
		Partition: field{Name: fieldPartition, Label: "Partition", Value: strings.TrimSpace(form.Get(fieldPartition))},
	}
	query := api.WhenQuery{User: body.User.Value}
	if body.Partition.Value != "" {
		query.Partitions = strings.Split(body.Partition.Value, ",")
	}
	body.Asked, body.Others = query.User != "" || query.Partitions != nil, query.User != ""
	answer, err := s.when(r, query)
	if err != nil {
		return nil, err
	}
	body.Left, body.Learning, body.Old = answer.More, answer.Learning, told.Old(answer.AsOf, s.env.Now())
	limits, err := s.varqd.Limits(r.Context())
	if err != nil {
		return nil, err
	}
	body.Partitions = choice(&limits, body.Partition.Value)
	for i := range answer.Jobs {
		w := &answer.Jobs[i]
		if body.Times == nil {
			for _, by := range w.By {
				body.Times = append(body.Times, s.dayAndTime(by.At))
			}
		}
		body.Rows = append(body.Rows, s.waitingRow(w, limits.User))
	}
	body.Picture = newBars(answer.Jobs, s.env.Now(), s.env.Zone)
	return &page{Title: "When do my jobs start?", Here: "waiting", Template: "waiting", Body: body}, nil
}

// when asks varqd about jobs that wait.
func (s *site) when(r *http.Request, query api.WhenQuery) (api.When, error) {
	if err := query.Check(); err != nil {
		return api.When{}, err
	}
	return s.varqd.When(r.Context(), query)
}

// dayAndTime writes a time within some days.
func (s *site) dayAndTime(at int64) string {
	return time.Unix(at, 0).In(s.env.Zone).Format("Mon 15:04")
}

// waitingRow returns what a list of the user me tells of a job that waits.
func (s *site) waitingRow(w *api.Waiting, me string) waitingRow {
	row := waitingRow{
		ID: cli.Printable(told.JobID(w.Job, w.Array, w.Tasks)), Name: cli.Printable(shortened(w.Name, mostName)), User: w.User, Partition: w.Partition, Query: queryOfJob(w.Job),
		Slurm: cli.None, Why: told.Because(w),
	}
	if w.Expected != 0 {
		row.Slurm = s.dayAndTime(w.Expected)
	}
	if w.Unknown != "" {
		row.Why = slurmtime.InZone(w.Unknown, s.env.Zone)
	}
	row.Start, row.StartLate = s.forecast(w.Start)
	row.End, row.EndLate = s.forecast(w.End)
	for _, by := range w.By {
		row.By = append(row.By, prob.Format(by.Prob))
	}
	if w.Ahead > 0 {
		row.Ahead = cli.Count(w.Ahead, "job", "jobs") + " before it"
	}
	if deadline := max(w.BeginBy, w.FinishBy); deadline != 0 {
		row.Promised, row.PromisedLink = fmt.Sprintf("by %s with probability %s", s.dayAndTime(deadline), prob.Format(w.Prob)), storyLink(w.User, w.Job, me)
	}
	return row
}

// forecast writes the two times of a forecast.
func (s *site) forecast(f *api.Forecast) (median, late string) {
	if f == nil {
		return cli.None, cli.None
	}
	moment := func(at int64) string {
		if at == 0 {
			return "beyond"
		}
		return s.dayAndTime(at)
	}
	return moment(f.Median), moment(f.Late)
}

// storyLink returns the link to the page about the reservation of a job, for the user me. That
// about her own lets her change it.
func storyLink(user string, job int64, me string) template.URL {
	if user == me {
		return "reservation?" + queryOfJob(job)
	}
	return "story?" + queryOfJob(job)
}

// queryOfJob returns the query of the page about a job.
func queryOfJob(job int64) template.URL {
	return template.URL(url.Values{paramJob: {strconv.FormatInt(job, 10)}}.Encode())
}

// waitingJobPage tells all that is known of a job that waits, of an array of each part that does.
type waitingJobPage struct {
	Stories [][]told.Line
	Picture *bars        // nil if there is nothing to see
	Old     string       // how old the queue is, or ""
	Promise template.URL // the link to the page about what is promised; "" if nothing is
}

// waitingJob answers with all that is known of one job that waits.
func (s *site) waitingJob(r *http.Request) (*page, error) {
	job, err := parseJob(r.URL.Query().Get(paramJob))
	if err != nil {
		return nil, err
	}
	answer, err := s.when(r, api.WhenQuery{Jobs: []int64{job}})
	if err != nil {
		return nil, err
	}
	if len(answer.Jobs) == 0 {
		return nil, api.Fault(api.ErrNotFound, fmt.Sprintf("job %d does not wait: it has started, has not been seen yet, or is not yours to see", job))
	}
	body := waitingJobPage{Picture: newBars(answer.Jobs, s.env.Now(), s.env.Zone), Old: told.Old(answer.AsOf, s.env.Now())}
	for i := range answer.Jobs {
		w := &answer.Jobs[i]
		story := told.Waiting(w, s.env.Now(), s.env.Zone)
		for i := range story {
			story[i].Text = cli.Printable(story[i].Text)
		}
		body.Stories = append(body.Stories, story)
		if w.BeginBy != 0 || w.FinishBy != 0 {
			me, err := s.user(r.Context())
			if err != nil {
				return nil, err
			}
			body.Promise = storyLink(w.User, w.Job, me)
		}
	}
	return &page{Title: fmt.Sprintf("When does job %d start?", job), Here: "waiting", Template: "waiting-job", Body: body}, nil
}
