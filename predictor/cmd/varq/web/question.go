package web

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurm/jobsize"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// The fields of the form.
const (
	fieldNodes     = "nodes"
	fieldTime      = "time"
	fieldPartition = "partition"
	fieldBeginBy   = "begin-by"
	fieldWork      = "work"
	fieldProb      = "prob"
)

// The values of the field that says what is to be promised by the deadline.
const (
	workAny  = "any"  // the work starts as soon as the job does, at any time until the deadline
	workThen = "then" // it starts at the deadline, for which nodes are held
	workEnd  = "end"  // it has ended by the deadline
)

// maxField bounds what is in a field, in bytes.
const maxField = 100

// clockLayout is how browsers write a time of day on a date.
const clockLayout = "2006-01-02T15:04"

// field is one field of the form, as it was filled in, and what is wrong with it.
type field struct{ Name, Label, Value, Wrong string }

// question is the form: which job is to run, or to have ended, by when.
type question struct {
	Nodes, Time, Partition, BeginBy, Work, Prob field

	request api.PlanRequest
}

// fields returns the fields in the order of the form.
func (q *question) fields() []*field {
	return []*field{&q.Nodes, &q.Time, &q.Partition, &q.BeginBy, &q.Work, &q.Prob}
}

// read reads the form. What is left out takes a default: one node for an hour, at any time within
// four hours.
func read(form url.Values, env *cli.Env) *question {
	fill := func(name, label, missing string) field {
		return field{Name: name, Label: label, Value: cmp.Or(strings.TrimSpace(form.Get(name)), missing)}
	}
	const soon, quarter = 4 * 3600, 900
	q := &question{
		Nodes: fill(fieldNodes, "Nodes", "1"), Time: fill(fieldTime, "Time limit", "1:00:00"), Partition: fill(fieldPartition, "Partition", ""),
		BeginBy: fill(fieldBeginBy, "Deadline", time.Unix((env.Now()+soon)/quarter*quarter, 0).In(env.Zone).Format(clockLayout)),
		Work:    fill(fieldWork, "The work", workAny), Prob: fill(fieldProb, "Probability", ""),
	}
	r := &q.request
	r.Job.Partition = q.Partition.Value
	q.Nodes.check(func(text string) (err error) {
		if n, err := strconv.Atoi(text); err != nil || n < 1 {
			return fmt.Errorf("%q is not a number of nodes", text)
		}
		options := jobsize.Options{Nodes: text}
		if r.Job.Size, err = options.Size(); err != nil {
			return err
		}
		needs, err := options.Needs()
		r.Needs = &needs
		return err
	})
	q.Time.check(func(text string) (err error) {
		r.Job.Limit, err = jobsize.Limit(text)
		return err
	})
	q.Partition.check(func(text string) error {
		if cli.Printable(text) != text || strings.ContainsAny(text, " ,") {
			return fmt.Errorf("%q is not the name of one partition", text)
		}
		return nil
	})
	q.BeginBy.check(func(text string) (err error) {
		if r.BeginBy, err = slurmtime.Parse(text, env.Now(), env.Zone); err != nil {
			return err
		}
		q.BeginBy.Value = time.Unix(r.BeginBy, 0).In(env.Zone).Format(clockLayout)
		if r.BeginBy <= env.Now() {
			return errors.New("this time is over: name a later one")
		}
		return nil
	})
	q.Work.check(func(text string) error {
		switch text {
		case workAny:
			r.BestEffort = true
		case workEnd:
			r.BeginBy, r.FinishBy = 0, r.BeginBy
		case workThen:
		default:
			return fmt.Errorf("%q is neither %s nor %s nor %s", text, workAny, workThen, workEnd)
		}
		return nil
	})
	q.Prob.check(func(text string) (err error) {
		if text != "" {
			r.Prob, err = prob.Parse(text)
		}
		return err
	})
	return q
}

// check sets what is wrong with a field.
func (f *field) check(parse func(text string) error) {
	if len(f.Value) > maxField {
		f.Value, f.Wrong = "", fmt.Sprintf("this has more than %d characters", maxField)
	} else if err := parse(f.Value); err != nil {
		f.Wrong = err.Error()
	}
}

// wrong returns the fields with which something is wrong.
func (q *question) wrong() []*field {
	return slices.DeleteFunc(q.fields(), func(f *field) bool { return f.Wrong == "" })
}

// deadline returns the time that is asked about.
func (q *question) deadline() int64 { return max(q.request.BeginBy, q.request.FinishBy) }

// query returns the query of the same form with other values of some fields, NAME, VALUE, NAME,
// VALUE and so on.
func (q *question) query(changed ...string) template.URL {
	v := url.Values{}
	for _, f := range q.fields() {
		v.Set(f.Name, f.Value)
	}
	for i := 0; i < len(changed); i += 2 {
		v.Set(changed[i], changed[i+1])
	}
	return template.URL(v.Encode())
}

// options returns the options of sbatch for the job and for a reservation with the probability p.
func (q *question) options(p float64, zone *time.Location) []string {
	options := []string{"--nodes=" + q.Nodes.Value, "--time=" + slurmtime.FormatDuration(q.request.Job.Limit)}
	if q.Partition.Value != "" {
		options = append(options, "--partition="+cli.Quote(q.Partition.Value))
	}
	r := q.request
	r.Prob = cmp.Or(p, r.Prob)
	return append(options, told.Options(&r, zone)...)
}
