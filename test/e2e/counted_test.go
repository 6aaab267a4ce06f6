package e2e

import (
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
)

// TestCounted: what Slurm counts besides CPUs and memory: GPUs by type, licences, and what a QOS allows.
func TestCounted(t *testing.T) {
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{
		History:  byType(time.Now().Unix()),
		Kinds:    []cluster.Kind{{Nodes: 4, Conf: "Gres=gpu:a100:1"}, {Nodes: 4, Conf: "Gres=gpu:v100:1"}},
		GresConf: "NodeName=node[1-4] Name=gpu Type=a100 File=/dev/null\nNodeName=node[5-8] Name=gpu Type=v100 File=/dev/null\n",
		SlurmConf: "GresTypes=gpu\nAccountingStorageTRES=gres/gpu\nLicenses=matlab:2,pool:64\nAccountingStorageEnforce=associations,limits,qos\n" +
			"PartitionName=a100 Nodes=node[1-4] MaxTime=1-0\nPartitionName=v100 Nodes=node[5-8] MaxTime=1-0\n",
	})
	for name, test := range map[string]func(*testing.T, *site.Site){"gres": gresTypes, "licences": licences, "qos": qosLimits} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// byType returns a past in which a third of the jobs each ran on any nodes, on those with a100, and on those with v100.
// Those with GPUs ran for their limits, of up to three hours.
// Nobody waited for long.
func byType(now int64) func(yield func(workload.Job, error) bool) {
	return func(yield func(workload.Job, error) bool) {
		for j, err := range site.Calm(now) {
			if j.ID%10 == 0 { // the long waits
				continue
			}
			if kind := j.ID % 3; kind > 0 {
				j.Partition, j.GPUs = []string{"a100", "v100"}[kind-1], j.Nodes
				j.Limit *= 2
				j.End = j.Start + j.Limit
			}
			if !yield(j, err) {
				return
			}
		}
	}
}

// quoteOf returns what varq quote says to alice about a job of five minutes that is to run within a lead, as sbatch has it, with probability .5.
func quoteOf(t *testing.T, s *site.Site, lead string, options ...string) string {
	t.Helper()
	r, err := s.Run(t.Context(), "alice", "varq", append([]string{"quote", "--begin-by=now+" + lead, "--prob=0.5", "--time=5"}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return r.Stdout + r.Stderr
}

// keptSoon submits a job of five minutes of alice's that is promised soon, and checks that its promise is kept.
func keptSoon(t *testing.T, s *site.Site, name string, options ...string) {
	t.Helper()
	file, out := script(t, s, name, "", "")
	s.InTime(t, 30*time.Second, func(lead time.Duration) bool {
		id, _, at := reserveIn(t, s, lead, "alice", append(options, "--prob=0.5", "--time=5", file)...)
		if settled(t, s, "alice", id, api.StateKept, api.StateMissed).State != api.StateKept {
			return false
		}
		wantStart(t, out, at)
		return true
	})
}
