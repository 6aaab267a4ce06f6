package desk

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// defaultQuantiles are predicted if a request names none.
var defaultQuantiles = []float64{.5, .75, .9, .95}

// Predict forecasts how long the job of a request would wait if user submitted it now. A bound's
// Expected is a quantile of the forecast wait. Its Seconds is within how many seconds Plan promises
// a start with the quantile as probability, if the work starts as soon as the job does. The errors
// are faults of package api.
func (d *Desk) Predict(ctx context.Context, user string, req *api.PredictRequest) (api.Prediction, error) {
	answer, err := d.Forecast(ctx, user, req, 0)
	if err != nil || req.Forecaster == api.ForecasterDowney {
		return answer, err
	}
	v, err := d.view(ctx, user, nil)
	if err != nil {
		return api.Prediction{}, err
	}
	answer.OffersUntil = v.until
	r := trajectory.Request{Job: answer.Job, Needs: req.Needs, Now: v.now}
	v.promisable(r, answer.Bounds)
	answer.Crowded = v.crowded(r, answer.Bounds)
	answer.Careful = v.careful(r, answer.Bounds)
	return answer, v.err()
}

// Forecast is Predict without what can be promised, which takes many plans. id, if not 0, is the id
// of a job that waits already, and would be submitted anew with this request.
func (d *Desk) Forecast(ctx context.Context, user string, req *api.PredictRequest, id int64) (api.Prediction, error) {
	if isOpen(&api.PlanRequest{Job: req.Job}) {
		return d.predictAlternatives(ctx, user, req, id)
	}
	v, err := d.view(ctx, user, nil)
	if err != nil {
		return api.Prediction{}, err
	}
	job, now := req.Job, v.now
	job.User = user
	job.NodeSet, job.Reservation, job.Licences = "", "", "" // which follow from the needs
	if job, err = v.Cluster.CompleteWith(v.Cluster.OnCores(job, req.Needs), req.Needs); err != nil {
		return api.Prediction{}, api.Fault(api.ErrInvalid, err.Error())
	}
	view := v.Cluster.Job(job, req.Needs)
	if rule := ruleAgainst(view); rule != nil {
		return api.Prediction{}, api.Fault(api.ErrInvalid, "nothing is predicted for such a job: "+rule.Says)
	}
	asked := req.Quantiles
	if len(asked) == 0 {
		asked = defaultQuantiles
	}
	var got forecast.Answer
	var ok bool
	if req.Forecaster == api.ForecasterDowney {
		got, ok = d.Outlook.Downey(job)
	} else {
		got, ok = d.Outlook.Predict(job, id)
	}
	answer := api.Prediction{Job: job, Bounds: make([]api.Bound, len(asked)), Evidence: apiEvidence(&got.Evidence)}
	pieces := view.Pieces()
	windows := view.Blocked(pieces)
	answer.Blocked = postpone(&got, windows, now, job.Limit)
	waking, rule := view.Waking()
	answer.Asleep = rule.Says
	room := d.room(d.runningClaims(), false)
	answer.Taken = limitToRoom(&got.Wait, func(at int64) float64 {
		return room(workload.Claim{Request: job, Pieces: pieces, Job: id, From: at}, now, 0).Prob
	}, now)
	if clearOf(windows, now, job.Limit) > now {
		answer.Taken = 0 // the window takes it, and not running jobs
	}
	if answer.Short = view.Shortage(now); answer.Short != "" {
		// Simulations knew of too few nodes, and do not describe the queue.
		answer.Beyond, answer.Taken = 0, 0
	}
	answer.Waiting, answer.Running = d.Outlook.Queue()
	answer.AsOf, answer.Learning = d.Outlook.Seen(), d.Outlook.Learning()
	for i, q := range asked {
		answer.Bounds[i] = api.Bound{Quantile: q, Confidence: d.Confidence}
		if ok {
			after := func(wait float64) float64 {
				wait = max(wait, float64(waking))
				at := now + int64(wait)
				return wait + float64(clearOf(windows, at, job.Limit)-at)
			}
			answer.Bounds[i].Expected = quantile(&got.Wait, q, after)
		}
	}
	return answer, nil
}

// promisable sets within how many seconds from now Plan promises a start of a request with the
// quantile of each bound as probability, if the work starts as soon as its job does: one of
// delay.At, within the planner's horizon. It leaves those nil that are beyond.
//
// A plan takes long if much is in the queue. So the quantiles come in ascending order: none is
// promised sooner than those before it, nor if one of those is promised nowhere.
func (v *view) promisable(r trajectory.Request, bounds []api.Bound) {
	last := sort.Search(delay.Points, func(i int) bool { return delay.At(i) > float64(v.desk.Horizon) }) - 1
	planned := func(i int) bool {
		r.Deadline = r.Now + int64(math.Ceil(delay.At(i)))
		return v.Decide(r).Plan != nil
	}
	ascending := make([]*api.Bound, len(bounds))
	for i := range bounds {
		ascending[i] = &bounds[i]
	}
	slices.SortFunc(ascending, func(a, b *api.Bound) int { return cmp.Compare(a.Quantile, b.Quantile) })
	first := 0
	for _, b := range ascending {
		if r.Prob = b.Quantile; !planned(last) {
			return
		}
		first += sort.Search(last-first, func(i int) bool { return planned(first + i) })
		b.Seconds = new(math.Ceil(delay.At(first)))
	}
}

