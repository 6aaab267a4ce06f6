package outlook

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/workload"
)

const (
	now = 1_800_000_000
	day = 86_400
)

// past returns one job an hour of the last day that waited ten minutes and ran for two
// hours.
func past() []workload.Job {
	var jobs []workload.Job
	for at := int64(now - 86400); at < now-2*3600; at += 3600 {
		jobs = append(jobs, workload.Job{
			ID: at, Request: workload.Request{User: "alice", Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 7200},
			Submit: at, Eligible: at, Start: at + 600, End: at + 7800, State: workload.Completed,
		})
	}
	return jobs
}

func newOutlook(own ...forecast.Forecaster) *Outlook {
	return New(Options{SiteForecasters: own, Confidence: .95, Now: func() int64 { return now }})
}

// learn returns a Model that has learnt the past.
func learn(t *testing.T, o *Outlook) *Model {
	t.Helper()
	m := o.NewModel(nil)
	if err := m.Learn(t.Context(), past(), func(int64) {}); err != nil {
		t.Fatal(err)
	}
	return m
}

// certain is a site's own forecaster for which every job starts at once. It counts what
// it observes.
type certain struct{ submitted, started, ended, prepared, relearnt int }

func (*certain) Name() string { return "certain" }
func (*certain) Forecast(_ *forecast.Question, a *forecast.Answer) bool {
	*a = forecast.Answer{}
	for i := range delay.Points {
		a.Wait[i] = 1
	}
	return true
}
func (c *certain) Submitted(*workload.Job)       { c.submitted++ }
func (c *certain) Started(*workload.Job)         { c.started++ }
func (c *certain) Ended(*workload.Job)           { c.ended++ }
func (c *certain) Prepare(q []forecast.Question) { c.prepared = len(q) }
func (c *certain) Relearn()                      { c.relearnt++ }

func TestOwnForecastersTakePart(t *testing.T) {
	var own certain
	o := newOutlook(&own)
	m := learn(t, o)
	m.Serve()
	r := past()[0].Request
	answer, ok := o.Predict(r, 0)
	if !ok || !slices.ContainsFunc(answer.Opinions, func(o forecast.Opinion) bool { return o.Expert == "certain" && o.Weight > 0 }) {
		t.Errorf("%+v, %v", answer.Evidence, ok)
	}
	asked, _ := o.Ask(&forecast.Question{Request: r, Now: now, Submit: now})
	for _, name := range []string{"blend", "qbets", "certain"} {
		if !slices.Contains(asked, name) {
			t.Errorf("%s is not among those that were asked: %v", name, asked)
		}
	}
	c := []workload.Candidate{{Submit: now, Limit: 600, Budget: 600}, {Submit: now + 300, Limit: 600, Budget: 300}, {Submit: now + 300, Limit: 600, Budget: 400}}
	o.Forecast(r, now, c, make([]workload.Estimate, len(c)))
	if own.prepared != 2 {
		t.Errorf("prepared for %d submissions of 2", own.prepared)
	}
}

// A site's own forecaster observes what happens while a Model serves, but not what the Model
// learns. It learns again when a new Model replaces an old one.
func TestOwnForecastersJoinLate(t *testing.T) {
	var own certain
	o := newOutlook(&own)
	m := learn(t, o)
	if own != (certain{}) {
		t.Errorf("observed before the Model serves: %+v", own)
	}
	m.Serve()
	j := past()[0]
	j.ID, j.Submit, j.Eligible, j.Start, j.End = 7, now, now, now+1, now+2
	for _, e := range forecast.Events([]workload.Job{j}) {
		m.Observe(&e)
	}
	if want := (certain{submitted: 1, started: 1, ended: 1}); own != want {
		t.Errorf("observed %+v, want %+v", own, want)
	}
	learn(t, o).Serve()
	if own.relearnt != 1 {
		t.Errorf("told to learn again %d times", own.relearnt)
	}
}

// The odds of promises outlive a restart, and a new Model.
func TestOddsOutliveTheModel(t *testing.T) {
	o := newOutlook()
	o.OldOdds = []forecast.Odds{{Range: 1, Missed: 1, Expected: 2}, {User: "alice", Range: 3, Missed: 3, Expected: 4}}
	if o.Odds() != nil {
		t.Error("something is known before the past is")
	}
	for range 2 {
		learn(t, o).Serve()
		if odds := o.Odds(); !slices.Equal(odds, o.OldOdds) {
			t.Errorf("%v, want %v", odds, o.OldOdds)
		}
	}
}

