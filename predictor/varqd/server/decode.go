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
	"unicode"
	"unicode/utf8"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurm/hostlist"
	"github.com/varq-project/varq/predictor/workload"
)

// Bounds of what a request may say.
const (
	maxName      = 256
	maxNeed      = 4096
	maxGres      = 64
	maxNodes     = 1 << 20
	maxCPUs      = 1 << 28
	maxMemory    = 1 << 50 // MiB
	maxLimit     = 366 * 86400
	maxTime      = 1 << 40 // Unix seconds
	maxQuantiles = 64
	maxValue     = 1 << 64 // of a signal
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

// decodePlan reads and checks a plan request; its job's user becomes user.
func decodePlan(body []byte, user string) (*api.PlanRequest, error) {
	req, err := decode[api.PlanRequest](body)
	if err != nil {
		return nil, err
	}
	if err := checkWork(&req.Job, req.Needs, req.Sizes, user); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"", api.RiskyAvoid, api.RiskyAllow}, req.RiskyNodes) {
		return nil, field("risky_nodes", "%q is neither avoid nor allow", req.RiskyNodes)
	}
	if req.Finishes() {
		return req, checkCompletion(req)
	}
	switch {
	case len(req.Sizes) > 0 && (req.Job.Nodes != 0 || req.Job.CPUs != 0 || req.Job.Limit != 0):
		return nil, field("job", "has no size and no limit of its own with sizes")
	case len(req.Sizes) > 0 && req.Trajectory:
		return nil, field("trajectory", "is that of one size")
	case req.Prefer != "" && len(req.Sizes) == 0:
		return nil, field("prefer", "chooses among sizes")
	case req.CheckpointInterval != 0:
		return nil, field("checkpoint_interval", "makes no sense without finish_by or risk: what failures cost is not a matter of the job's start")
	case req.BeginBy <= 0 || req.BeginBy > maxTime:
		return nil, field("begin_by", "%d is not a time", req.BeginBy)
	case req.BeginAfter < 0 || req.BeginAfter > maxTime:
		return nil, field("begin_after", "%d is not a time", req.BeginAfter)
	case req.BeginAfter > req.BeginBy:
		return nil, field("begin_after", "lies after begin_by")
	case req.BeginAfter != 0 && req.BestEffort:
		return nil, field("begin_after", "makes no sense with best_effort")
	case req.Prob != 0 && !(req.Prob > 0 && req.Prob < 1):
		return nil, field("prob", "%v does not lie between 0 and 1", req.Prob)
	case !slices.Contains([]string{"", api.OnMissRun, api.OnMissCancel}, req.OnMiss):
		return nil, field("on_miss", "%q is neither run nor cancel", req.OnMiss)
	case req.Tentative < 0 || req.Tentative > api.MaxTentative:
		return nil, field("tentative", "%d does not lie between 0 and %d", req.Tentative, api.MaxTentative)
	case req.GroupProb != 0 && req.Group == "":
		return nil, field("group_prob", "makes no sense without group")
	case req.GroupProb != 0 && !(req.GroupProb > 0 && req.GroupProb < 1):
		return nil, field("group_prob", "%v does not lie between 0 and 1", req.GroupProb)
	}
	if err := checkMaxCost(req.MaxCost); err != nil {
		return nil, err
	}
	return req, checkHome(req)
}

// checkMaxCost checks a ceiling on the cost of idle nodes.
func checkMaxCost(c api.MaxCost) error {
	switch {
	case !(c.NodeSeconds >= 0 && c.NodeSeconds <= 3600*api.MaxNodeHours):
		return field("max_cost.node_seconds", "%v is not a cost", c.NodeSeconds)
	case c.Times != 0 && !(c.Times >= 1 && c.Times <= api.MaxMultiple):
		return field("max_cost.times", "%v does not lie between 1 and %d", c.Times, api.MaxMultiple)
	case c.Times != 0 && c.NodeSeconds != 0:
		return field("max_cost.times", "makes no sense with node_seconds")
	}
	return nil
}