// later is how much later than it is forecast a start may be promised without a word about how much
// more careful a promise is, and muchLater the same about the room, in seconds.
const (
	later     = 60
	muchLater = 600
)

// isPromisedLater reports whether a start is promised so many seconds later than it is forecast, or
// not at all.
func isPromisedLater(b *api.Bound, by float64) bool {
	return b.Expected != nil && (b.Seconds == nil || *b.Seconds-*b.Expected >= by)
}

// crowded reports whether the start with the first bound's quantile is promised much later than it
// is forecast, or not at all, and would be promised sooner but for the room kept for others.
func (v *view) crowded(r trajectory.Request, bounds []api.Bound) bool {
	b := &bounds[0]
	if !isPromisedLater(b, muchLater) {
		return false
	}
	free := *v.Planner
	free.Room = v.desk.room(v.desk.held(), false)
	r.Prob, r.Deadline = b.Quantile, v.now+int64(*b.Expected)+muchLater
	return free.Decide(r).Plan != nil
}

// careful says why the start of the first bound that is promised later than it is forecast can be
// promised with less than the bound's quantile by then: a sentence without a full stop, or "".
func (v *view) careful(r trajectory.Request, bounds []api.Bound) string {
	i := slices.IndexFunc(bounds, func(b api.Bound) bool { return isPromisedLater(&b, later) })
	if i < 0 {
		return ""
	}
	wait := max(1, int64(math.Ceil(*bounds[i].Expected)))
	r.Prob, r.Deadline = bounds[i].Quantile, v.now+wait
	a := v.Decide(r)
	why := a.Careful()
	if why == "" {
		return ""
	}
	return fmt.Sprintf("of a start within %s %s", slurmtime.FormatDuration(wait), why)
}

// predictAlternatives is predict for a job that leaves several ways open in which it may be
// submitted: it returns the shortest of the predictions for one of them.
func (d *Desk) predictAlternatives(ctx context.Context, user string, req *api.PredictRequest, id int64) (best api.Prediction, err error) {
	all, _, err := d.alternatives(&api.PlanRequest{Job: req.Job})
	if err != nil {
		return best, err
	}
	shortest, found := math.Inf(1), false
	for i := range all {
		one := *req
		one.Job = all[i].request.Job
		p, failed := d.Forecast(ctx, user, &one, id)
		if failed != nil {
			err = cmp.Or(err, failed)
			continue
		}
		wait := math.Inf(1)
		if middle := p.Bounds[len(p.Bounds)/2].Expected; middle != nil {
			wait = *middle
		}
		if !found || wait < shortest {
			best, shortest, found = p, wait, true
		}
	}
	if found {
		return best, nil
	}
	return best, err
}

// ruleAgainst returns the rule by which a job never starts, or by which its wait cannot be
// forecast. It returns nil if there is none.
func ruleAgainst(job *limits.Job) *limits.Rule {
	if longest, rule := job.MaxLimit(); longest != limits.None && job.Limit > longest {
		return &rule
	}
	return cmp.Or(job.CheckSize(), job.CheckNeeds())
}

// quantile returns the q-quantile of d in seconds, or nil if it is infinite. after adds what else
// delays the job.
func quantile(d *delay.Distribution, q float64, after func(seconds float64) float64) *float64 {
	seconds := d.Quantile(q)
	if math.IsInf(seconds, 1) {
		return nil
	}
	seconds = after(seconds)
	return &seconds
}

// clearOf returns the first time, from the time at on, at which a job with a time limit does not
// run into a window. windows are in order.
func clearOf(windows []limits.Window, at, limit int64) int64 {
	for i := range windows {
		if windows[i].Stops(at, limit) {
			at = windows[i].End
		}
	}
	return at
}

// apiEvidence converts the evidence of a forecast.
func apiEvidence(e *forecast.Evidence) api.Evidence {
	a := api.Evidence{Sample: int(e.Sample), Class: e.Class, Changed: e.Changed, Beyond: e.Beyond, Down: e.Down, Calibrated: e.Recalibrated}
	for i := range e.Opinions {
		o := &e.Opinions[i]
		a.Components = append(a.Components, api.Component{
			Forecaster: o.Expert, Share: o.Weight, Sample: int(o.Sample), Class: o.Class, Changed: o.Changed, Simulated: o.Simulated,
		})
	}
	return a
}
