package main

import (
	"go/ast"
	"slices"

	"github.com/varq-project/varq/predictor/api"
)

// operation is one method of one path.
type operation struct {
	path, method, summary string
	request, answer       string // names of types; "" for none
	list                  bool   // the answer is an array
	open                  bool   // needs no user
	parameters, inPath    []parameter
}

type parameter struct{ name, kind, description string }

// relayed are the parameters in the path of what is relayed.
var relayed = []parameter{
	{"site", "string", "The site, as varqd's varq.yaml names it, with tls://HOST:PORT."},
	{"path", "string", "One of the other paths, with its slashes. Vitals, delays, gates, claims and states of groups, metrics and this description are not relayed."},
}

// selection has the parameters of api.Selection.
var selection = []parameter{
	{api.ParamStart, "integer", "Deadlines from then on, Unix seconds."},
	{api.ParamEnd, "integer", "Deadlines before then, Unix seconds."},
	{api.ParamAccount, "string", "Accounts, with commas between them."},
	{api.ParamPartition, "string", "Partitions, with commas between them."},
	{api.ParamName, "string", "Names of jobs, with commas between them."},
	{api.ParamState, "string", "States, with commas between them."},
}

var operations = []operation{
	{path: api.PathPlan, method: "post", summary: "Promise a reservation. The promise is on disk before the answer leaves.", request: "PlanRequest", answer: "PlanAnswer"},
	{path: api.PathQuote, method: "post", summary: "Say what would be promised, and promise nothing.", request: "PlanRequest", answer: "PlanAnswer"},
	{path: api.PathProbe, method: "post", summary: "Say when a job of one of several sizes could begin in a window of time, with what probability and at what cost.", request: "ProbeRequest", answer: "ProbeAnswer"},
	{path: api.PathSize, method: "post", summary: "Say which of several sizes a job had better have that is submitted now.", request: "SizeRequest", answer: "SizeAnswer"},
	{path: api.PathBind, method: "post", summary: "Tell which job a plan became.", request: "Binding"},
	{path: api.PathConfirm, method: "post", summary: "Confirm a tentative promise.", request: "Confirmation"},
	{path: api.PathCancel, method: "post", summary: "Take back a plan without a job, or a tentative one that is not confirmed, and cancel its job.", request: "Cancellation"},
	{path: api.PathGate, method: "post", summary: "Tell whether the work of a job may begin that is a member of a group.", request: "Gate", answer: "GateAnswer"},
	{path: api.PathGroups, method: "post", summary: "Keep a group of jobs at several sites. The group is on disk before the answer leaves.", request: "GroupRequest", answer: "GroupQuote"},
	{path: api.PathGroupQuote, method: "post", summary: "Say with what probability a group of jobs would succeed.", request: "GroupRequest", answer: "GroupQuote"},
	{path: api.PathGroupCancel, method: "post", summary: "Give a group up.", request: "GroupCancellation"},
	{path: api.PathClaim, method: "post", summary: "Tell whether the work of a member of a group that is kept here may begin. What is decided is on disk before the answer leaves.", request: "GroupClaim", answer: "GateAnswer"},
	{path: api.PathGroupStates, method: "post", summary: "Tell what has become of groups that are kept here.", request: "GroupsQuery", answer: "GroupState", list: true},
	{path: api.PathDelays, method: "get", summary: "Tell another site's varqd how long jobs have waited, compared with what was forecast.", answer: "Delays"},
	{path: api.PathSites, method: "get", summary: "Tell how the clusters are that have no varqd, and whose slots this one estimates.", answer: "SiteState", list: true},
	{path: api.PathAccept, method: "post", summary: "Agree to a higher ceiling on the cost of idle nodes, which keeps a promise.", request: "Acceptance", answer: "Accepted"},
	{path: api.PathNodes, method: "get", summary: "List the nodes, and how probable it is that they fail within a day, the riskiest first.", answer: "Nodes"},
	{path: api.PathRisk, method: "get", summary: "Tell how probable it is that one of some nodes fails, and what else stops the work on them.", answer: "Risk", parameters: []parameter{
		{api.ParamNodes, "string", "The nodes, as Slurm writes them: node[1-4],node7."},
	}},
	{path: api.PathNodesScores, method: "get", summary: "Tell how far forecasts of failures are to be believed, by what happened.", answer: "NodesCalibration", parameters: []parameter{
		{api.ParamStart, "integer", "Forecasts made on this day, UTC, or later; Unix seconds."},
		{api.ParamEnd, "integer", "Forecasts made on this day, UTC, or before; Unix seconds."},
	}},
	{path: api.PathLimits, method: "get", summary: "Tell what the site's policy allows the asker, and what she uses of it.", answer: "Limits"},
	{path: api.PathReservations, method: "get", summary: "List reservations.", answer: "Reservation", list: true, parameters: slices.Concat([]parameter{
		{api.ParamUser, "string", "Whose: a user, or * for everybody; by default the asker's own."},
		{api.ParamJob, "integer", "A job id: its reservation alone, however old."},
		{api.ParamAll, "boolean", "Also those that were due more than a day ago and are settled, as with bounds of the deadline."},
		{api.ParamBefore, "string", "DEADLINE,PLAN of a reservation: those that come before it, by their deadlines and then their plans. An answer has the last of those that are selected: all, or at least 100."},
	}, selection)},
	{path: api.PathReport, method: "get", summary: "Compare what was promised with what was kept.", answer: "Report", parameters: slices.Concat([]parameter{
		{api.ParamBy, "string", "Group by user, account, partition or month; by default one row."},
		{api.ParamUser, "string", "Whose: a user, or * for everybody; by default the asker's own."},
	}, selection)},
	{path: api.PathCalibration, method: "get", summary: "Tell how far forecasts of waits are to be believed, by what became of them.", answer: "Calibration", parameters: []parameter{
		{api.ParamBy, "string", "Group by partition, class or month too; by default one row for each forecaster."},
		{api.ParamStart, "integer", "Waits that began on this day, UTC, or later; Unix seconds."},
		{api.ParamEnd, "integer", "Waits that began on this day, UTC, or before; Unix seconds."},
		{api.ParamForecaster, "string", "A forecaster."},
		{api.ParamPartition, "string", "A partition."},
		{api.ParamClass, "string", "A class of jobs, as grouping by class names it."},
	}},
	{path: api.PathShadow, method: "get", summary: "Tell what varqd would have promised, and what would have come of it; see shadow mode.", answer: "Shadow", parameters: []parameter{
		{api.ParamStart, "integer", "Jobs that began to wait from then on, Unix seconds."},
		{api.ParamEnd, "integer", "Jobs that began to wait before then, Unix seconds."},
	}},
	{path: api.PathPredict, method: "post", summary: "Bound the wait of a job submitted now.", request: "PredictRequest", answer: "Prediction"},
	{path: api.PathWhen, method: "post", summary: "Tell when jobs that wait are forecast to start and to end.", request: "WhenQuery", answer: "When"},
	{path: api.PathFlows, method: "post", summary: "Promise that jobs of which some wait for others have ended by a time, all of them, or say what could be promised.", request: "FlowRequest", answer: "FlowAnswer"},
	{path: api.PathFlowStates, method: "post", summary: "List promises of flows, and what has become of them.", request: "FlowsQuery", answer: "Flows"},
	{path: api.PathVitals, method: "post", summary: "Take in what the agent on a node measures; see varq-agent(8).", request: "Vitals"},
	{path: api.PathRelay + "{site}/{path}", method: "get", summary: "Ask the same at another site, to whose varqd this one relays it, with its parameters.", inPath: relayed},
	{path: api.PathRelay + "{site}/{path}", method: "post", summary: "Ask the same at another site, to whose varqd this one relays it, with its body.", inPath: relayed},
	{path: api.PathHealth, method: "get", summary: "Tell how varqd is; status 503 if it is not well.", answer: "Health", open: true},
	{path: api.PathMetrics, method: "get", summary: "Metrics in the text format of Prometheus.", open: true},
	{path: api.PathOpenAPI, method: "get", summary: "This description.", open: true},
}

