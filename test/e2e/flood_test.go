package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

const (
	floodJobs  = 3000
	floodTasks = 5000
)

// TestFlood: weeks of work are thrown at a calm cluster, as 3,000 jobs and as an array of
// 5,000 tasks. From the second look on, nothing is promised that the queue rules out, and varq
// says why. When all of it is withdrawn, forecasts are back with the second look.
func TestFlood(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{
		History:   site.Calm(time.Now().Unix()),
		SlurmConf: fmt.Sprintf("MaxJobCount=%d\nMaxArraySize=%d", 2*(floodJobs+floodTasks), floodTasks+1),
	})
	large := workload.Request{Size: workload.Size{Nodes: 8}, Limit: 10 * 3600}
	wantCalm := func() {
		t.Helper()
		if p := predicted(t, s, large); p.Beyond != 0 || p.Bounds[0].Expected == nil || *p.Bounds[0].Expected > 24*3600 {
			t.Errorf("while it is calm: %+v", p)
		}
		eventually(t, "what is asked for is promised, by the whole past", func() bool {
			plan := quoted(t, s, large, 12*3600, .75, false).Plan
			return plan != nil && !plan.Learning
		})
	}
	wantCalm()
	for _, flood := range []struct{ name, command string }{
		{"an array", fmt.Sprintf("sbatch -Q -N1 -c4 -t5:00:00 -o/dev/null --array=1-%d --wrap='exec sleep 1d'", floodTasks)},
		{"jobs", fmt.Sprintf("for i in {1..%d}; do sbatch -Q -N$((1+i%%8)) -t$((10+i*37%%591)) -o/dev/null --wrap='exec sleep 1d' || exit; done", floodJobs)},
	} {
		began := time.Now()
		if r, err := s.Run(t.Context(), "bob", "bash", "-c", flood.command); err != nil || r.Code != 0 {
			t.Fatalf("%s: exit code %d: %s (%v)", flood.name, r.Code, r.Stderr, err)
		}
		t.Logf("%s: submitted within %v", flood.name, time.Since(began))
		wantFlooded(t, s, large)
	}
	p := predicted(t, s, large)
	if want := floodJobs + floodTasks; p.Waiting+p.Running != want {
		t.Errorf("%d wait and %d run, of %d", p.Waiting, p.Running, want)
	}

	if r, err := s.Run(t.Context(), "root", "scancel", "--user=bob"); err != nil || r.Code != 0 {
		t.Fatalf("scancel: %s (%v)", r.Stderr, err)
	}
	eventually(t, "no job is in the queue", func() bool {
		r, err := s.Run(t.Context(), "root", "squeue", "--noheader")
		return err == nil && r.Code == 0 && r.Stdout == ""
	})
	twoLooks(t, s)
	if p := predicted(t, s, large); p.Waiting+p.Running != 0 {
		t.Errorf("when all is withdrawn, %d wait and %d run", p.Waiting, p.Running)
	}
	wantCalm()
}

// wantFlooded checks the forecasts two looks after a flood.
func wantFlooded(t *testing.T, s *site.Site, large workload.Request) {
	t.Helper()
	twoLooks(t, s)
	p := predicted(t, s, large)
	if median := p.Bounds[0].Expected; p.Beyond < .95 || median != nil && *median < 24*3600 {
		t.Errorf("weeks of work ahead are forecast as %+v", p)
	}
	t.Logf("%d wait and %d run", p.Waiting, p.Running)
	const why = "ore work is ahead than was ever learnt from"
	r := mustRun(t, s, "alice", "varq", "predict", "--why", "--nodes=8", "--time=10:00:00")
	if !strings.Contains(r.Stdout, why) {
		t.Errorf("--why says\n%s", r.Stdout)
	}
	t.Logf("varq predict --why:\n%s", r.Stdout)
	slim := workload.Request{Size: workload.Size{Nodes: 6}, Limit: 15 * 3600}
	// in the past these started at once, beside large ones that waited
	small := workload.Request{Size: workload.Size{Nodes: 1, CPUs: 4}, Limit: 600}
	for _, job := range []workload.Request{large, slim, small} {
		for _, c := range []struct {
			lead       int64
			prob       float64
			bestEffort bool
		}{{3600, .5, false}, {12 * 3600, .75, false}, {24 * 3600, .5, true}} {
			began := time.Now()
			answer := quoted(t, s, job, c.lead, c.prob, c.bestEffort)
			if answer.Refusal == nil || !strings.Contains(answer.Refusal.Reason, why) {
				t.Errorf("%d nodes, %+v: %+v, %+v", job.Nodes, c, answer.Plan, answer.Refusal)
				continue
			}
			t.Logf("%d nodes, %+v: %s (within %v)", job.Nodes, c, answer.Refusal.Reason, time.Since(began))
		}
	}
}

// patientClient returns a client that waits for answers however busy the machine is.
//
// A test has one for each site: varqd bounds how many connections a user has open.
func patientClient(t *testing.T, s *site.Site) *client.Client {
	t.Helper()
	type key struct {
		test *testing.T
		site *site.Site
	}
	if known, ok := patientClients.Load(key{t, s}); ok {
		return known.(*client.Client)
	}
	c, err := s.Client()
	if err != nil {
		t.Fatal(err)
	}
	c.Timeout = cluster.Patience
	patientClients.Store(key{t, s}, c)
	return c
}

var patientClients sync.Map

// predicted returns what varqd predicts for a job.
func predicted(t *testing.T, s *site.Site, job workload.Request) api.Prediction {
	t.Helper()
	p, err := patientClient(t, s).Predict(t.Context(), api.PredictRequest{Job: job})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// quoted returns what varqd would promise: a start of a job within lead seconds.
func quoted(t *testing.T, s *site.Site, job workload.Request, lead int64, prob float64, bestEffort bool) api.PlanAnswer {
	t.Helper()
	a, err := patientClient(t, s).Quote(t.Context(), api.PlanRequest{Job: job, BeginBy: time.Now().Unix() + lead, Prob: prob, BestEffort: bestEffort})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// twoLooks waits until varqd has taken in two looks at the queue that it began from now on.
func twoLooks(t *testing.T, s *site.Site) {
	t.Helper()
	last := float64(time.Now().Unix())
	for range 2 {
		eventually(t, "varqd looks at the queue", func() bool {
			at := looked(t, s)
			if at <= last {
				return false
			}
			last = at
			return true
		})
	}
}

// looked returns when varqd began its look at the queue that forecasts rest on, in Unix
// seconds.
func looked(t *testing.T, s *site.Site) float64 {
	t.Helper()
	metrics, err := s.Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	newest := metrics["varq_queue_newest_seconds"].GetMetric()
	if len(newest) != 1 {
		t.Fatalf("varq_queue_newest_seconds: %v", newest)
	}
	return newest[0].GetGauge().GetValue()
}
