// Package roblitz is the study of "Elastic Grid Reservations with User-Defined Optimization
// Policies" (Röblitz, Schintke and Wendler 2005). It measures how many elastic reservations
// succeed, how many slots are tried for them, and how long the other jobs wait.
package roblitz

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/forecast/speedup"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/promise/esr"
	"github.com/varq-project/varq/predictor/promise/tariff"
	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/predictor/trial/study/roblitz/booking"
	"github.com/varq-project/varq/predictor/workload"
)

// Study implements study.Study.
type Study struct{}

const (
	usualSeeds   = 30
	quickSeeds   = 3
	jobLog       = "SDSC-BLUE-2000"
	machineProcs = 1152
	nodeProcs    = 8 // processors
	sampleJobs   = 2000
	groupJobs    = 10 // jobs, of which one is made a reservation
	allRequests  = sampleJobs / groupJobs
	accuracy     = .5
	// serialPart is the serial part of the jobs that are reserved for: that of the paper's example
	// (Table 1).
	serialPart = .01
	// mostSlots and slotGap are tsn_max and tss_gap, which the paper does not tell.
	mostSlots = elastic.DefaultSlots
	slotGap   = elastic.DefaultGap
)

// The paper's parameters, in hours.
var (
	aheads = []int{0, 2, 4, 6, 12, 24}
	ranges = []int{0, 1, 2, 5, 10, 30}
)

// The setting of Figure 7, and the range of section 4.3, in hours.
const (
	figure7Ahead, figure7Range = 2, 10
	waitsRange                 = 30
)

// The paper's methods to estimate success rates, and varq's.
const (
	byStatic   = "static"
	byHistory  = "history"
	byLoad     = "load"
	byForecast = "varq"
)

var methods = []string{byStatic, byHistory, byLoad, byForecast}

// sample is a reading of the paper's "first 2000 sound batch-jobs".
type sample string

const (
	soundBatch     sample = "" // every batch job that ran
	soundCompleted sample = "completed only"
	soundAll       sample = "interactive too"
)

var samples = []sample{soundBatch, soundCompleted, soundAll}

// takes reports whether a job is one of the sample.
func (s sample) takes(j *workload.Job) bool {
	batch := j.Partition != "interactive" && j.QOS != "interactive"
	sound := j.Start > 0 && j.End > j.Start && j.Limit > 0 && j.CPUs > 0 && j.CPUs <= machineProcs
	switch s {
	case soundCompleted:
		return sound && batch && j.State == workload.Completed
	case soundAll:
		return sound
	}
	return sound && batch
}

// setting is the setting of a case. Without a method there are no reservations.
type setting struct {
	sample      sample
	backfill    sched.Backfill
	method      string
	ahead, span int  // hours: the book-ahead time, and the time range
	elastic     bool // half to twice the processors, instead of as many
	unchecked   bool
}

func (s setting) name() string {
	words := []string{"no reservations"}
	if s.method != "" {
		words = []string{s.method, fmt.Sprintf("book-ahead %d h", s.ahead), fmt.Sprintf("range %d h", s.span)}
	}
	if s.elastic {
		words = append(words, "processors .5 to 2")
	}
	if s.unchecked {
		words = append(words, "unchecked")
	}
	if s.sample != soundBatch {
		words = append(words, string(s.sample))
	}
	if s.backfill != sched.EASY {
		words = append(words, "backfilling "+s.backfill.String())
	}
	return strings.Join(words, ", ")
}

// of returns the measure of the value of this name.
func (s setting) of(value string) study.Measure { return study.Of(s.name(), value) }

// settingAt returns the paper's setting with a method and times.
func settingAt(method string, ahead, span int) setting {
	return setting{backfill: sched.EASY, method: method, ahead: ahead, span: span}
}

// in returns the setting with another sample.
func (s setting) in(sample sample) setting {
	s.sample = sample
	return s
}

// inFigure7 returns the setting of Figure 7 for a method.
func inFigure7(method string) setting {
	return settingAt(method, figure7Ahead, figure7Range)
}

// onRange returns the setting with half to twice the processors.
func (s setting) onRange() setting {
	s.elastic = true
	return s
}

// free returns the setting in which the success rate alone decides.
func (s setting) free() setting {
	s.unchecked = true
	return s
}