// checkCompletion checks what a request about a job's end says beside the job.
func checkCompletion(req *api.PlanRequest) error {
	for _, of := range []struct {
		name string
		is   bool
	}{
		{"begin_by", req.BeginBy != 0}, {"begin_after", req.BeginAfter != 0}, {"best_effort", req.BestEffort},
		{"max_cost", req.MaxCost != api.MaxCost{}}, {"trajectory", req.Trajectory}, {"tentative", req.Tentative != 0}, {"group", req.Group != ""}, {"home", req.Home != ""}, {"group_prob", req.GroupProb != 0}, {"sizes", len(req.Sizes) > 0}, {"prefer", req.Prefer != ""},
	} {
		if of.is {
			return field(of.name, "makes no sense with finish_by or risk: the job is submitted at once, and its nodes never idle")
		}
	}
	switch {
	case req.FinishBy < 0 || req.FinishBy > maxTime:
		return field("finish_by", "%d is not a time", req.FinishBy)
	case req.Prob != 0 && !(req.Prob > 0 && req.Prob < 1):
		return field("prob", "%v does not lie between 0 and 1", req.Prob)
	case req.Risk != 0 && !(req.Risk > 0 && req.Risk < 1):
		return field("risk", "%v does not lie between 0 and 1", req.Risk)
	case req.CheckpointInterval < 0 || req.CheckpointInterval > api.MaxCheckpointInterval:
		return field("checkpoint_interval", "%d is not between 0 and %d", req.CheckpointInterval, api.MaxCheckpointInterval)
	case !slices.Contains([]string{"", api.OnMissRun, api.OnMissCancel}, req.OnMiss):
		return field("on_miss", "%q is neither run nor cancel", req.OnMiss)
	}
	return nil
}

// decodeVitals reads and checks what an agent measures.
func decodeVitals(body []byte) (*api.Vitals, error) {
	v, err := decode[api.Vitals](body)
	if err != nil {
		return nil, err
	}
	switch {
	case v.Node == "" || !api.IsLabel(v.Node):
		return nil, field("node", "%.40q is not the name of a node", v.Node)
	case v.At <= 0 || v.At > maxTime:
		return nil, field("at", "%d is not a time", v.At)
	case len(v.Signals) == 0 || len(v.Signals) > api.MaxSignals:
		return nil, field("signals", "there are %d of them, and 1 to %d may be", len(v.Signals), api.MaxSignals)
	}
	names := api.Signals()
	type part struct{ name, of string }
	seen := make(map[part]bool, len(v.Signals))
	for i, s := range v.Signals {
		of := fmt.Sprintf("signals[%d].", i)
		switch {
		case !slices.Contains(names, s.Name):
			return nil, field(of+"name", "there is no signal %.40q", s.Name)
		case !api.IsLabel(s.Of):
			return nil, field(of+"of", "%.40q is not part of a node", s.Of)
		case !(s.Value >= 0 && s.Value <= maxValue):
			return nil, field(of+"value", "%v does not lie between 0 and %v", s.Value, float64(maxValue))
		case seen[part{s.Name, s.Of}]:
			return nil, field(of+"name", "%s is there twice", s.Name)
		}
		seen[part{s.Name, s.Of}] = true
	}
	return v, nil
}

// decodeProbe reads and checks a probe; its job's user becomes user.
func decodeProbe(body []byte, user string) (*api.ProbeRequest, error) {
	req, err := decode[api.ProbeRequest](body)
	if err != nil {
		return nil, err
	}
	if err := checkWork(&req.Job, req.Needs, req.Sizes, user); err != nil {
		return nil, err
	}
	for i, partition := range req.Partitions {
		if err := checkName(fmt.Sprintf("partitions[%d]", i), partition); err != nil {
			return nil, err
		}
	}
	if err := checkName("site", req.Site); err != nil {
		return nil, err
	}
	switch {
	case len(req.Sizes) == 0:
		return nil, field("sizes", "there are none")
	case len(req.Partitions) > api.MaxProbePartitions:
		return nil, field("partitions", "there are %d of them, and %d may be", len(req.Partitions), api.MaxProbePartitions)
	case req.Earliest < 0 || req.Earliest > maxTime:
		return nil, field("earliest", "%d is not a time", req.Earliest)
	case req.Latest < 0 || req.Latest > maxTime:
		return nil, field("latest", "%d is not a time", req.Latest)
	case req.FinishBy < 0 || req.FinishBy > maxTime:
		return nil, field("finish_by", "%d is not a time", req.FinishBy)
	case req.Latest == 0 && req.FinishBy == 0:
		return nil, field("latest", "neither it nor finish_by is there")
	case req.Latest != 0 && req.Latest < req.Earliest:
		return nil, field("latest", "lies before earliest")
	case req.FinishBy != 0 && req.FinishBy <= req.Earliest:
		return nil, field("finish_by", "is not after earliest")
	case req.Prob != 0 && !(req.Prob > 0 && req.Prob < 1):
		return nil, field("prob", "%v does not lie between 0 and 1", req.Prob)
	case req.GroupProb != 0 && !(req.GroupProb > 0 && req.GroupProb < 1):
		return nil, field("group_prob", "%v does not lie between 0 and 1", req.GroupProb)
	case !(req.Power >= 0 && req.Power <= api.MaxPower):
		return nil, field("power", "%v is not that of a processor", req.Power)
	case req.Slots < 1 || req.Slots > api.MaxProbeSlots:
		return nil, field("slots", "%d does not lie between 1 and %d", req.Slots, api.MaxProbeSlots)
	case req.Gap < 0 || req.Gap > maxLimit:
		return nil, field("gap", "%d does not lie between 0 and %d", req.Gap, maxLimit)
	}
	return req, checkMaxCost(req.MaxCost)
}

