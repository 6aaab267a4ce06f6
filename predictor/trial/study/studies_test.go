package study

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/thorough"
)

// madeUpLogs has a small log for every name. Its jobs run for minutes on a few nodes, and
// one is submitted every few seconds.
type madeUpLogs struct{}

func (madeUpLogs) Open(string) (iter.Seq2[sched.Job, error], int32, error) {
	return func(yield func(sched.Job, error) bool) {
		random := rand.New(rand.NewPCG(1, 2))
		at := int64(0)
		for id := range int64(120) {
			at += random.Int64N(200)
			job := sched.Job{
				ID: id, Submit: at, Procs: 1 + random.Int32N(200), Limit: 3600, Run: 1 + random.Int64N(3600),
				User: random.Int32N(5), Queue: 3,
			}
			if !yield(job, nil) {
				return
			}
		}
	}, 256, nil
}

func (madeUpLogs) Requests(string) (func(*sched.Job) workload.Request, error) {
	return func(j *sched.Job) workload.Request {
		return workload.Request{User: fmt.Sprint(j.User), Size: workload.Size{Nodes: j.Procs, CPUs: j.Procs}, Limit: j.Limit}
	}, nil
}

// Ran has jobs of hours, over two years.
func (madeUpLogs) Ran(string) (iter.Seq2[workload.Job, error], error) {
	return func(yield func(workload.Job, error) bool) {
		random := rand.New(rand.NewPCG(3, 4))
		for id := range int64(400) {
			job := workload.Job{ID: id, Start: 1 + id*160_000}
			job.Nodes, job.Limit, job.End = 1+random.Int32N(20), 60_000, job.Start+random.Int64N(60_000)
			if !yield(job, nil) {
				return
			}
		}
	}, nil
}

// Failures has two hundred, over two years.
func (madeUpLogs) Failures(string) (nodes []string, failures []workload.Failure, err error) {
	random := rand.New(rand.NewPCG(5, 6))
	for node := range 40 {
		nodes = append(nodes, fmt.Sprint(node))
	}
	for n := range int64(200) {
		at := 1e9 + n*320_000
		failures = append(failures, workload.Failure{Node: nodes[random.IntN(40)], Down: at, Up: at + random.Int64N(9000)})
	}
	return nodes, failures, nil
}

// brokenLogs end with an error.
type brokenLogs struct{ madeUpLogs }

var errBroken = errors.New("line 7: broken")

func (b brokenLogs) Open(name string) (iter.Seq2[sched.Job, error], int32, error) {
	jobs, procs, err := b.madeUpLogs.Open(name)
	return func(yield func(sched.Job, error) bool) {
		for job := range jobs {
			if !yield(job, nil) {
				return
			}
			if job.ID == 3 {
				yield(sched.Job{}, errBroken)
				return
			}
		}
	}, procs, err
}

func (brokenLogs) Ran(string) (iter.Seq2[workload.Job, error], error) {
	return func(yield func(workload.Job, error) bool) { yield(workload.Job{}, errBroken) }, nil
}

func (brokenLogs) Failures(string) ([]string, []workload.Failure, error) { return nil, nil, errBroken }

// replaying has the studies that replay logs.
var replaying = map[string]Study{
	"smith": Smith{},
}

// TestReplaying runs a third of the cases on small logs. Every run has the same values, and
// the report has only finite numbers although cases are missing.
func TestReplaying(t *testing.T) {
	thorough.Only(t)
	for name, s := range replaying {
		t.Run(name, func(t *testing.T) {
			o := Options{Quick: true, Seeds: 1, Traces: madeUpLogs{}}
			var outcomes []Outcome
			for i, c := range s.Cases(o) {
				if i%3 > 0 {
					continue
				}
				values, err := s.Run(o, c)
				if err != nil {
					t.Fatal(err)
				}
				if i%9 == 0 {
					again, err := s.Run(o, c)
					if diff := cmp.Diff(values, again); err != nil || diff != "" {
						t.Fatalf("%s: another outcome (%v):\n%s", c.Name, err, diff)
					}
				}
				outcomes = append(outcomes, Outcome{c, values})
			}
			report := s.Report(o, outcomes)
			if report.Name != name {
				t.Errorf("the report is %s's", report.Name)
			}
			if _, err := json.Marshal(report); err != nil {
				t.Error(err)
			}
			for _, hole := range []string{"NaN", "Inf", "TODO"} {
				if text := report.Markdown(); strings.Contains(text, hole) {
					t.Errorf("the report has %s:\n%s", hole, text)
				}
			}
			checkFigures(t, report)
		})
	}
}

func checkFigures(t *testing.T, r Report) {
	t.Helper()
	for _, f := range r.Figures {
		for _, s := range f.Series {
			if points := max(len(f.Labels), len(s.X)); len(s.Y) != points || points == 0 {
				t.Errorf("%s: %s has %d values at %d places", f.Name, s.Name, len(s.Y), points)
			}
		}
	}
}

// TestMissingOutcomes: if a case is missing, the report is about the others.
func TestMissingOutcomes(t *testing.T) {
	for name, s := range replaying {
		o := Options{Seeds: 1, Quick: true, Traces: madeUpLogs{}}
		c := s.Cases(o)[0]
		values, err := s.Run(o, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, outcomes := range [][]Outcome{nil, {{c, values}}} {
			report := s.Report(o, outcomes)
			if text := report.Markdown(); strings.Contains(text, "NaN") {
				t.Errorf("%s, %d outcomes: the report has NaN:\n%s", name, len(outcomes), text)
			}
			if _, err := json.Marshal(report); err != nil {
				t.Errorf("%s, %d outcomes: %v", name, len(outcomes), err)
			}
		}
	}
}

func TestNoLogs(t *testing.T) {
	for name, s := range replaying {
		c := s.Cases(Options{Quick: true})[0]
		if _, err := s.Run(Options{Quick: true}, c); !errors.Is(err, ErrNoTraces) {
			t.Errorf("%s without logs: %v", name, err)
		}
		if _, err := s.Run(Options{Traces: brokenLogs{}}, c); !errors.Is(err, errBroken) {
			t.Errorf("%s with a broken log: %v", name, err)
		}
		if _, err := s.Run(Options{Traces: madeUpLogs{}}, Case{Name: "no such case"}); err == nil || !strings.Contains(err.Error(), "no such case") {
			t.Errorf("%s: a case that there is not: %v", name, err)
		}
	}
}

// TestParagonLimits: jobs get the limits of their queues, which the log's header names.
// Jobs that ran longer get their run times.
func TestParagonLimits(t *testing.T) {
	for queue, hours := range map[int32]int64{
		1: 1, 3: 1, 10: 1, // q4t, q8s, q256s
		11: 4, 18: 4, 31: 4, // q32m, qf256m, q320m
		19: 12, 22: 12, 27: 12, 28: 12, // q1l, q64l, qf256l, standby
		30: 48, // q1ll
	} {
		j := sched.Job{Queue: queue, Run: 60, Limit: 500_000}
		if !paragonLimits(&j) || j.Limit != hours*3600 {
			t.Errorf("queue %d: limit %d s", queue, j.Limit)
		}
	}
	long := sched.Job{Queue: 3, Run: 5000}
	if !paragonLimits(&long) || long.Limit != 5000 {
		t.Errorf("a job that ran on has limit %d s", long.Limit)
	}
	if paragonLimits(&sched.Job{Queue: 0}) {
		t.Error("an interactive session takes part")
	}
}
