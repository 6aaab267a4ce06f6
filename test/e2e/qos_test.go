package e2e

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/test/site"
)

// qosLimits: a promise under a QOS whose limits leave little more than the job is kept, and another
// beside it is refused.
func qosLimits(t *testing.T, s *site.Site) {
	mustRun(t, s, "root", "sacctmgr", "--immediate", "add", "qos", "brief", "set", "MaxWall=10", "MaxJobsPerUser=1", "GrpTRES=cpu=2")
	mustRun(t, s, "root", "sacctmgr", "--immediate", "modify", "user", "alice", "set", "qos+=brief")
	for _, c := range []struct{ options, says string }{
		{"--qos=brief --time=11", "QOS brief allows 00:10:00 (MaxWall)"},
		{"--qos=brief --ntasks=3", "(GrpTRES=cpu)"},
	} {
		eventually(t, "varqd has read the limit on "+c.options, func() bool {
			return strings.Contains(quoteOf(t, s, "6hours", strings.Fields(c.options)...), c.says)
		})
	}
	keptSoon(t, s, "brief", "-p", "main", "-n1", "--qos=brief")
	mustRun(t, s, "alice", "sbatch", "-p", "main", "-n1", "--qos=brief", "-t10", "-J", "brief", "-o/dev/null", "--wrap=exec sleep 1d")
	eventually(t, "beside a job of hers, which has the one place, nothing is promised", func() bool {
		return strings.Contains(quoteOf(t, s, "5minutes", "--qos=brief"), "QOS brief (of one user) allows 1 jobs at once (MaxJobsPU)")
	})
	mustRun(t, s, "root", "scancel", "--qos=brief")
}
