package selfscore

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/live/scores"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// now is the time at which the tests begin: noon of a day.
const now = 20_000*86400 + 43_200

// fixture is a Scorer with a real store, and the questions that it has asked.
type fixture struct {
	*Scorer
	looking  sync.Mutex // guards waits
	waits    look.Waits
	path     string
	file     *sqlitefile.File
	scores   *scores.Store
	asked    []forecast.Question
	says     []NamedAnswer
	drift    string
	log      bytes.Buffer
	registry *prometheus.Registry
}

func start(t *testing.T) *fixture {
	f := &fixture{path: filepath.Join(t.TempDir(), "ledger.db"), says: []NamedAnswer{{Forecaster: "blend", Answer: forecast.Answer{Wait: *forecasttest.ExponentialOrNone(.5, 600)}}}}
	f.open(t)
	t.Cleanup(func() { f.file.Close() })
	return f
}

// open starts a Scorer.
func (f *fixture) open(t *testing.T) {
	t.Helper()
	f.waits = look.Waits{}
	if f.file != nil {
		f.file.Close()
	}
	var err error
	if f.file, err = statefile.Open(f.path); err != nil {
		t.Fatal(err)
	}
	f.scores = scores.New(f.file)
	calibrated := func(context.Context, api.CalibrationQuery) (api.Calibration, error) {
		return api.Calibration{Rows: []api.CalibrationRow{{
			Forecaster: "blend", CalibrationError: .02, Drift: f.drift,
			Quantiles: []api.QuantileCoverage{{Quantile: .95, Covered: .9, Pinball: 70}},
		}}}, nil
	}
	f.registry = prometheus.NewRegistry()
	log := slog.New(slog.NewTextHandler(&f.log, nil))
	f.Scorer, err = New(t.Context(), Options{
		Store: f.scores, Most: 10, Rand: rand.New(rand.NewPCG(1, 1)),
		Ask: func(_ context.Context, q *forecast.Question) []NamedAnswer {
			f.asked = append(f.asked, *q)
			return f.says
		},
		Calibration: calibrated, Log: log,
		Metrics: NewMetrics(f.registry, calibrated, func() int64 { return now }, log),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// job returns a job that waits since a time. It has started if start is not 0.
func job(id, eligible, start int64) slurm.QueueEntry {
	return slurm.QueueEntry{Job: workload.Job{
		ID: id, Submit: eligible, Eligible: eligible, Start: start, Request: workload.Request{Partition: "batch", Limit: 3600},
	}}
}

// observe has the Scorer look at a queue.
func (f *fixture) observe(t *testing.T, at int64, queue ...slurm.QueueEntry) error {
	f.looking.Lock()
	defer f.looking.Unlock()
	l := look.New(queue, at)
	return f.ObserveQueue(t.Context(), l, f.waits.Begun(l))
}

func (f *fixture) look(t *testing.T, at int64, queue ...slurm.QueueEntry) {
	t.Helper()
	if err := f.observe(t, at, queue...); err != nil {
		t.Fatal(err)
	}
}

// scored returns how many forecasts have been scored.
func (f *fixture) scored(t *testing.T) (n int) {
	t.Helper()
	table, err := f.scores.Scored(t.Context(), scores.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range table {
		n += s.Forecasts
	}
	return n
}

func TestJobsAreAskedAboutOnceAndScored(t *testing.T) {
	f := start(t)
	f.look(t, now, job(1, now-50, 0)) // began to wait at an unknown time
	if len(f.asked) != 0 {
		t.Fatalf("asked %v at the first look", f.asked)
	}
	f.look(t, now+60, job(1, now-50, 0), job(2, now+10, 0), job(3, now+20, now+25), job(4, 0, 0), job(5, now+600, 0))
	want := []forecast.Question{
		{Request: job(2, 0, 0).Request, Now: now + 10, Submit: now + 10, Job: 2},
		{Request: job(3, 0, 0).Request, Now: now + 20, Submit: now + 20, Job: 3},
	}
	if diff := cmp.Diff(want, f.asked); diff != "" {
		t.Error(diff)
	}
	if n := f.scored(t); n != 1 {
		t.Errorf("%d are scored, of one that started", n)
	}
	f.look(t, now+120, job(1, now-50, now+70), job(2, now+10, 0), job(3, now+20, now+25), job(4, now+90, 0))
	if len(f.asked) != 3 || f.asked[2].Submit != now+90 {
		t.Errorf("asked %v: a job whose begin time has come is asked about, others not again", f.asked)
	}
	f.look(t, now+180, job(2, now+10, now+130), job(3, now+20, now+25))
	f.look(t, now+240, job(2, now+10, now+130))
	if n := f.scored(t); n != 2 {
		t.Errorf("%d are scored, of two that started", n)
	}
}

func TestJobsThatAreLeftOut(t *testing.T) {
	f := start(t)
	f.look(t, now)
	array, leader, component, held := job(1, now+1, 0), job(2, now+1, 0), job(3, now+1, 0), job(4, now+1, 0)
	array.ArrayJob, array.ArrayTasks = 1, "1-9"
	leader.HetJob, component.HetJob, held.Held = 2, 2, true
	f.look(t, now+60, array, leader, component, held)
	if len(f.asked) != 1 {
		t.Errorf("asked about %d, of one", len(f.asked))
	}
	leader.Held = true
	f.look(t, now+120, leader)
	if left, err := f.scores.UnscoredJobs(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("%v, %v: a job that is held is still to be scored", left, err)
	}
	var many []slurm.QueueEntry
	for i := range int64(100) {
		many = append(many, job(100+i, now+150, 0))
	}
	f.look(t, now+180, many...)
	if len(f.asked) != 1+f.Most {
		t.Errorf("asked about %d more, of at most %d", len(f.asked)-1, f.Most)
	}
	f.look(t, now+240, many...)
	if len(f.asked) != 1+f.Most {
		t.Error("asked later about those beyond")
	}
}

func TestRestartLosesNothing(t *testing.T) {
	f := start(t)
	f.look(t, now)
	f.look(t, now+60, job(1, now+10, 0), job(2, now+10, 0), job(3, now+10, 0))
	f.open(t)
	f.look(t, now+3600, job(1, now+10, now+300))
	quick, cancelled := job(2, now+10, now+100).Job, job(3, now+10, 0).Job
	cancelled.State = workload.Cancelled
	unknown := job(9, now+10, now+20).Job
	if err := f.ObserveAccounting(t.Context(), []workload.Job{quick, cancelled, unknown}); err != nil {
		t.Fatal(err)
	}
	if err := f.ObserveAccounting(t.Context(), []workload.Job{quick}); err != nil {
		t.Fatal(err)
	}
	left, err := f.scores.UnscoredJobs(t.Context())
	if n := f.scored(t); n != 2 || err != nil || len(left) != 0 {
		t.Errorf("%d are scored, of two; %v left, %v", n, left, err)
	}
}

// withEnds makes the fixture forecast ends too.
func (f *fixture) withEnds() {
	f.says = append(f.says, NamedAnswer{Forecaster: completion.Name, Answer: forecast.Answer{Wait: *forecasttest.ExponentialOrNone(0, 1800)}})
}

// scoredOf returns how many forecasts of waits and of ends have been scored, and which jobs are
// open.
func (f *fixture) scoredOf(t *testing.T) (waits, ends int, open map[workload.Submission]scores.Open) {
	t.Helper()
	table, err := f.scores.Scored(t.Context(), scores.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for k, s := range table {
		if scores.OfEnd(k.Forecaster) {
			ends += s.Forecasts
		} else {
			waits += s.Forecasts
		}
	}
	if open, err = f.scores.UnscoredJobs(t.Context()); err != nil {
		t.Fatal(err)
	}
	return waits, ends, open
}

// A job's end is scored once accounting tells of it, however the job ended. That of one that did
// not start, was requeued, or lost its nodes, is not. The wait is scored either way if the job has
// started.
func TestEnds(t *testing.T) {
	const eligible = now + 10
	for name, test := range map[string]struct {
		change      func(*workload.Job)
		waits, ends int
		open        bool
	}{
		"completed":             {func(j *workload.Job) { j.State = workload.Completed }, 1, 1, false},
		"failed by itself":      {func(j *workload.Job) { j.State = workload.Failed }, 1, 1, false},
		"at its limit":          {func(j *workload.Job) { j.State, j.End = workload.TimedOut, j.Start+3600 }, 1, 1, false},
		"cancelled as it ran":   {func(j *workload.Job) { j.State = workload.Cancelled }, 1, 1, false},
		"cancelled before":      {func(j *workload.Job) { j.State, j.Start = workload.Cancelled, 0 }, 0, 0, false},
		"expired":               {func(j *workload.Job) { j.State, j.Start, j.Expired = workload.Cancelled, 0, true }, 0, 0, false},
		"requeued":              {func(j *workload.Job) { j.State = workload.Requeued }, 1, 0, false},
		"preempted":             {func(j *workload.Job) { j.State, j.Evicted = workload.Failed, true }, 1, 0, false},
		"requeued while waits":  {func(j *workload.Job) { j.State, j.Start = workload.Requeued, 0 }, 0, 0, false},
		"still runs":            {func(j *workload.Job) { j.State, j.End = workload.Running, 0 }, 1, 0, true},
		"ended before it began": {func(j *workload.Job) { j.State, j.End = workload.Completed, j.Start-1 }, 1, 0, false},
		"of another wait":       {func(j *workload.Job) { j.State, j.Eligible = workload.Completed, eligible+5 }, 0, 0, false},
	} {
		f := start(t)
		f.withEnds()
		f.look(t, now)
		f.look(t, now+60, job(1, eligible, 0))
		j := job(1, eligible, eligible+100).Job
		j.End = j.Start + 900
		test.change(&j)
		for range 2 { // accounting tells of each several times
			if err := f.ObserveAccounting(t.Context(), []workload.Job{j}); err != nil {
				t.Fatal(err)
			}
		}
		waits, ends, open := f.scoredOf(t)
		if waits != test.waits || ends != test.ends || (len(open) == 1) != test.open || len(f.unscored) != len(open) {
			t.Errorf("%s: %d waits and %d ends are scored, want %d and %d; open is %v, known %v", name, waits, ends, test.waits, test.ends, open, f.unscored)
		}
	}
}

// The start, seen in the queue, leaves the forecast of the end open. What is then seen of the job
// in the queue does not count, and neither does a restart.
func TestEndsAfterARestart(t *testing.T) {
	f := start(t)
	f.withEnds()
	f.look(t, now)
	f.look(t, now+60, job(1, now+10, 0), job(2, now+10, 0))
	f.look(t, now+120, job(1, now+10, now+70), job(2, now+10, now+80))
	suspended := job(1, now+10, now+70)
	suspended.Held, suspended.AtLimit = true, true
	f.look(t, now+180, suspended, job(2, now+10, now+80))
	again := job(2, now+10, 0)
	again.Submit, again.Eligible = now+200, now+200
	f.look(t, now+240, suspended, again) // job 2 was requeued
	key := func(j *workload.Job) workload.Submission { return workload.Submission{ID: j.ID, Submit: j.Submit} }
	waits, ends, open := f.scoredOf(t)
	if diff := cmp.Diff(map[workload.Submission]scores.Open{key(&suspended.Job): {End: true}, {ID: 2, Submit: now + 10}: {End: true}, key(&again.Job): {Wait: true, End: true}}, open); waits != 2 || ends != 0 || diff != "" {
		t.Errorf("%d waits and %d ends, of 2 and 0 %s", waits, ends, diff)
	}
	f.open(t)
	first, second := job(2, now+10, now+80).Job, again.Job
	first.State, first.End = workload.Requeued, now+190
	second.State, second.Start, second.End = workload.Completed, now+300, now+400
	suspended.State, suspended.End = workload.TimedOut, now+70+3600
	if err := f.ObserveAccounting(t.Context(), []workload.Job{first, second, suspended.Job}); err != nil {
		t.Fatal(err)
	}
	if waits, ends, open := f.scoredOf(t); waits != 3 || ends != 2 || len(open) != 0 {
		t.Errorf("%d waits and %d ends, of 3 and 2; %v is open", waits, ends, open)
	}
}

// A job that is held before it starts is scored for neither.
func TestHeldJobsHaveNoEnd(t *testing.T) {
	f := start(t)
	f.withEnds()
	f.look(t, now)
	f.look(t, now+60, job(1, now+10, 0))
	held := job(1, now+10, 0)
	held.Held = true
	f.look(t, now+120, held)
	ended := job(1, now+10, now+600).Job
	ended.State, ended.End = workload.Completed, now+700
	if err := f.ObserveAccounting(t.Context(), []workload.Job{ended}); err != nil {
		t.Fatal(err)
	}
	if waits, ends, open := f.scoredOf(t); waits != 0 || ends != 0 || len(open) != 0 {
		t.Errorf("%d waits and %d ends; %v is open", waits, ends, open)
	}
}

// brokenStore is a Store on a full disk.
type brokenStore struct{ Store }

var errFull = errors.New("the disk is full")

func (brokenStore) Score(context.Context, scores.Changes, *rand.Rand) (score.Table, error) {
	return nil, errFull
}

func TestStartsAreTriedAgain(t *testing.T) {
	f := start(t)
	f.look(t, now)
	f.look(t, now+60, job(1, now+10, 0))
	working := f.Store
	f.Store = brokenStore{working}
	if err := f.observe(t, now+120, job(1, now+10, now+90), job(2, now+70, 0)); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
	f.Store = working
	f.look(t, now+180, job(1, now+10, now+90), job(2, now+70, 0))
	if n := f.scored(t); n != 1 {
		t.Errorf("%d are scored, of one that started", n)
	}
}

func TestClassesNameNoUser(t *testing.T) {
	f := start(t)
	f.says[0].Class = "partition=batch user=alice " + strings.Repeat("ü", 200)
	f.look(t, now)
	f.look(t, now+60, job(1, now+10, now+20))
	table, err := f.scores.Scored(t.Context(), scores.Query{ByClass: true})
	if err != nil || len(table) != 1 {
		t.Fatal(table, err)
	}
	for k := range table {
		if strings.Contains(k.Class, "alice") || !strings.HasPrefix(k.Class, "partition=batch ü") || len(k.Class) > maxClass || strings.ContainsRune(k.Class, '�') {
			t.Errorf("class %q", k.Class)
		}
	}
}

// TestExactForecastsScoreSo plays a day in which waits have exactly the distribution that
// was forecast; half of the waits are 0. The scores show it, however rarely the queue is
// read.
func TestExactForecastsScoreSo(t *testing.T) {
	f := start(t)
	r := rand.New(rand.NewPCG(4, 4))
	truth := forecasttest.ExponentialOrNone(.5, 600)
	var jobs []slurm.QueueEntry
	for i := range int64(1500) {
		eligible := now + 1 + 50*i
		wait := int64(math.Ceil(truth.Quantile(r.Float64())))
		jobs = append(jobs, job(i, eligible, eligible+wait))
	}
	for at := int64(now); at < now+90_000; at += 200 {
		var queue []slurm.QueueEntry
		for _, j := range jobs {
			if j.Eligible <= at && at < j.Start+300 { // each runs for 5 minutes
				if j.Start > at {
					j.Start = 0
				}
				queue = append(queue, j)
			}
		}
		f.look(t, at, queue...)
	}
	table, err := f.scores.Scored(t.Context(), scores.Query{})
	if err != nil {
		t.Fatal(err)
	}
	var sums score.Sums
	for _, s := range table {
		sums.Plus(s)
	}
	if sums.Forecasts != len(jobs) {
		t.Errorf("%d of %d jobs are scored", sums.Forecasts, len(jobs))
	}
	for i, q := range score.Levels {
		if share := sums.Coverage(i).Share(); math.Abs(share-q) > .03 {
			t.Errorf("%v of the waits within the %v quantile", share, q)
		}
	}
}

func TestMetricsAndLog(t *testing.T) {
	f := start(t)
	f.drift = "promises too much since yesterday"
	f.look(t, now)
	f.look(t, now+60, job(1, now+10, now+20))
	if n := strings.Count(f.log.String(), "promises too much"); n != 1 {
		t.Errorf("the drift was logged %d times on one day", n)
	}
	f.look(t, now+86400)
	if n := strings.Count(f.log.String(), "promises too much"); n != 2 {
		t.Errorf("the drift was logged %d times on two days", n)
	}
	families, err := f.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		m := family.GetMetric()[0]
		got[family.GetName()] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
	}
	want := map[string]float64{
		"varq_forecasts_scored_total": 1, "varq_forecast_coverage": .9, "varq_forecast_calibration_error": .02, "varq_forecast_drift": 1,
		"varq_forecast_pinball_seconds": 70,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPartitionsInMetricsAreBounded(t *testing.T) {
	f := start(t)
	table := score.Table{}
	for i := range int64(mostPartitions + 20) {
		table.At(score.Key{Forecaster: "blend", Partition: strings.Repeat("p", int(i)+1)}).Forecasts = 1
	}
	f.Metrics.count(table)
	f.Metrics.count(table)
	families, err := f.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if n := len(family.GetMetric()); family.GetName() == "varq_forecasts_scored_total" && n != mostPartitions+1 {
			t.Errorf("%d partitions", n)
		}
	}
}

func TestLooksAndAccountingAtOnce(t *testing.T) {
	f := start(t)
	f.look(t, now)
	var wg sync.WaitGroup
	for i := range int64(20) {
		wg.Go(func() { _ = f.observe(t, now+60, job(i, now+60, 0)) })
		wg.Go(func() { _ = f.ObserveAccounting(t.Context(), []workload.Job{job(i, now+60, now+70).Job}) })
	}
	wg.Wait()
	for i := range int64(20) {
		if err := f.ObserveAccounting(t.Context(), []workload.Job{job(i, now+60, now+70).Job}); err != nil {
			t.Fatal(err)
		}
	}
	if n, asked := f.scored(t), len(f.asked); n != asked || n == 0 {
		t.Errorf("%d are scored, %d were asked about", n, asked)
	}
}