// decodeSize reads and checks a question about sizes; its job's user becomes user.
func decodeSize(body []byte, user string) (*api.SizeRequest, error) {
	req, err := decode[api.SizeRequest](body)
	if err != nil {
		return nil, err
	}
	if err := checkWork(&req.Job, req.Needs, req.Sizes, user); err != nil {
		return nil, err
	}
	switch {
	case len(req.Sizes) == 0:
		return nil, field("sizes", "there are none")
	case req.By != api.SizeAuto && req.By != api.SizeCost:
		return nil, field("by", "%.40q is neither auto nor cost", req.By)
	case !(req.Aversion >= 0 && req.Aversion <= api.MaxAversion):
		return nil, field("aversion", "%v does not lie between 0 and %d", req.Aversion, api.MaxAversion)
	case req.Aversion > 0 && req.By != api.SizeAuto:
		return nil, field("aversion", "goes together with by=auto only")
	case req.Reconsider && req.By != api.SizeAuto:
		return nil, field("reconsider", "goes together with by=auto only")
	case req.TasksPerNode < 0:
		return nil, field("tasks_per_node", "%d is less than 0", req.TasksPerNode)
	}
	return req, nil
}

// checkWork checks what a job asks for, which becomes user's, and the shapes that it can have.
func checkWork(job *workload.Request, needs *workload.Needs, sizes []api.Alternative, user string) error {
	if err := checkJob(job, user); err != nil {
		return err
	}
	if err := checkNeeds(needs); err != nil {
		return err
	}
	return checkSizes(sizes)
}

// checkSizes checks the shapes that a job can have.
func checkSizes(sizes []api.Alternative) error {
	if len(sizes) > api.MaxProbeSizes {
		return field("sizes", "there are %d of them, and at most %d may be", len(sizes), api.MaxProbeSizes)
	}
	nodes := map[int32]bool{}
	for i := range sizes {
		s, name := &sizes[i], fmt.Sprintf("sizes[%d]", i)
		if err := checkJob(&workload.Request{Size: s.Size, Limit: s.Limit}, ""); err != nil {
			return field(name, "%v", err)
		}
		switch {
		case s.Nodes < 1 || s.Limit < 1:
			return field(name, "%d nodes for %d s are none", s.Nodes, s.Limit)
		case nodes[s.Nodes]:
			return field(name, "there are two of %d nodes", s.Nodes)
		}
		nodes[s.Nodes] = true
	}
	return nil
}

func decodeBinding(body []byte) (*api.Binding, error) {
	b, err := decode[api.Binding](body)
	if err != nil {
		return nil, err
	}
	return b, checkJobOfPlan(b.Plan, b.Job)
}

func decodeConfirmation(body []byte) (*api.Confirmation, error) {
	c, err := decode[api.Confirmation](body)
	if err != nil {
		return nil, err
	}
	return c, checkJobOfPlan(c.Plan, c.Job)
}

func checkJobOfPlan(plan string, job int64) error {
	if err := checkPlanID(plan); err != nil {
		return err
	}
	if job <= 0 {
		return field("job", "%d is not a job id", job)
	}
	return nil
}

func decodeCancellation(body []byte) (*api.Cancellation, error) {
	c, err := decode[api.Cancellation](body)
	if err != nil {
		return nil, err
	}
	return c, checkPlanID(c.Plan)
}

func decodeAcceptance(body []byte) (*api.Acceptance, error) {
	a, err := decode[api.Acceptance](body)
	switch {
	case err != nil:
		return nil, err
	case a.Job <= 0:
		return nil, field("job", "%d is not a job id", a.Job)
	case !(a.Worst.NodeSeconds >= 0 && a.Worst.NodeSeconds <= 3600*api.MaxNodeHours):
		return nil, field("worst.node_seconds", "%v is not a cost", a.Worst.NodeSeconds)
	}
	return a, nil
}

func checkPlanID(id string) error {
	if !api.ValidPlanID(id) {
		return field("plan", "%.20q is not the identifier of a plan", id)
	}
	return nil
}

