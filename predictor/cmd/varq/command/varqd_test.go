package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// now is the clock of the tests: 2026-11-21T13:00:00 UTC.
const now = 1795266000

// fakeVarqd gives fixed answers in the form of varqd's. It records the requests.
type fakeVarqd struct {
	mux   http.ServeMux
	asked *os.File
	turn  sync.Mutex
}

// startVarqd serves a fakeVarqd on the unix socket until the result is closed. It writes each
// request as a line of the file asked.
func startVarqd(socket, asked string) (io.Closer, error) {
	file, err := os.Create(asked)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	f := &fakeVarqd{asked: file}
	f.mux.HandleFunc("POST "+api.PathQuote, answer(quoteFor))
	f.mux.HandleFunc("POST "+api.PathPredict, answer(predictionFor))
	f.mux.HandleFunc("POST "+api.PathWhen, answer(whenFor))
	f.mux.HandleFunc("POST "+api.PathFlows, answer(promiseFlow))
	f.mux.HandleFunc("POST "+api.PathFlowStates, answer(flows))
	f.mux.HandleFunc("POST "+api.PathProbe, answer(probeFor))
	f.mux.HandleFunc("POST "+api.PathConfirm, confirm)
	f.mux.HandleFunc("POST "+api.PathGroups, answer(group))
	f.mux.HandleFunc("POST "+api.PathGroupQuote, answer(group))
	f.mux.HandleFunc("POST "+api.PathCancel, cancel)
	f.mux.HandleFunc("POST "+api.PathAccept, answer(accept))
	f.mux.HandleFunc("GET "+api.PathLimits, f.limits)
	f.mux.HandleFunc("GET "+api.PathNodes, nodeList)
	f.mux.HandleFunc("GET "+api.PathRisk, risk)
	f.mux.HandleFunc("GET "+api.PathNodesScores, nodesCalibrationOf)
	f.mux.HandleFunc("GET "+api.PathReservations, f.reservations)
	f.mux.HandleFunc("GET "+api.PathHealth, f.health)
	f.mux.HandleFunc("GET "+api.PathReport, f.report)
	f.mux.HandleFunc("GET "+api.PathCalibration, calibration)
	f.mux.HandleFunc("GET "+api.PathShadow, shadow)
	server := &http.Server{Handler: f}
	go func() { _ = server.Serve(listener) }()
	return server, nil
}

