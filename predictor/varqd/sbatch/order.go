package sbatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
)

// orderVariable is the environment variable in which sbatch carries an Order to varq-filter, as
// JSON.
const orderVariable = "VARQ_RESERVE"

// Order is what varq-filter, which plans the job that sbatch submits, is to do beside what sbatch's
// options say.
type Order struct {
	// Describe asks for the job's request alone: nothing is planned, and sbatch submits nothing.
	Describe bool `json:"describe,omitempty"`
	// Site is the cluster that sbatch submits to, if that is not the host's own, by its name in
	// varq.yaml.
	Site string `json:"site,omitempty"`
	// Partition, if not empty, is the one that the job is submitted to.
	Partition string `json:"partition,omitempty"`
	// Limit, if not 0, is the time limit of the work in seconds, whatever sbatch's options say.
	Limit int64 `json:"limit,omitempty"`
	// Reference says that sbatch's --time is meant for one of the sizes, from which the others
	// follow.
	Reference bool `json:"reference,omitempty"`
	// Tentative is for how many seconds the promise waits to be confirmed; 0 if it need not be.
	Tentative int64 `json:"tentative,omitempty"`
	// Recurs says that varq every runs sbatch, and not varq reserve: the promise is one as of any
	// sbatch, and its plan is reported.
	Recurs bool `json:"recurs,omitempty"`
	// Chain says that varq chain runs sbatch.
	Chain bool `json:"chain,omitempty"`
	// Member, if its Group is not empty, makes the promise that of a member of a group.
	Member
	// Report is the file to which varq-filter appends its Reports, one JSON value a line.
	Report string `json:"report"`
}

// Member says of which group a job is a member.
type Member struct {
	// Group is the group, which the site Home keeps, and GroupProb is the probability asked for it.
	Group     string  `json:"group,omitempty"`
	Home      string  `json:"home,omitempty"`
	GroupProb float64 `json:"group_prob,omitempty"`
}

// Report is what varq-filter tells, and varq flow of its jobs. One field is set, but for those
// beside Request.
type Report struct {
	Request *api.PlanRequest `json:"request,omitempty"` // the job's, if the order is to describe it
	// Parsable is true, beside Request, if sbatch is to print the job's number alone.
	Parsable bool `json:"parsable,omitempty"`
	// Notes are what its user should know of the Request, beside it: clauses without a full stop.
	Notes []string `json:"notes,omitempty"`
	// Comment is the user's own, and Arguments is how many words of the command are the script and
	// its arguments, beside Request.
	Comment   string `json:"comment,omitempty"`
	Arguments int    `json:"arguments,omitempty"`

	Plan    *api.Plan    `json:"plan,omitempty"`
	Refusal *api.Refusal `json:"refusal,omitempty"`
	Error   string       `json:"error,omitempty"` // why there is neither a plan nor a refusal
	Job     int64        `json:"job,omitempty"`   // that Slurm has accepted
	Flow    string       `json:"flow,omitempty"`  // the promise of a flow of such Jobs, which go on
	// Cancelled says that the Jobs of a flow that were reported before are cancelled.
	Cancelled bool `json:"cancelled,omitempty"`
}

// ReadOrder returns the order in an environment, or nil if there is none.
func ReadOrder(environment []string) (*Order, error) {
	for _, v := range environment {
		text, found := strings.CutPrefix(v, orderVariable+"=")
		if !found {
			continue
		}
		o := new(Order)
		if err := json.Unmarshal([]byte(text), o); err != nil || o.Report == "" {
			return nil, fmt.Errorf("the environment variable %s is set by varq reserve and varq every alone; unset it", orderVariable)
		}
		return o, nil
	}
	return nil, nil
}

// Without returns an environment without an order.
func Without(environment []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(v string) bool { return strings.HasPrefix(v, orderVariable+"=") })
}

// Variable returns the variable of sbatch's environment that carries the order. It does not come
// into the job's.
func (o *Order) Variable() (string, error) {
	text, err := json.Marshal(o)
	return orderVariable + "=" + string(text), err
}

// Tell appends a report to the order's file, and returns when it is on disk. A nil order has nobody
// to tell.
func (o *Order) Tell(r Report) error {
	if o == nil {
		return nil
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(o.Report, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	return errors.Join(err, file.Sync(), file.Close())
}

// maxReports bounds a file of reports, in bytes.
const maxReports = 16 << 20

// reportsIn reads what varq-filter has reported so far, from a file.
func reportsIn(path string) (reports []Report, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return Reports(file)
}

// Reports reads what was reported so far, from an Order's Report.
//
// Invariant: a plan is there before sbatch knows of it, so that a job that sbatch has submitted is
// of one of these.
func Reports(file io.Reader) (reports []Report, err error) {
	text, err := io.ReadAll(io.LimitReader(file, maxReports))
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var r Report
		if json.Unmarshal(line, &r) == nil { // else it is not written whole yet
			reports = append(reports, r)
		}
	}
	return reports, nil
}
