package e2e

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// TestOrder: the answers follow the order in which Slurm starts jobs: none passes another with
// sched/builtin, and those of a higher tier take the nodes of others.
func TestOrder(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{
		History: inTurns("high", "low", "strict"),
		SlurmConf: "SchedulerType=sched/builtin\nPreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n" +
			"PartitionName=main Nodes=ALL Default=YES PreemptMode=OFF\nPartitionName=short Nodes=node1 PreemptMode=OFF\n" +
			"PartitionName=strict Nodes=node[1-4] MaxTime=1-0 PreemptMode=OFF\n" +
			"PartitionName=high Nodes=node[5-8] MaxTime=1-0 PriorityTier=10 PreemptMode=OFF\n" +
			"PartitionName=low Nodes=node[5-8] MaxTime=1-0 PriorityTier=1 PreemptMode=REQUEUE\n",
	})
	for name, test := range map[string]func(*testing.T, *site.Site){"builtin": builtin, "preemption": preemption} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// builtin: a small job behind a large one is not promised the hole before it, nor the nodes that
// the large one is to have.
func builtin(t *testing.T, s *site.Site) {
	mustRun(t, s, "bob", "sbatch", "-p", "strict", "-N1", "-n4", "-t180", "-o/dev/null", "--wrap=exec sleep 1d")
	mustRun(t, s, "bob", "sbatch", "-p", "strict", "-N4", "-n16", "-t180", "-J", "large", "-o/dev/null", "--wrap=exec sleep 1d")
	const says = "too little room"
	eventually(t, "behind a job that waits for all nodes, three idle ones are not promised", func() bool {
		return strings.Contains(quoteOf(t, s, "20minutes", "-p", "strict"), says)
	})
	if got := quoteOf(t, s, "4hours", "-p", "strict"); !strings.Contains(got, says) {
		t.Errorf("for when the large job is to run: %s", got)
	}
	if got := quoteOf(t, s, "12hours", "-p", "strict"); !strings.Contains(got, "Can be promised") {
		t.Errorf("for when it has ended: %s", got)
	}
	// the test is of use only if Slurm is of the same opinion
	heldBack(t, s, "Priority", "-p", "strict", "-N1")
	mustRun(t, s, "root", "scancel", "--name=large")
	eventually(t, "once it is gone, they are promised", func() bool {
		return strings.Contains(quoteOf(t, s, "20minutes", "-p", "strict"), "Can be promised")
	})
	keptSoon(t, s, "strict", "-p", "strict")
}
