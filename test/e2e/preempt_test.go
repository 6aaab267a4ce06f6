package e2e

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/test/site"
)

// preemption: jobs of a higher tier are promised the nodes of others. Those others are not promised
// nodes that are taken, and read that they may have to give way.
func preemption(t *testing.T, s *site.Site) {
	mustRun(t, s, "bob", "bash", "-c", "for i in {1..4}; do sbatch -p low -N1 -n4 -t180 -J low -o/dev/null --wrap='exec sleep 1d'; done")
	eventually(t, "behind jobs of its own tier, nothing is promised soon", func() bool {
		return strings.Contains(quoteOf(t, s, "20minutes", "-p", "low"), "too little room")
	})
	if got := quoteOf(t, s, "12hours", "-p", "low"); !strings.Contains(got, "Can be promised") || !strings.Contains(got, "may take its nodes once it runs (PreemptMode=REQUEUE)") {
		t.Errorf("for when they have ended: %s", got)
	}
	// Simulations of the queue know nothing of preemption: while more work is ahead than was learnt
	// from, as of jobs in other partitions, they keep the higher tier from promises, too.
	eventually(t, "the higher tier is promised the nodes of the lower one", func() bool {
		got := quoteOf(t, s, "20minutes", "-p", "high")
		return strings.Contains(got, "Can be promised") && !strings.Contains(got, "PreemptMode")
	})
	keptSoon(t, s, "high", "-p", "high", "-n4")
	waits := mustRun(t, s, "root", "squeue", "--noheader", "--name=low", "--states=PENDING", "--format=%i")
	if len(strings.Fields(waits.Stdout)) != 1 {
		t.Errorf("jobs %q have given way", waits.Stdout)
	}
	mustRun(t, s, "root", "scancel", "--name=low")
}