func (f *fakeVarqd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.turn.Lock()
	defer f.turn.Unlock()
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(f.asked, "%s %s %s\n", r.Method, r.URL.RequestURI(), body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.mux.ServeHTTP(w, r)
}

// answer returns a handler that decodes a request and sends the answer of respond.
func answer[Q, A any](respond func(Q) (A, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var q Q
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			reply(w, http.StatusBadRequest, api.Error{Error: err.Error()})
			return
		}
		a, err := respond(q)
		if err != nil {
			reply(w, http.StatusBadRequest, api.Error{Error: err.Error()})
			return
		}
		reply(w, http.StatusOK, a)
	}
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// probeFor answers that the work can begin at the earliest or at the latest moment, in two
// partitions, of which the second is cheaper and less probable. In a window that ends in a minute,
// nothing can, nor with the QOS nosuch.
func probeFor(r api.ProbeRequest) (api.ProbeAnswer, error) {
	a := api.ProbeAnswer{Slots: []api.Slot{}, Unit: "EUR"}
	if r.Job.QOS == "nosuch" {
		a.Reasons, a.Final = []string{`unknown QOS "nosuch"`}, true
		return a, nil
	}
	if r.Job.QOS == "new" {
		a.Reasons, a.Young = []string{"not enough history for a probability of 0.9: 25 waits known, at least 29 needed"}, true
		return a, nil
	}
	if r.Earliest == 0 {
		r.Earliest = now + 600
	}
	for _, size := range r.Sizes {
		latest := r.Ends(size.Limit) - size.Limit
		if latest <= now+60 {
			a.Reasons = []string{"the job starts by the deadline with a probability of 0.10 at best"}
			return a, nil
		}
		for i, partition := range []string{"main", "long"} {
			for _, start := range []int64{r.Earliest, latest} {
				work := api.Cost{NodeSeconds: float64(int64(size.Nodes) * size.Limit), BillingSeconds: float64(int64(size.Nodes) * size.Limit)}
				a.Slots = append(a.Slots, api.Slot{
					Partition: partition, Start: start, End: start + size.Limit, Nodes: size.Nodes, Limit: size.Limit, Prob: max(.9, r.Prob), Estimate: .98 - .03*float64(i),
					Work: work, Cost: work.BillingSeconds / 3600 / float64(1+i),
				})
				if r.ESR {
					a.Slots[len(a.Slots)-1].ESR = &api.ESR{Static: .11, Load: 1}
					if i == 0 {
						a.Slots[len(a.Slots)-1].ESR.History = new(.5)
					}
				}
			}
		}
	}
	return a, nil
}

// group is as probable as groups of two are whose members have nothing to do with one another, and
// wants .8.
func group(r api.GroupRequest) (api.GroupQuote, error) {
	q := api.GroupQuote{Independent: .99, Joint: .98, Prob: .97, Lower: .9, Correlation: .21, Days: 33, Required: max(.8, r.Prob)}
	if r.Kind == api.GroupAll {
		q.Independent, q.Joint, q.Prob, q.Lower = .81, .83, .82, .8
		for i := range r.Members { // of two in one part, one is enough
			if i > 0 && r.Members[i].Part != 0 && r.Members[i].Part == r.Members[i-1].Part {
				q.Prob, q.Unraised = .95, .82
			}
		}
	}
	return q, nil
}

// confirm confirms the job 4711 alone.
func confirm(w http.ResponseWriter, r *http.Request) {
	var c api.Confirmation
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil || c.Job != 4711 {
		reply(w, http.StatusConflict, api.Error{Error: "the promise was not confirmed in time, and is taken back"})
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// cancel refuses to take back the plan bbbbbbbbbbbb.
func cancel(w http.ResponseWriter, r *http.Request) {
	var c api.Cancellation
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil || c.Plan == "bbbbbbbbbbbb" {
		reply(w, http.StatusConflict, api.Error{Error: "job 7 has taken up the plan: cancel the job, with scancel 7"})
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// accept accepts half a node-hour for jobs 4711 and 4713, and nothing else. It does not move 4713.
func accept(a api.Acceptance) (api.Accepted, error) {
	if a.Job != 4711 && a.Job != 4713 || a.Worst.NodeSeconds != 0 && a.Worst.NodeSeconds < 1800 {
		return api.Accepted{}, fmt.Errorf("job %d needs no more", a.Job)
	}
	accepted := api.Accepted{Moved: a.Job == 4711, Reservation: api.Reservation{
		Plan: api.Plan{BeginBy: now + 7200}, Job: a.Job, State: api.StatePending, Now: new(.97),
		Ceiling: api.Cost{NodeSeconds: 1800, BillingSeconds: 3600}, Set: api.Setting{BeginTime: now + 5400, TimeLimit: 4500},
	}}
	if !accepted.Moved {
		accepted.Unmoved = "Slurm does not answer now; varqd tries again within a minute"
	}
	return accepted, nil
}

// nodeList answers with nodes in several states, the last two of which are as likely to fail as all
// the others. The last has an agent.
func nodeList(w http.ResponseWriter, _ *http.Request) {
	list := api.Nodes{At: now, Since: now - 30*86400, Failures: 12, Nodes: []api.Node{
		{Name: "node7", Risk: .3125, Why: "it failed of late", State: "draining", Reason: "ECC errors", By: "root", Since: now - 3600},
		{Name: "node2", Risk: .05, Why: "how often it failed", State: "not responding", Reason: "Not responding", By: "slurm", Since: now - 60, Back: now + 600},
	}}
	for i := range 30 {
		list.Nodes = append(list.Nodes, api.Node{Name: fmt.Sprint("rack", i), Risk: .01, Why: "nodes fail", State: "up"})
	}
	last := &list.Nodes[len(list.Nodes)-1]
	last.Heard, last.Noticed = now-60, []api.Noticed{{At: now - 7200, Kind: "corrected memory errors", What: "memory_errors_corrected of mc0 has grown from 1 to 5"}}
	reply(w, http.StatusOK, list)
}

// risk answers about node[1-64], node[1-2], of which one is about to be stopped for a maintenance,
// and node7, by a clock that is an hour ahead. It has not read node8.
func risk(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Query().Get(api.ParamNodes) {
	case "node[1-64]":
		reply(w, http.StatusOK, api.Risk{
			At: now - 30, Since: now - 30*86400, Failures: 12, Nodes: 64, Rate: 64. / (200 * 86400),
			Within: []api.ExpectedFailures{{Within: 3600, Failures: .0133}, {Within: 86400, Failures: .32}},
		})
	case "node[1-2]":
		reply(w, http.StatusOK, api.Risk{
			At: now, Since: now - 30*86400, Failures: 12, Nodes: 2, Rate: 2. / (200 * 86400),
			Within:      []api.ExpectedFailures{{Within: 86400, Failures: .01}},
			Maintenance: &api.Maintenance{Name: "upgrade", Start: now + 70*60},
			Drain:       &api.Drain{Node: "node2", Since: now - 3*3600, Reason: "fan", By: "root"},
		})
	case "node7":
		reply(w, http.StatusOK, api.Risk{At: now + 3600, Rate: 1e-6})
	case "node9":
		reply(w, http.StatusNotFound, api.Error{Error: "Slurm has no node node9"})
	default:
		reply(w, http.StatusServiceUnavailable, api.Error{Error: "varqd has not read the nodes since it started; try again in a minute"})
	}
}

// nodesCalibrationOf answers with two forecasters, the second of which has seen no failure, or with
// nothing for a time from 1970 on.
func nodesCalibrationOf(w http.ResponseWriter, r *http.Request) {
	c := api.NodesCalibration{Rows: []api.NodesCalibrationRow{}}
	if r.FormValue(api.ParamStart) != "86400" {
		c.Rows = append(c.Rows, api.NodesCalibrationRow{
			Forecaster: "blend", Forecasts: 120_000, Failed: 96, Expected: 91.27, Gain: .8123, Interval: []float64{.41, 1.2}, Alarms: 100, Precision: .25, Failures: 24,
			Ahead:       []api.Warning{{Share: .5}, {Lead: 6 * 3600, Share: .375}, {Lead: 86400, Share: .25}, {Lead: 7 * 86400, Share: .125}},
			Reliability: []api.RiskBin{{Count: 119_000, Mean: .00042, Failed: .0004, Low: .0003, High: .0005}, {Count: 1000, Mean: .04, Failed: .048, Low: .03, High: .07}},
		}, api.NodesCalibrationRow{Forecaster: "ours", Forecasts: 10, Expected: .1, Reliability: []api.RiskBin{{Count: 10, Mean: .01, High: 1}}})
	}
	reply(w, http.StatusOK, c)
}

// limits answers with a rule of each kind, or with none if there is a file nolimits in the folder
// of the file asked.
func (f *fakeVarqd) limits(w http.ResponseWriter, _ *http.Request) {
	l := api.Limits{User: "me", Open: 3, NodeSeconds: 4500, Rules: []api.LimitRule{}}
	if _, err := os.Stat(filepath.Join(filepath.Dir(f.asked.Name()), "nolimits")); err != nil {
		no := false
		l.Rules = []api.LimitRule{
			{Name: "debug is off", Selects: "partition debug", Reserve: &no},
			{Name: "2", MaxProb: .95, Cost: "1.5x", MaxCost: "2"},
			{Name: "share", Shares: []api.LimitShare{
				{User: "me", Open: 3, MaxOpen: 5, NodeSeconds: 4500, MaxNodeSeconds: 36000},
				{Account: "phys", Open: 12, NodeSeconds: 45000, MaxNodeSeconds: 360000},
			}},
		}
	}
	reply(w, http.StatusOK, l)
}

// quoteFor refuses probabilities above .97 and limits above a day.
func quoteFor(r api.PlanRequest) (api.PlanAnswer, error) {
	if r.Finishes() {
		return endFor(r), nil
	}
	if r.Prob == 0 {
		r.Prob = .9
	}
	var a api.PlanAnswer
	if r.Trajectory && r.Job.Limit <= 86400 {
		for begin := int64(now); begin < r.BeginBy; begin += 600 {
			prob := .5 + .48*float64(r.BeginBy-begin)/float64(r.BeginBy-now)
			a.Trajectory = append(a.Trajectory, api.Point{BeginTime: begin, TimeLimit: r.Job.Limit + r.BeginBy - begin, Prob: prob, Class: "batch"})
		}
	}
	switch {
	case r.Job.Partition == "debug":
		a.Refusal = &api.Refusal{Reason: `there are no reservations for partition debug (rule "debug is off" of the site's policy); submit the job without one, or ask whoever runs the cluster`, Rule: "debug is off"}
	case r.Job.Limit > 86400:
		a.Refusal = &api.Refusal{Reason: "partition batch allows no job longer than 1-00:00:00 (MaxTime)", Limit: "partition batch MaxTime"}
	case r.Prob > .97:
		a.Refusal = &api.Refusal{
			Reason: fmt.Sprintf("the probability is 0.97 at best, and %.2f was asked for", r.Prob),
			Offers: []api.Offer{
				{Kind: api.OfferProb,
					Prob: .97, BeginBy: r.BeginBy, HoldUntil: r.BeginAfter, Nodes: 4, CPUs: 4, Limit: 3600, Worst: api.Cost{NodeSeconds: 57600, BillingSeconds: 57600}},
				{Kind: api.OfferLater,
					Prob: .99, BeginBy: r.BeginBy + 5400, HoldUntil: r.BeginAfter + 5400, Nodes: 4, CPUs: 4, Limit: 3600, Worst: api.Cost{NodeSeconds: 79200, BillingSeconds: 79200}},
			},
		}
	default:
		lead := int64(2850)
		hold := r.BeginBy
		if r.BeginAfter != 0 {
			hold = r.BeginAfter
		}
		if r.BestEffort {
			hold = 0
		}
		onMiss := r.OnMiss
		if onMiss == "" {
			onMiss = "run"
		}
		a.Plan = &api.Plan{
			BeginTime: r.BeginBy - lead, TimeLimit: r.Job.Limit + 2880, BeginBy: r.BeginBy, HoldUntil: hold,
			WorkLimit: r.Job.Limit, Prob: r.Prob, Estimate: r.Prob + .025, OnMiss: onMiss,
			Work:     times(r.Job.Size, r.Job.Limit),
			Worst:    times(r.Job.Size, lead),
			Expected: times(r.Job.Size, lead/2),
			Evidence: api.Evidence{Sample: 412, Class: "partition=batch limit=1h-2h", AsOf: seen(r.Job.Partition)},
		}
	}
	a.AsOf = seen(r.Job.Partition)
	return a, nil
}

// seen returns when the queue was read, which of partition old is old.
func seen(partition string) int64 {
	if partition == "old" {
		return now - 300
	}
	return now
}

// endFor answers a request about a job's end: it ends within an hour and a half with probability
// .9, and within three hours with .95.
func endFor(r api.PlanRequest) (a api.PlanAnswer) {
	const soon, late = now + 5400, now + 10800
	offer := func(at int64, prob float64) api.Offer {
		return api.Offer{Kind: api.OfferEnd, FinishBy: at, Prob: prob, Nodes: r.Job.Nodes, CPUs: r.Job.CPUs, Limit: r.Job.Limit}
	}
	a.Offers = []api.Offer{offer(soon, .9), offer(late, .95)}
	if r.FinishBy != 0 && r.FinishBy < soon && r.Risk == 0 {
		time, saves := offer(r.FinishBy, r.Prob), offer(r.FinishBy, r.Prob)
		time.Kind, time.Limit = api.OfferTime, 1800
		saves.Kind, saves.CheckpointInterval = api.OfferSaves, 600
		a.Refusal = &api.Refusal{Reason: "an end by the deadline can be promised with probability 0.40 at best", Offers: append(a.Offers, time, saves)}
		a.Offers = nil
		return a
	}
	a.Plan = &api.Plan{
		BeginTime: now, TimeLimit: r.Job.Limit, FinishBy: max(r.FinishBy, soon), WorkLimit: r.Job.Limit, Slot: now + 600,
		Prob: max(r.Prob, r.Risk, .5), Estimate: .92, Forecast: .98, Careful: "the forecast is 0.98, and a promise counts on 0.94, as only 412 past waits are known", OnMiss: r.OnMiss, TimeOut: .12, Lost: .004,
		Work: times(r.Job.Size, r.Job.Limit), Evidence: api.Evidence{Sample: 412},
	}
	return a
}

func times(s workload.Size, seconds int64) api.Cost {
	return api.Cost{NodeSeconds: float64(s.Nodes) * float64(seconds), BillingSeconds: float64(s.CPUs) * float64(seconds)}
}

// whenFor tells of three jobs, or of those that are asked for.
func whenFor(q api.WhenQuery) (api.When, error) {
	by := func(probs ...float64) (list []api.StartBy) {
		for i, p := range probs {
			list = append(list, api.StartBy{At: now + int64(i+1)*3600, Prob: p})
		}
		return list
	}
	jobs := []api.Waiting{
		{
			Job: 4711, Name: "wrf", User: "alice", Partition: "main", About: "main", Nodes: 4, CPUs: 64, Limit: 7200, Since: now - 18000, Reason: "Priority", Ahead: 3, AheadNodes: 90_000,
			Holders: &api.Holders{Jobs: 5, Nodes: 8, Of: 8, Until: now + 1500, First: 4690},
			Start:   &api.Forecast{Median: now + 1800, Late: now + 7200}, End: &api.Forecast{Median: now + 5400, Late: now + 14400}, By: by(.61, .97, .999), Expected: now + 2400,
			Why:  []string{"2 of the 8 nodes of partition main cannot start jobs"},
			Help: []api.Help{{Limit: 3600, Start: api.Forecast{Median: now + 600, Late: now + 900}}, {Nodes: 2, Start: api.Forecast{Median: now + 300}}},
			Plan: "aaaaaaaaaaaa", Prob: .9, BeginBy: now + 7200, Evidence: api.Evidence{Sample: 800, Class: "main"},
		},
		{
			Job: 4712, Array: 4712, Tasks: "0-3%2", Name: "sweep", User: "alice", Partition: "main", About: "main", Nodes: 1, CPUs: 1, Limit: 600, Since: now - 60, Reason: "Resources",
			Start: &api.Forecast{Median: now + 60}, End: &api.Forecast{Median: now + 1200}, By: by(.9, 1, 1),
		},
		{Job: 4713, Name: "post", User: "alice", Partition: "main", About: "main", Nodes: 1, CPUs: 1, Limit: 600, Since: now - 60, Reason: "Dependency",
			After:    []api.Awaited{{Job: 4711, Kind: "afterok", Prob: .93, By: &api.Forecast{Median: now + 5400}}, {Job: 4712, Array: 4712, Tasks: "0-3%2", Kind: "after", Delay: 600, Prob: 1, By: &api.Forecast{Median: now + 60, Late: now + 120}}},
			Eligible: &api.Forecast{Median: now + 5400}, Start: &api.Forecast{Median: now + 5700}, End: &api.Forecast{Median: now + 6000}, By: by(.3, .8, .93),
		},
	}
	if len(q.Jobs)+len(q.ArrayTasks) > 0 {
		all := jobs
		jobs = slices.DeleteFunc(slices.Clone(all), func(w api.Waiting) bool { return !slices.Contains(q.Jobs, w.Job) })
		for _, t := range q.ArrayTasks {
			for _, w := range all {
				if w.Tasks, _, _ = slurm.CommonTasks(w.Tasks, t.Tasks); w.Tasks != "" && w.Array == t.Array {
					jobs = append(jobs, w)
				}
			}
		}
	}
	if q.Flow {
		return api.When{Jobs: jobs, Flow: flowFor(q), AsOf: now}, nil
	}
	return api.When{Jobs: jobs, AsOf: seen(strings.Join(q.Partitions, ""))}, nil
}

// flowFor is a chain of three jobs, or a job of which nothing is forecast, or nothing.
func flowFor(q api.WhenQuery) *api.Flow {
	at := func(minutes int64) *api.Forecast {
		return &api.Forecast{Median: now + 60*minutes, Late: now + 120*minutes}
	}
	switch q.Jobs[0] {
	case 4711:
		return &api.Flow{
			End: at(200), Lost: .12,
			Jobs: []api.FlowJob{
				{Job: 4711, Name: "prepare", User: "alice", Runs: true, Start: &api.Forecast{Median: now - 600, Late: now - 600}, End: at(20), Critical: 1},
				{Job: 4712, Array: 4712, Tasks: "0-9", Name: "train", User: "alice", Start: at(40), End: &api.Forecast{Median: now + 9000}, Critical: .93, After: []api.Awaited{{Job: 4711, Kind: "afterok", Prob: .94, By: at(20)}}},
				{Job: 4713, Name: "report", User: "alice", Start: at(190), End: at(200), Critical: 1, After: []api.Awaited{{Job: 4712, Array: 4712, Tasks: "0-9", Kind: "afterok", Prob: .94, By: at(180)}, {Job: 4711, Kind: "after", By: at(-10)}}},
			},
		}
	case 4730:
		return &api.Flow{Engines: "Snakemake", End: at(20), Jobs: []api.FlowJob{{Job: 4730, Name: "align", User: "alice", End: at(20)}, {Job: 4731, Name: "align", User: "alice", End: at(20)}}}
	case 4720:
		return &api.Flow{Unknown: "of job 4720 nothing is forecast: its user holds it", Jobs: []api.FlowJob{{Job: 4720, Name: "held", User: "alice", Unknown: "its user holds it"}}}
	}
	return &api.Flow{Jobs: []api.FlowJob{}}
}

// promiseFlow promises flows of 4711 with a probability of up to .9.
func promiseFlow(r api.FlowRequest) (api.FlowAnswer, error) {
	a := api.FlowAnswer{Flow: flowFor(api.WhenQuery{Jobs: []int64{4711}}), AsOf: now}
	if r.Prob == 0 {
		r.Prob = .8
	}
	if r.Prob > .9 {
		a.Refusal = &api.Refusal{
			Reason: "that all 3 jobs have ended by the deadline can be promised with probability 0.92 at best, not 0.95",
			Offers: []api.Offer{{Kind: api.OfferEnd, FinishBy: r.FinishBy, Prob: .9}, {Kind: api.OfferEnd, FinishBy: r.FinishBy + 3600, Prob: .95}},
		}
		return a, nil
	}
	a.Promised = &api.FlowPromise{User: "alice", Name: r.Name, Jobs: r.Jobs, FinishBy: r.FinishBy, Prob: r.Prob, Estimate: .92, State: api.StatePending}
	if !r.Quote {
		a.Promised.ID = "abcdefghijkl"
	}
	return a, nil
}

// flows are one that is promised and, if they are asked for, one that was missed.
func flows(q api.FlowsQuery) (api.Flows, error) {
	is := .87
	a := api.Flows{Flows: []api.FlowPromise{{
		ID: "abcdefghijkl", User: "alice", Name: "nightly", Jobs: []int64{4711, 4712, 4713}, FinishBy: now + 86400, Prob: .9, State: api.StatePending, Now: &is,
		Flow: flowFor(api.WhenQuery{Jobs: []int64{4711}}),
	}}}
	if q.Old {
		a.Flows = append(a.Flows, api.FlowPromise{
			ID: "bcdefghijklm", User: "alice", Jobs: []int64{4600}, FinishBy: now - 86400, Prob: .8, State: api.StateMissed, Note: "job 4600 still runs at the deadline", Events: []api.Event{{At: now - 86399, Kind: "settled", Text: "MISSED: job 4600 still runs at the deadline"}},
		}, api.FlowPromise{
			ID: "cdefghijklmn", User: "alice", Jobs: []int64{4730}, FinishBy: now + 86400, Prob: .8, State: api.StatePending, Flow: flowFor(api.WhenQuery{Jobs: []int64{4730}}),
		})
	}
	return a, nil
}

func predictionFor(r api.PredictRequest) (api.Prediction, error) {
	if r.Quantiles == nil {
		r.Quantiles = []float64{.5, .75, .9, .95}
	}
	class := "partition=batch limit=1h-2h"
	p := api.Prediction{
		Job: r.Job, Waiting: 31, Running: 80,
		Evidence: api.Evidence{
			Sample: 823, Class: class, Changed: now - 3*86400, Calibrated: 512.7, AsOf: seen(r.Job.Partition),
			Components: []api.Component{
				{Forecaster: "forest", Share: .6, Sample: 1000, Simulated: "FCFS with EASY backfilling"},
				{Forecaster: "simulation", Share: .1, Sample: 400},
				{Forecaster: "qbets", Share: .25, Sample: 412, Class: class, Changed: now - 3*86400},
				{Forecaster: "lastwait", Share: .049, Sample: 1},
				{Forecaster: "nowait", Share: .001},
			},
		},
	}
	if r.Job.Partition == "full" {
		p.Taken = .874
		p.Blocked = &api.Blocked{Why: "reservation maint leaves partition full 0 of 8 nodes", Start: 1_795_269_000, End: 1_795_274_400}
	}
	if r.Job.Partition == "short" {
		p.Short = "only 1 of the 8 nodes of partition short can start jobs now (7 drained), too few for the job, and when the others come back cannot be forecast"
	}
	if r.Job.Partition == "cloud" {
		p.Asleep = "nodes of partition cloud that nobody needs are powered down, and may take 00:05:00 to be up again (ResumeTimeout)"
	}
	if r.Job.Partition == "flooded" {
		p.Waiting, p.Beyond = 8031, .625
	}
	if r.Job.Partition == "gpu" {
		p.Evidence = api.Evidence{Down: "no node of partition gpu can start jobs: of 8, 3 are down and 5 drained", Components: p.Components}
	}
	slower := 1. // the more nodes are asked for, the longer jobs wait in partition wide
	if r.Job.Partition == "wide" {
		if slower = float64(r.Job.Nodes) / 4; r.Job.Nodes > 16 {
			return p, fmt.Errorf("partition wide has no more than 16 nodes")
		}
	}
	for _, q := range r.Quantiles {
		b := api.Bound{Quantile: q, Confidence: .95}
		if q < .99 && p.Down == "" && (r.Job.Partition != "unknown" || r.Job.Nodes < 8) {
			expected, seconds := q*3600*slower, q*4000*slower
			b.Expected, b.Seconds = &expected, &seconds
		}
		p.Bounds = append(p.Bounds, b)
	}
	return p, nil
}

// reservations returns a reservation in each state that is shown differently.
func reservations() []api.Reservation {
	reserve := func(job int64, user, state string, begin, deadline, hold int64) api.Reservation {
		r := api.Reservation{
			Plan: api.Plan{
				ID: fmt.Sprintf("abcdefgh%d", job), BeginTime: begin, TimeLimit: 3600 + deadline - begin, BeginBy: deadline, HoldUntil: hold,
				WorkLimit: 3600, Prob: .9, Estimate: .934, OnMiss: "run", Earliest: begin,
				Work: api.Cost{NodeSeconds: 4 * 3600, BillingSeconds: 64 * 3600},
			},
			Job: job, Name: "train", User: user, Account: "physics", Partition: "batch", Size: workload.Size{Nodes: 4, CPUs: 64},
			State: state, Promised: begin - 7200,
		}
		r.Set, r.Ceiling = api.Setting{BeginTime: begin, TimeLimit: r.TimeLimit}, r.Idle(begin)
		return r
	}
	pending := reserve(4711, "me", api.StatePending, now+1800, now+4500, now+4500)
	pending.Now = new(.957)
	holding := reserve(4712, "me", api.StateHolding, now-2400, now+600, now+600)
	holding.Now, holding.Eligible, holding.Start = new(1.), now-2400, now-900
	kept := reserve(4601, "me", api.StateKept, now-90000, now-87300, now-87300)
	kept.Eligible, kept.Start, kept.WorkStart, kept.End = now-90000, now-88500, now-87300, now-84000
	missed := reserve(4655, "alice", api.StateMissed, now-10800, now-8100, now-8100)
	missed.Eligible, missed.Start, missed.WorkStart = now-10800, now-7500, now-7500
	missed.Note = "the user moved the job's begin time"
	endangered := reserve(4713, "bob", api.StatePending, now+1800, now+4500, now+4500)
	endangered.Now, endangered.Set = new(.41), api.Setting{BeginTime: now + 2400, TimeLimit: 5700}
	endangered.Events = []api.Event{
		{At: now - 5000, Kind: "bound", Text: "job 4713"},
		{At: now - 600, Kind: "moved", Text: "begin time moved from 2026-11-21T13:30:00Z to 2026-11-21T13:40:00Z: even so its estimate is 0.95; idle nodes cost at most 2.33 node-hours, 37.33 billing-hours"},
	}
	endangered.Rescue = &api.Rescue{Prob: .912, Worst: endangered.Idle(now + 600)}
	unlikely := reserve(4714, "bob", api.StatePending, now+1800, now+4500, now+4500)
	unlikely.Now, unlikely.Note = new(.89), "the user changed the job's nodes"
	// not looked at yet
	unknown := reserve(4715, "bob", api.StatePending, now+1800, now+4500, now+4500)
	forbidden := reserve(4716, "bob", api.StatePending, now+1800, now+4500, now+4500)
	forbidden.Now, forbidden.Obstacle = new(0.), "partition batch allows 00:30:00 (MaxTime), and the job's time limit is 01:15:00"
	back := reserve(0, "me", api.StatePromised, now+1800, now+4500, now+4500)
	back.ID, back.TakenBack = "unusedunused", true
	never := reserve(0, "me", api.StateCancelled, now-10800, now-8100, now-8100)
	never.ID, never.Note = "neverneverne", "never submitted"
	return []api.Reservation{pending, holding, kept, missed, endangered, unlikely, unknown, forbidden, back, never}
}

// health answers with the notes in the file notes, and of the certificate with that in the file
// certificate, in the folder of the file asked.
func (f *fakeVarqd) health(w http.ResponseWriter, _ *http.Request) {
	h := api.Health{OK: true, Version: api.Version, History: 4012}
	if notes, err := os.ReadFile(filepath.Join(filepath.Dir(f.asked.Name()), "notes")); err == nil {
		h.Notes = strings.Split(strings.TrimSpace(string(notes)), "\n")
	}
	if text, err := os.ReadFile(filepath.Join(filepath.Dir(f.asked.Name()), "certificate")); err == nil {
		h.Certificate, h.CertificateExpires = []string{strings.TrimSpace(string(text))}, now+7200
	}
	reply(w, http.StatusOK, h)
}

func (f *fakeVarqd) reservations(w http.ResponseWriter, r *http.Request) {
	user, all := r.FormValue(api.ParamUser), r.FormValue(api.ParamAll) != ""
	job, _ := strconv.ParseInt(r.FormValue(api.ParamJob), 10, 64)
	if user == "root" {
		reply(w, http.StatusForbidden, api.Error{Error: "only operators see the reservations of others"})
		return
	}
	if r.FormValue(api.ParamName) == "held" { // of the first of pastRuns, which held for 30 min
		const start = 1794000005
		reply(w, http.StatusOK, []api.Reservation{{Job: 21, User: "me", State: api.StateKept, Start: start, WorkStart: start + 1800, Plan: api.Plan{ID: "heldheldheld", BeginBy: start + 1800}}})
		return
	}
	list := slices.DeleteFunc(reservations(), func(r api.Reservation) bool {
		switch {
		case job != 0:
			return r.Job != job
		case user == "":
			return r.User != "me" || !all && r.Job == 4601
		case user == "*":
			return !all && r.Job == 4601
		default:
			return r.User != user
		}
	})
	reply(w, http.StatusOK, list)
}

func (f *fakeVarqd) report(w http.ResponseWriter, r *http.Request) {
	groups := map[string][]string{
		"": {""}, "user": {"alice", "me"}, "account": {"physics", "chemistry"},
		"partition": {"batch", "gpu"}, "month": {"2026-10", "2026-11"},
	}
	report := api.Report{By: r.FormValue(api.ParamBy)}
	for i, group := range groups[report.By] {
		row := api.ReportRow{Group: group, Promises: 3, Cancelled: 1, Open: 2, High: 1}
		if i == 0 {
			row = api.ReportRow{
				Group: group, Promises: 130, Kept: 112, Missed: 8, Cancelled: 7, Open: 3,
				Promised: .9, Estimated: .921, Delivered: 112. / 120, Low: .8729, High: .9708,
				Required: 1234567, Used: 1543210, Ratio: 1543210. / 1234567, QoS: .811, Goodput: .72, Lost: 9000,
			}
		}
		report.Rows = append(report.Rows, row)
	}
	reply(w, http.StatusOK, report)
}

// shadow answers with one partition, or with nothing for a time from 1970 on.
func shadow(w http.ResponseWriter, r *http.Request) {
	if r.FormValue(api.ParamStart) == "86400" {
		reply(w, http.StatusOK, api.Shadow{Rows: []api.ShadowRow{}})
		return
	}
	s := api.Shadow{Watching: true, Jobs: 1400, From: now - 14*86400, To: now - 60}
	for _, partition := range []string{"", "batch"} {
		for i, p := range []float64{.5, .75, .9, .95} {
			s.Rows = append(s.Rows, api.ShadowRow{
				Partition: partition, Prob: p, Jobs: 1400, Refused: 100 * (i + 1), Kept: 700 + 50*i, Missed: 200 - 50*i, Unknown: 400 - 100*i,
				Delivered: float64(700+50*i) / 900, Low: float64(700+50*i)/900 - .02, High: float64(700+50*i)/900 + .02, Held: 3600 * float64(100*i), Ratio: .1 * float64(i),
			})
		}
	}
	reply(w, http.StatusOK, s)
}

// calibration answers with two forecasters of waits and one of ends in each of two groups, or with
// nothing for a forecaster named nobody. The second forecaster has drifted, and that of ends in the
// second group.
func calibration(w http.ResponseWriter, r *http.Request) {
	groups := map[string][]string{
		"": {""}, "partition": {"batch", "gpu"}, "class": {"nodes=1", "nodes=2-4"}, "month": {"2026-10", "2026-11"},
	}
	c := api.Calibration{By: r.FormValue(api.ParamBy), Rows: []api.CalibrationRow{}}
	for _, forecaster := range []string{"blend", "qbets", "completion"} {
		for i, group := range groups[c.By] {
			if r.FormValue(api.ParamForecaster) == "nobody" {
				continue
			}
			row := api.CalibrationRow{Forecaster: forecaster, Of: api.OfWait, Group: group, Forecasts: 1234, CalibrationError: .0123, Brier: .081}
			lost := 0.
			if forecaster == "qbets" {
				row.CalibrationError, row.Brier, lost = .0789, .1234, .1
				if i == 0 && c.By != "month" {
					row.Drift = "promises too much since 2026-11-02: 0.85 of 410 jobs were within the 0.95 quantile"
				}
			}
			if forecaster == "completion" {
				row.Of, row.Forecasts, lost = api.OfEnd, 1100, .05
				if i == 1 && c.By != "month" {
					row.Drift = "is too cautious since 2026-11-02: 0.99 of 330 jobs were within the 0.9 quantile"
				}
			}
			for _, q := range []float64{.5, .75, .9, .95} {
				row.Quantiles = append(row.Quantiles, api.QuantileCoverage{Quantile: q, Covered: q - lost, Low: q - lost - .02, High: q - lost + .02, Pinball: 4000 * q * (1 - q)})
			}
			for k := range 20 {
				p := (float64(k) + .5) / 20
				row.Reliability = append(row.Reliability, api.ReliabilityBin{Count: 10 + 20*k, Mean: p, True: p * (1 - lost*2)})
			}
			for k, said := range []string{"median", "past-median", "at-once"} {
				n := api.Near{Said: said, Forecasts: row.Forecasts, WithinMinute: .6, Within10Minutes: .8, WithinFactor2: .4 - .1*float64(k), LogError: 1.25 * float64(1+k)}
				if k == 0 {
					n.WithinMinute -= lost
				}
				row.Near = append(row.Near, n)
			}
			c.Rows = append(c.Rows, row)
		}
	}
	if r.FormValue(api.ParamPartition) == "" && r.FormValue(api.ParamForecaster) != "nobody" {
		for _, g := range []api.GroupCoverage{
			{Forecaster: "blend", Of: api.OfWait, By: "user", Jobs: 2612, Off: .4}, {Forecaster: "blend", Of: api.OfWait, By: "hour", Value: "03:00-03:59 UTC", Jobs: 512, Off: .1},
			{Forecaster: "completion", Of: api.OfEnd, By: "user", Value: "me", Jobs: 700, Off: .3}, {Forecaster: "qbets", Of: api.OfWait, By: "month", Value: "2026-11", Jobs: 9000, Off: .5},
		} {
			for _, q := range []float64{.5, .75, .9, .95} {
				g.Quantiles = append(g.Quantiles, api.HeldQuantile{Quantile: q, Covered: q - .1, Low: q - .12, High: q - .08})
			}
			c.Worst = append(c.Worst, g)
		}
	}
	reply(w, http.StatusOK, c)
}
