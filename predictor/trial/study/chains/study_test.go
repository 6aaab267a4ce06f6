package chains

import (
	"iter"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/predictor/trial/study/chains/chain"
	"github.com/varq-project/varq/test/studytest"
)

func TestReplays(t *testing.T) { studytest.Replays(t, Study{}) }

// TestReport compares the report of made-up values with the file in testdata.
func TestReport(t *testing.T) {
	measures := []string{"n pairs", "without", "gap", "n work", "idle", "n others", "wait", "n machine", "taken", "by chains"}
	for _, prob := range chain.Ladder {
		measures = append(measures, promisedWith(prob), keptWith(prob))
	}
	studytest.Report(t, Study{}, measures)
}

// longLogs are small logs whose jobs run for hours.
type longLogs struct{ studytest.Logs }

func (l longLogs) Open(name string) (iter.Seq2[sched.Job, error], int32, error) {
	jobs, procs, err := l.Logs.Open(name)
	return func(yield func(sched.Job, error) bool) {
		for job, err := range jobs {
			const longer = 6
			job.Submit, job.Limit, job.Run, job.Procs = 10*longer*job.Submit, longer*job.Limit, longer*job.Run, 1+job.Procs/10
			if !yield(job, err) {
				return
			}
		}
	}, procs, err
}

// A chain takes no more than its share, and all ways have the same chains.
func TestRun(t *testing.T) {
	for _, w := range ways {
		c := study.Case{Name: setting{logs[0], w}.name(), Seed: 1}
		v, err := Study{}.Run(study.Options{Traces: longLogs{}}, c)
		if err != nil {
			t.Fatal(err)
		}
		if v["n pairs"] == 0 || v["n work"] == 0 || v["n others"] != 90 || v["by chains"] > share*v["n machine"] {
			t.Errorf("%s: %v", w.name, v)
		}
	}
}

// Links are like jobs that ran for two hours and for half of their limits.
func TestDraw(t *testing.T) {
	jobs := []sched.Job{
		{ID: 1, Submit: 0, Procs: 1, Limit: 7200, Run: 7199},
		{ID: 2, Submit: 0, Procs: 1, Limit: 14402, Run: 7200},
		{ID: 3, Submit: 0, Procs: 4, Limit: 14400, Run: 7200},
		{ID: 4, Submit: 100, Procs: 4, Limit: 7200, Run: 9000},
		{ID: 5, Submit: 10_000_000, Procs: 1, Limit: 1, Run: 1},
	}
	seen := map[int64]int{}
	at := int64(0)
	for _, c := range draw(jobs, 100, 1) {
		if c.Begin != at || c.Links != links {
			t.Errorf("%+v begins not at %d", c, at)
		}
		at += 4 * links * c.Link.Limit / 5
		seen[c.Link.ID]++
	}
	if at > 10_000_000 || len(seen) != 2 || seen[3] == 0 || seen[4] == 0 {
		t.Errorf("until %d: %v", at, seen)
	}
}
