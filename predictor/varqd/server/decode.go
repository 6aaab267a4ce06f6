package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/hostlist"
	"github.com/varq-project/varq/predictor/workload"
)

// field is an error about one field of a request.
func field(name, format string, args ...any) error {
	return api.Fault(api.ErrInvalid, name+": "+fmt.Sprintf(format, args...))
}

// decode reads one JSON value strictly: unknown fields, values of a wrong type
// and anything after it are errors.
func decode[T any](body []byte) (*T, error) {
	v := new(T)
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
			// The path goes through embedded structs, which JSON does not show.
			return nil, field(strings.ReplaceAll(wrong.Field, "Size.", ""), "a %s does not fit here", wrong.Value)
		}
		if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return nil, field(strings.Trim(name, `"`), "no such field")
		}
		return nil, api.Fault(api.ErrInvalid, "the request is not valid JSON: "+err.Error())
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, api.Fault(api.ErrInvalid, "the request goes on after its end")
	}
	return v, nil
}

// read reads a request and checks it.
func read[T any](body []byte, check func(*T) error) (*T, error) {
	v, err := decode[T](body)
	if err != nil {
		return nil, err
	}
	return v, check(v)
}

// readOwn reads and checks a request about a job, which becomes that of who asks.
func readOwn[T any](r *request, check func(*T) error, job func(*T) *workload.Request) (*T, error) {
	v, err := read(r.body, check)
	if err != nil {
		return nil, err
	}
	if user := job(v).User; user != "" && user != r.user {
		return nil, field("job.user", "you are %s, not %q", r.user, user)
	}
	job(v).User = r.user
	return v, nil
}

func parseReservations(values url.Values) (api.ReservationsQuery, error) {
	q := query{values: values}
	r := api.ReservationsQuery{User: q.text(api.ParamUser), Job: q.number(api.ParamJob), All: q.flag(api.ParamAll), Before: q.place(), Selection: q.selection()}
	return r, q.end()
}

func parseReport(values url.Values) (api.ReportQuery, error) {
	q := query{values: values}
	r := api.ReportQuery{By: q.grouping(api.Groupings), User: q.text(api.ParamUser), Selection: q.selection()}
	return r, q.end()
}

func parseShadow(values url.Values) (api.ShadowQuery, error) {
	q := query{values: values}
	r := api.ShadowQuery{Start: q.number(api.ParamStart), End: q.number(api.ParamEnd)}
	return r, q.end()
}

// parseRisk returns the names of the nodes that are asked about.
func parseRisk(values url.Values) ([]string, error) {
	q := query{values: values}
	list := q.raw(api.ParamNodes)
	if err := q.end(); err != nil {
		return nil, err
	}
	if list == "" {
		return nil, field(api.ParamNodes, "is missing: the nodes, as Slurm writes them: node[1-4],node7")
	}
	names, err := hostlist.Expand(list)
	if err != nil {
		return nil, field(api.ParamNodes, "%v", err)
	}
	return names, nil
}

func parseNodesCalibration(values url.Values) (api.NodesCalibrationQuery, error) {
	q := query{values: values}
	r := api.NodesCalibrationQuery{Start: q.number(api.ParamStart), End: q.number(api.ParamEnd)}
	return r, q.end()
}

func parseCalibration(values url.Values) (api.CalibrationQuery, error) {
	q := query{values: values}
	r := api.CalibrationQuery{
		By: q.grouping(api.CalibrationGroupings), Start: q.number(api.ParamStart), End: q.number(api.ParamEnd),
		Forecaster: q.text(api.ParamForecaster), Partition: q.text(api.ParamPartition), Class: q.text(api.ParamClass),
	}
	return r, q.end()
}

// query reads the values of a URL's query strictly: each key once, and none
// left over.
type query struct {
	values url.Values
	err    error
}

// raw takes a value, which is not checked yet, from those left.
func (q *query) raw(key string) string {
	v := q.values[key]
	delete(q.values, key)
	if len(v) > 1 {
		q.fail(field(key, "given more than once"))
	}
	if len(v) == 0 {
		return ""
	}
	return v[0]
}

func (q *query) text(key string) string {
	v := q.raw(key)
	q.fail(api.CheckName(api.Field(key), v))
	return v
}

// names reads a list, whose names have commas between them.
func (q *query) names(key string) []string {
	text := q.raw(key)
	if text == "" {
		return nil
	}
	if strings.Count(text, ",") >= api.MaxNames {
		q.fail(field(key, "more than %d names", api.MaxNames))
		return nil
	}
	return strings.Split(text, ",")
}

func (q *query) selection() api.Selection {
	s := api.Selection{
		Start: q.number(api.ParamStart), End: q.number(api.ParamEnd),
		Accounts: q.names(api.ParamAccount), Partitions: q.names(api.ParamPartition),
		Names: q.names(api.ParamName), States: q.names(api.ParamState),
	}
	q.fail(s.Check())
	return s
}

// grouping reads what to group by: one of those that there are, or nothing.
func (q *query) grouping(all []string) string {
	by := q.text(api.ParamBy)
	if by != "" && !slices.Contains(all, by) {
		q.fail(field(api.ParamBy, "%q is none of %s", by, strings.Join(all, ", ")))
	}
	return by
}

func (q *query) number(key string) int64 {
	text := q.text(key)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > api.MaxTime {
		q.fail(field(key, "%q is not a number of use here", text))
	}
	return n
}

func (q *query) place() api.Place {
	p, err := api.ParsePlace(q.text(api.ParamBefore))
	if err != nil {
		q.fail(field(api.ParamBefore, "%v", err))
	}
	return p
}

func (q *query) flag(key string) bool {
	text := q.text(key)
	if text == "" {
		return false
	}
	on, err := strconv.ParseBool(text)
	if err != nil {
		q.fail(field(key, "%q is neither true nor false", text))
	}
	return on
}

// fail notes an error, if there is one and it is the first.
func (q *query) fail(err error) {
	if q.err == nil {
		q.err = err
	}
}

func (q *query) end() error {
	for key := range q.values {
		q.fail(field(key, "no such parameter"))
	}
	return q.err
}