// baselines are the settings without reservations, which no seed changes.
func baselines() []setting {
	var settings []setting
	for _, sample := range samples {
		for _, b := range []sched.Backfill{sched.EASY, sched.Conservative, sched.NoBackfill} {
			settings = append(settings, setting{sample: sample, backfill: b})
		}
	}
	return settings
}

// allSettings are those with reservations.
func allSettings() []setting {
	var settings []setting
	for _, ahead := range aheads {
		for _, span := range ranges {
			s := settingAt(byLoad, ahead, span)
			settings = append(settings, s, s.onRange())
		}
	}
	for _, method := range methods {
		s := inFigure7(method)
		if method != byLoad {
			settings = append(settings, s, s.onRange(), s.free())
		}
	}
	for _, sample := range samples[1:] {
		for _, method := range []string{byStatic, byHistory, byLoad} {
			settings = append(settings, inFigure7(method).in(sample))
		}
		for _, ahead := range aheads {
			settings = append(settings, settingAt(byLoad, ahead, waitsRange).in(sample))
		}
	}
	return settings
}

func (Study) seeds(o study.Options) int { return o.Repetitions(usualSeeds, quickSeeds) }

// Cases implements study.Study.
func (s Study) Cases(o study.Options) []study.Case {
	return append(study.Cross(1, baselines(), setting.name), study.Cross(s.seeds(o), allSettings(), setting.name)...)
}

// Run implements study.Study. The values of a setting without reservations are those of the sample:
// wait (seconds, mean), days from the first to the last submission, and load, the share of the
// machine that its jobs are in that time. Those of a setting with reservations are
//
//	booked                          successful requests
//	tries                           slots tried, in all
//	wait, wait without              seconds, mean over the jobs that do not reserve: with
//	                                reservations, and if no job reserves
//	longer, longer N                jobs that wait longer than if no job reserves, and by at least N
//	                                minutes
//	shorter                         jobs that wait for a shorter time
//	candidates, probable            means over the requests that succeeded: slots in the answer, and
//	                                of them with success rates above
//	                                the threshold
//	by workload, by conflict        those of them that were tried in vain, because of the known
//	                                workload and of the scheduler
//	failed candidates, ...          the same over the requests that failed, if there are any
func (Study) Run(o study.Options, c study.Case) (study.Values, error) {
	for _, s := range baselines() {
		if s.name() == c.Name {
			return s.baseline(o)
		}
	}
	s, err := study.Setting("roblitz", c, allSettings(), setting.name)
	if err != nil {
		return nil, err
	}
	return s.run(o, c.Seed)
}

// jobs returns the jobs of the sample, and what they request, by job.
func (s sample) jobs(o study.Options) (jobs []sched.Job, requests map[int64]workload.Request, err error) {
	if o.Traces == nil {
		return nil, nil, study.ErrNoTraces
	}
	log, err := o.Traces.Ran(jobLog)
	if err != nil {
		return nil, nil, err
	}
	requests = map[int64]workload.Request{}
	for j, err := range log {
		if err != nil {
			return nil, nil, err
		}
		if !s.takes(&j) {
			continue
		}
		procs := (j.CPUs + nodeProcs - 1) / nodeProcs * nodeProcs
		jobs = append(jobs, sched.Job{ID: j.ID, Submit: j.Submit, Limit: j.Limit, Run: j.End - j.Start, Procs: procs})
		request := j.Request
		request.Partition = "" // there is one pool
		requests[j.ID] = request
		if len(jobs) == sampleJobs {
			break
		}
	}
	return jobs, requests, nil
}

func (s setting) baseline(o study.Options) (study.Values, error) {
	jobs, _, err := s.sample.jobs(o)
	if err != nil || len(jobs) == 0 {
		return study.Values{}, err
	}
	experiment, err := s.experiment(nil, o, 0)
	if err != nil {
		return nil, err
	}
	span, work := float64(jobs[len(jobs)-1].Submit-jobs[0].Submit), 0.
	for _, j := range jobs {
		work += float64(min(j.Run, j.Limit)) * float64(j.Procs)
	}
	waits := experiment.Run(jobs, func(int) bool { return false }).Waits
	return study.Measured(study.Values{"wait": meanOf(waits), "days": span / 86400, "load": work / span / machineProcs}), nil
}