func decodePredict(body []byte, user string) (*api.PredictRequest, error) {
	req, err := decode[api.PredictRequest](body)
	if err != nil {
		return nil, err
	}
	if err := checkWork(&req.Job, req.Needs, nil, user); err != nil {
		return nil, err
	}
	if req.Forecaster != "" && req.Forecaster != api.ForecasterDowney {
		return nil, field("forecaster", "%.40q is not %s", req.Forecaster, api.ForecasterDowney)
	}
	if len(req.Quantiles) > maxQuantiles {
		return nil, field("quantiles", "more than %d", maxQuantiles)
	}
	for i, q := range req.Quantiles {
		if !(q > 0 && q < 1) {
			return nil, field(fmt.Sprintf("quantiles[%d]", i), "%v does not lie between 0 and 1", q)
		}
	}
	return req, nil
}

// checkJob bounds what a job asks for, and makes it user's.
func checkJob(job *workload.Request, user string) error {
	if job.User != "" && job.User != user {
		return field("job.user", "you are %s, not %q", user, job.User)
	}
	job.User = user
	for _, s := range []struct{ name, value string }{{"job.account", job.Account}, {"job.partition", job.Partition}, {"job.qos", job.QOS}} {
		if err := checkName(s.name, s.value); err != nil {
			return err
		}
	}
	for _, n := range []struct {
		name        string
		value, most int64
	}{
		{"job.nodes", int64(job.Nodes), maxNodes},
		{"job.cpus", int64(job.CPUs), maxCPUs},
		{"job.gpus", int64(job.GPUs), maxCPUs},
		{"job.memory", job.Memory, maxMemory},
		{"job.limit", job.Limit, maxLimit},
	} {
		if n.value < 0 || n.value > n.most {
			return field(n.name, "%d does not lie between 0 and %d", n.value, n.most)
		}
	}
	return nil
}

// checkNeeds bounds the texts and the numbers of a job's needs.
func checkNeeds(n *workload.Needs) error {
	if n == nil {
		return nil
	}
	texts := []string{
		n.Constraint, n.Licenses, n.Reservation, n.NodeList.Option, n.Exclude.Option, n.NodeCPUs.Option, n.NodeMemory.Option, n.NodeTmp.Option,
	}
	amounts := []int64{int64(n.MostNodes), n.NodeCPUs.Amount, n.NodeMemory.Amount, n.NodeTmp.Amount}
	for i := range n.Gres {
		texts = append(texts, n.Gres[i].Name, n.Gres[i].Type, n.Gres[i].Option)
		amounts = append(amounts, n.Gres[i].Count)
	}
	for _, s := range n.Scale {
		texts = append(texts, s.Option)
		amounts = append(amounts, s.Count)
	}
	for _, text := range slices.Concat(texts, n.NodeList.Names, n.Exclude.Names) {
		if len(text) > maxNeed {
			return field("needs", "a text is longer than %d bytes", maxNeed)
		}
		if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			return field("needs", "a text has characters that no option has")
		}
	}
	if slices.Min(amounts) < 0 || slices.Max(amounts) > maxMemory {
		return field("needs", "a number does not lie between 0 and %d", int64(maxMemory))
	}
	if len(n.Gres) > maxGres || len(n.Scale) > maxGres || len(n.NodeList.Names) > maxNodes || len(n.Exclude.Names) > maxNodes {
		return field("needs", "a list is too long")
	}
	return nil
}

func checkName(name, value string) error {
	if len(value) > maxName {
		return field(name, "longer than %d bytes", maxName)
	}
	if !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl) {
		return field(name, "has characters that no name has")
	}
	return nil
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
	q.fail(checkName(key, v))
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
	names := strings.Split(text, ",")
	for _, name := range names {
		if name == "" {
			q.fail(field(key, "an empty name"))
		}
		q.fail(checkName(key, name))
	}
	return names
}

func (q *query) selection() api.Selection {
	s := api.Selection{
		Start: q.number(api.ParamStart), End: q.number(api.ParamEnd),
		Accounts: q.names(api.ParamAccount), Partitions: q.names(api.ParamPartition),
		Names: q.names(api.ParamName), States: q.names(api.ParamState),
	}
	if s.End != 0 && s.End <= s.Start {
		q.fail(field(api.ParamEnd, "does not lie after start"))
	}
	for _, state := range s.States {
		if !slices.Contains(api.States, state) {
			q.fail(field(api.ParamState, "%q is none of %s", state, strings.Join(api.States, ", ")))
		}
	}
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
	if err != nil || n < 0 || n > maxTime {
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