// document returns the whole description.
func document(types map[string]*ast.TypeSpec) object {
	s := &schemas{types: types, made: object{}}
	failure := object{
		"description": "What went wrong, in words",
		"content":     object{"application/json": object{"schema": s.ref("Error")}},
	}
	paths := object{}
	for _, op := range operations {
		description := object{"summary": op.summary, "responses": object{"200": s.success(op), "default": failure}}
		if op.answer == "" && !op.open && op.inPath == nil {
			description["responses"] = object{"204": object{"description": "Done"}, "default": failure}
		}
		if op.open {
			description["security"] = []object{}
		}
		if op.request != "" {
			description["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": s.ref(op.request)}}}
		}
		var parameters []object
		for _, p := range op.parameters {
			parameters = append(parameters, object{"name": p.name, "in": "query", "description": p.description, "schema": object{"type": p.kind}})
		}
		for _, p := range op.inPath {
			parameters = append(parameters, object{"name": p.name, "in": "path", "required": true, "description": p.description, "schema": object{"type": p.kind}})
		}
		if parameters != nil {
			description["parameters"] = parameters
		}
		if paths[op.path] == nil {
			paths[op.path] = object{}
		}
		paths[op.path].(object)[op.method] = description
	}
	return object{
		"openapi": "3.0.3",
		"info": object{
			"title":       "varqd",
			"version":     "1",
			"x-generated": "Code generated by openapigen. DO NOT EDIT.",
			"description": "Reservations made of probability. Times are Unix seconds, durations seconds, memory MiB, probabilities lie in (0,1). " +
				"On the unix socket the user is known by the peer credentials; over TCP each request carries a munge credential " +
				"whose payload is the SHA-256 of the line \"METHOD URI LENGTH\\n\", LENGTH being that of the body, followed by the body. " +
				"The answer to a request whose credential is good carries one of varqd's user, in the header " + api.AnswerCredential + ": its payload is the " +
				"SHA-256 of the line \"answer STATUS LENGTH CREDENTIAL\\n\", CREDENTIAL being that of the request, followed by the answer's body. " +
				"Trust no answer over TCP without it. Other sites' varqds connect by TLS 1.3 with a certificate that has their site's name as a DNS name, and say in the header " +
				api.ForUser + " for which user they ask, as far as varq.yaml lets them (server.peers); without the header they may claim and see groups, and ask for delays and health. " +
				"Elsewhere that header is refused. What is relayed to another site may have the header " + api.Within + ": for how many milliseconds whoever asks waits. " +
				"The first part of a path is the version of the API. Under one version nothing is taken away or gets another meaning: requests, parameters and answers get new fields, " +
				"and whoever leaves a new field out gets what was there before. So ignore fields of an answer that you do not know. varqd refuses fields of a request that it does not know, " +
				"as what was asked would not be what is promised. The headers " + api.APIs + " and " + api.ServerVersion + " of each answer tell which versions of the API varqd speaks (v1), and its own version.",
		},
		"security":   []object{{"munge": []string{}}},
		"paths":      paths,
		"components": object{"schemas": s.made, "securitySchemes": object{"munge": object{"type": "apiKey", "in": "header", "name": "Authorization", "description": "Munge CREDENTIAL"}}},
	}
}

func (s *schemas) success(op operation) object {
	response := object{"description": "Done"}
	if op.answer == "" {
		return response
	}
	schema := s.ref(op.answer)
	if op.list {
		schema = object{"type": "array", "items": schema}
	}
	response["content"] = object{"application/json": object{"schema": schema}}
	return response
}