func TestNothingIsKnownBeforeAModelServes(t *testing.T) {
	o := newOutlook()
	r := past()[0].Request
	estimates := []workload.Estimate{{Prob: .5}}
	o.Forecast(r, now, []workload.Candidate{{Submit: now, Limit: 600, Budget: 600}}, estimates)
	o.Promise(7, 0, r, now+1000, now+2000, true)
	if names, _ := o.Ask(&forecast.Question{Request: r, Now: now, Submit: now}); len(names) > 0 {
		t.Errorf("%s answer", names)
	}
	_, ok := o.Predict(r, 0)
	waiting, running := o.Queue()
	starts, newest := o.StartsObserved()
	if got := fmt.Sprint(estimates[0].Prob, ok, waiting, running, starts, newest); got != "0 false 0 0 0 0" {
		t.Errorf("known is %s", got)
	}
	learn(t, o).Serve()
	if starts, newest := o.StartsObserved(); starts != len(past()) || newest != past()[len(past())-1].Start {
		t.Errorf("learnt %d starts until %d", starts, newest)
	}
}

func TestLearning(t *testing.T) {
	o := newOutlook()
	var last int64
	if err := o.NewModel(nil).Learn(t.Context(), past(), func(percent int64) { last = percent }); err != nil || last != 100 {
		t.Errorf("%v after %d%%", err, last)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.NewModel(nil).Learn(ctx, past(), func(int64) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestOutageIsAnswered(t *testing.T) {
	o := newOutlook()
	m := learn(t, o)
	m.Serve()
	m.Hear(expert.News{Outages: []qbets.Outage{{Partition: "main", From: now - 60, Reason: "partition main is down"}}})
	if a, _ := o.Predict(past()[0].Request, 0); a.Down != "partition main is down" {
		t.Errorf("down: %q", a.Down)
	}
}

// Jobs of a kind of which too few are known are not forecast from those of other kinds: jobs with
// GPUs, or of another partition.
func TestUnknownKinds(t *testing.T) {
	o := newOutlook()
	m := learn(t, o)
	m.Serve()
	known := workload.Request{User: "alice", Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 7200}
	other, gpus := known, known
	other.Partition, gpus.GPUs = "gpu", 1
	ask := func(r workload.Request) workload.Estimate {
		est := make([]workload.Estimate, 1)
		o.Forecast(r, now, []workload.Candidate{{Submit: now, Limit: 7200, Budget: 36000}}, est)
		a, ok := o.Predict(r, 0)
		if ok != (est[0].Down == "") || a.Down != est[0].Down {
			t.Errorf("%+v: predicted %v with %q, forecast with %q", r, ok, a.Down, est[0].Down)
		}
		return est[0]
	}
	if says := tooFew(&known, 0, 24); !strings.HasPrefix(says, "0 jobs without GPUs are known") {
		t.Errorf("where jobs with GPUs are known: %s", says)
	}
	if says := tooFew(&known, 1, 24); !strings.HasPrefix(says, "1 job without GPUs is known") {
		t.Errorf("where one such job is known: %s", says)
	}
	if e := ask(known); e.Prob == 0 || e.Down != "" {
		t.Errorf("a known kind of job: %+v", e)
	}
	for r, says := range map[workload.Request]string{
		other: "0 jobs are known to have started in partition gpu, and a forecast needs 20; once there are as many, ask again",
		gpus:  "0 jobs with GPUs are known to have started in partition main, and a forecast needs 20; once there are as many, ask again",
	} {
		if e := ask(r); e.Prob != 0 || e.Down != says {
			t.Errorf("an unknown kind of job: %+v", e)
		}
	}
	for i := range int64(leastPast) {
		observer{m}.Started(&workload.Job{ID: i, Request: gpus, Submit: now - 100, Eligible: now - 100, Start: now - 50})
	}
	if e := ask(gpus); e.Down != "" {
		t.Errorf("after %d jobs with GPUs: %+v", leastPast, e)
	}
}

// varied returns jobs of many users, one in three quarters of an hour, that have waited for up to
// a quarter of an hour.
func varied(since, until int64) []workload.Job {
	var jobs []workload.Job
	random := rand.New(rand.NewPCG(uint64(since), 1))
	for at := since; at < until; at += 2700 {
		jobs = append(jobs, workload.Job{
			ID: at, Request: workload.Request{User: fmt.Sprint("user", random.IntN(17)), Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 7200},
			Submit: at, Eligible: at, Start: at + random.Int64N(900), End: at + 1800, State: workload.Completed,
		})
	}
	return jobs
}

// burst lets 40 jobs of a user wait until their promises are missed, and returns what may then
// be promised to alice and to the user for a job like theirs. The jobs have promises if
// promised, and are marked by mark. Then ordinary days follow.
func burst(t *testing.T, user string, promised bool, mark func(*workload.Job), days int64) (alice, own float64) {
	t.Helper()
	clock := int64(now)
	o := New(Options{Confidence: .95, Now: func() int64 { return clock }})
	m := o.NewModel(nil)
	if err := m.Learn(t.Context(), varied(now-20*day, now), func(int64) {}); err != nil {
		t.Fatal(err)
	}
	m.Serve()
	const budget = 800
	r := varied(now, now+1)[0].Request
	if user != "" {
		var jobs []workload.Job
		for i := range int64(40) {
			j := workload.Job{ID: 1 + i, Request: r, Submit: now, Eligible: now + 300, Start: now + 300 + budget + 60 + i, State: workload.Running}
			j.User = user
			mark(&j)
			if promised {
				o.Promise(j.ID, 0, j.Request, j.Eligible, j.Eligible+budget, true)
			}
			jobs = append(jobs, j)
		}
		for _, e := range forecast.Events(jobs) {
			clock = e.At
			m.Observe(&e)
		}
		for i := range jobs {
			jobs[i].End, jobs[i].State = clock+60, workload.Completed
			m.Observe(&forecast.Event{At: clock + 60, Kind: forecast.Ended, Job: &jobs[i]})
		}
	}
	clock = now + 3600
	for _, e := range forecast.Events(varied(clock, clock+days*day)) {
		clock = e.At
		m.Observe(&e)
	}
	clock++
	prob := func(user string) float64 {
		var est [1]workload.Estimate
		asks := r
		asks.User = user
		o.Forecast(asks, clock, []workload.Candidate{{Submit: clock, Limit: r.Limit, Budget: budget}}, est[:])
		return est[0].Prob
	}
	return prob("alice"), prob(user)
}

// When 40 promises of one user are missed, the probabilities of others stay as they are, and
// hers fall.
func TestOneUserDoesNotSpoilForecasts(t *testing.T) {
	without, before := burst(t, "mallory", false, plain, 10) // the waits, and no promises
	alice, own := burst(t, "mallory", true, plain, 10)
	if before < .7 || math.Abs(without-alice) > .03 || own > before-.1 {
		t.Errorf("alice gets %.3f instead of %.3f, mallory %.3f instead of %.3f", alice, without, own, before)
	}
}

// When 40 jobs wait for one node, or for a limit of their user, the probabilities of other jobs
// stay as they are, whether they have promises or not. Plain jobs in their place would make them 0.
func TestJobsApartDoNotSpoilForecasts(t *testing.T) {
	before, _ := burst(t, "", false, plain, 0)
	for name, mark := range map[string]func(*workload.Job){
		"narrow":   func(j *workload.Job) { j.NodeSet = "n1" },
		"at limit": func(j *workload.Job) { j.AtLimit = true },
	} {
		without := before
		for _, promised := range []bool{false, true} {
			alice, _ := burst(t, "mallory", promised, mark, 0)
			if before < .5 || math.Abs(without-alice) > .05 {
				t.Errorf("%s, promised %v: alice gets %.3f instead of %.3f", name, promised, alice, without)
			}
			without = alice // one user's missed promises count for little
		}
	}
}

// plain marks nothing.
func plain(*workload.Job) {}

// A job whose user lowers its priority is forecast if that lets hardly anybody go before it.
func TestNice(t *testing.T) {
	o := newOutlook()
	m := learn(t, o)
	m.Serve()
	ask := func(nice int64) string {
		r := past()[0].Request
		r.Nice = nice
		var est [1]workload.Estimate
		o.Forecast(r, now, []workload.Candidate{{Submit: now, Limit: r.Limit, Budget: 36000}}, est[:])
		return est[0].Down
	}
	if got := ask(10); !strings.HasPrefix(got, "--nice=10: any job that comes later may go before this one") {
		t.Errorf("while no priorities are known: %q", got)
	}
	for i := range int64(100) {
		j := workload.Job{ID: 1000 + i, Request: past()[0].Request, Submit: now, Eligible: now, State: workload.Pending, Priority: 1000 + 10*(i*37%100)}
		m.Observe(&forecast.Event{At: now, Kind: forecast.Submitted, Job: &j})
	}
	for nice, want := range map[int64]string{0: "", 50: "", 300: "% of the jobs that come later would go before this one only because of it"} {
		if got := ask(nice); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("--nice=%d: %q", nice, got)
		}
	}
}