// experiment returns the cluster of a setting.
func (s setting) experiment(requests map[int64]workload.Request, o study.Options, seed uint64) (*booking.Experiment, error) {
	flat, err := tariff.New(tariff.Config{UnitCost: 1, UnitSeconds: 3600, Scale: tariff.Flat(), Zone: time.UTC})
	if err != nil {
		return nil, err
	}
	e := &booking.Experiment{
		Procs: machineProcs, Unit: nodeProcs, Backfill: s.backfill,
		Ahead: int64(s.ahead) * 3600, Range: int64(s.span) * 3600,
		Least: 1, Most: 1, Curve: speedup.Amdahl{Serial: serialPart},
		Prefer: elastic.DefaultPreferences(), MinProb: esr.Threshold, Slots: mostSlots, Gap: slotGap,
		Tariff: flat, Accuracy: accuracy, Unchecked: s.unchecked,
	}
	if s.elastic {
		e.Least, e.Most = .5, 2
	}
	switch s.method {
	case byStatic:
		e.Method = booking.Static(esr.PaperScale)
	case byHistory:
		e.Method = booking.History()
	case byForecast:
		request := func(j *sched.Job) workload.Request {
			r := requests[j.ID]
			r.CPUs, r.Nodes, r.Limit = j.Procs, j.Procs/nodeProcs, j.Limit
			return r
		}
		e.Method = booking.Forecast(request, seed, o.Background)
	default:
		e.Method = booking.Load()
	}
	return e, nil
}

// longerBy are the times, in minutes, of the values "longer N".
var longerBy = []int{1, 10, 30, 60, 120, 240, 480, 960, 1440}

func (s setting) run(o study.Options, seed uint64) (study.Values, error) {
	jobs, requests, err := s.sample.jobs(o)
	if err != nil {
		return nil, err
	}
	e, err := s.experiment(requests, o, seed)
	if err != nil {
		return nil, err
	}
	// Of each group one job is drawn, the same one in every setting.
	random := rand.New(rand.NewPCG(seed, 0x726f_626c))
	drawn := make([]bool, len(jobs))
	for i := 0; i+groupJobs <= len(jobs); i += groupJobs {
		drawn[i+random.IntN(groupJobs)] = true
	}
	with := e.Run(jobs, func(i int) bool { return drawn[i] })
	e.Method = booking.Load() // which no job asks
	all := e.Run(jobs, func(int) bool { return false }).Waits
	var without []int64
	for i, wait := range all {
		if !drawn[i] {
			without = append(without, wait)
		}
	}
	values := compareWaits(with.Waits, without)
	for name, v := range countBookings(with.Bookings) {
		values[name] = v
	}
	return study.Measured(values), nil
}

// compareWaits compares what jobs wait with what they would wait if no job reserved.
func compareWaits(with, without []int64) study.Values {
	v := study.Values{"wait": meanOf(with), "wait without": meanOf(without), "longer": 0, "shorter": 0}
	for _, minutes := range longerBy {
		v[fmt.Sprint("longer ", minutes)] = 0
	}
	for i, wait := range with {
		switch added := wait - without[i]; {
		case added > 0:
			v["longer"]++
			for _, minutes := range longerBy {
				if added >= int64(minutes)*60 {
					v[fmt.Sprint("longer ", minutes)]++
				}
			}
		case added < 0:
			v["shorter"]++
		}
	}
	return v
}

func countBookings(bookings []booking.Booking) study.Values {
	v := study.Values{"booked": 0, "tries": 0}
	// of those that succeeded and that failed
	var parts [2]struct{ n, candidates, probable, workload, conflict float64 }
	for _, b := range bookings {
		part := &parts[0]
		if b.Slot == nil {
			part = &parts[1]
		} else {
			v["booked"]++
			v["tries"]++
		}
		part.n++
		part.candidates += float64(b.Candidates)
		part.probable += float64(b.Probable)
		part.workload += float64(b.Workload)
		part.conflict += float64(b.Conflict)
		v["tries"] += float64(b.Workload + b.Conflict)
	}
	for i, prefix := range []string{"", "failed "} {
		p := parts[i]
		v[prefix+"candidates"], v[prefix+"probable"] = p.candidates/p.n, p.probable/p.n
		v[prefix+"by workload"], v[prefix+"by conflict"] = p.workload/p.n, p.conflict/p.n
	}
	return v
}

func meanOf(seconds []int64) float64 {
	var x []float64
	for _, s := range seconds {
		x = append(x, float64(s))
	}
	return study.Mean(x)
}
