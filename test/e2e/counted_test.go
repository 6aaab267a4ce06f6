package e2e

import (
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// TestCounted: what Slurm counts besides CPUs and memory: GPUs by type, licences, and what a QOS
// allows.
func TestCounted(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{
		History:  inTurns("main", "a100", "v100"),
		Kinds:    []cluster.Kind{{Nodes: 4, Conf: "Gres=gpu:a100:1"}, {Nodes: 4, Conf: "Gres=gpu:v100:1"}},
		GresConf: "NodeName=node[1-4] Name=gpu Type=a100 File=/dev/null\nNodeName=node[5-8] Name=gpu Type=v100 File=/dev/null\n",
		SlurmConf: "GresTypes=gpu\nAccountingStorageTRES=gres/gpu,license/matlab\nLicenses=matlab:2,pool:64\nAccountingStorageEnforce=associations,limits,qos\n" +
			"PartitionName=a100 Nodes=node[1-4] MaxTime=1-0\nPartitionName=v100 Nodes=node[5-8] MaxTime=1-0\n",
	})
	for name, test := range map[string]func(*testing.T, *site.Site){"gres": gresTypes, "licences": licences, "qos": qosLimits} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// inTurns returns a past in which jobs ran in three partitions, one after the other. In the first
// one of four had a GPU on each node, and in the others all had, and ran for their limits, of up to
// three hours. Nobody waited for long.
func inTurns(partitions ...string) func(yield func(workload.Job, error) bool) {
	return func(yield func(workload.Job, error) bool) {
		for j, err := range site.Calm(time.Now().Unix()) {
			if j.ID%10 == 0 { // the long waits
				continue
			}
			turn := j.ID % 3
			if j.Partition = partitions[turn]; turn > 0 {
				j.GPUs, j.Limit = j.Nodes, 2*j.Limit
				j.End = j.Start + j.Limit
			} else if j.ID%4 == 0 {
				j.GPUs = j.Nodes
			}
			if !yield(j, err) {
				return
			}
		}
	}
}

// quoteOf returns what varq quote says to alice about a job of five minutes that is to run within a
// lead, as sbatch has it, with probability .5.
func quoteOf(t *testing.T, s *site.Site, lead string, options ...string) string {
	t.Helper()
	r, err := s.Run(t.Context(), "alice", "varq", append([]string{"quote", "--begin-by=now+" + lead, "--prob=0.5", "--time=5"}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return r.Stdout + r.Stderr
}

// keptSoon submits a job of five minutes of alice's that is promised soon, and checks that its
// promise is kept. The probability is one that can be promised from few past waits, however long
// the jobs waited on a busy machine.
func keptSoon(t *testing.T, s *site.Site, name string, options ...string) {
	t.Helper()
	file, out := script(t, s, name, "", "")
	s.InTime(t, 30*time.Second, func(lead time.Duration) bool {
		id, _, at := reserveIn(t, s, lead, "alice", append(options, "--prob=0.2", "--time=5", file)...)
		if settled(t, s, "alice", id, api.StateKept, api.StateMissed).State != api.StateKept {
			return false
		}
		wantStart(t, out, at)
		return true
	})
}
