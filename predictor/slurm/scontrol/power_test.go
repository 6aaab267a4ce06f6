package scontrol

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/limits"
)

// TestPower: a node has the longest times of its partitions, or else those of the site, and some
// nodes are never powered down. Of a partition the node counts that may take longest.
func TestPower(t *testing.T) {
	const program, times = "SuspendProgram = /sbin/down\n", "SuspendTime = 600 sec\nResumeTimeout = 90 sec\n"
	all := func(seconds int64) map[string]int64 {
		return map[string]int64{"main": seconds, "cloud": seconds, "both": seconds}
	}
	for name, c := range map[string]struct {
		config, main, cloud string
		want                map[string]int64
	}{
		"all":                      {program + times, "", "", all(90)},
		"as GLOBAL":                {program + times, "ResumeTimeout=GLOBAL SuspendTimeout=GLOBAL SuspendTime=GLOBAL", "", all(90)},
		"no time to power down":    {program + "SuspendTime = NONE\nResumeTimeout = 90 sec\n", "", "", all(0)},
		"infinite":                 {program + "SuspendTime = INFINITE\nResumeTimeout = 90 sec\n", "", "", all(0)},
		"no program":               {"SuspendProgram = (null)\n" + times, "", "SuspendTime=60 ResumeTimeout=300", all(0)},
		"no number":                {program + "SuspendTime = 600 sec\nResumeTimeout = 99999999999999999999 sec\n", "", "", all(0)},
		"longer in one":            {program + times, "", "ResumeTimeout=300", map[string]int64{"main": 90, "cloud": 300, "both": 300}},
		"longer in one of a node":  {program + times, "ResumeTimeout=200", "ResumeTimeout=100", map[string]int64{"main": 200, "cloud": 100, "both": 200}},
		"one only":                 {program + "SuspendTime = INFINITE\nResumeTimeout = 90 sec\n", "", "SuspendTime=60", map[string]int64{"main": 0, "cloud": 90, "both": 90}},
		"not in one":               {program + times, "SuspendTime=INFINITE", "", map[string]int64{"main": 0, "cloud": 90, "both": 90}},
		"partition that stays up":  {program + times + "SuspendExcParts = main\n", "", "", map[string]int64{"main": 0, "cloud": 90, "both": 90}},
		"partitions that stay up":  {program + times + "SuspendExcParts = cloud,main\n", "", "", all(0)},
		"nodes that stay up":       {program + times + "SuspendExcNodes = c[1-2],x\n", "", "", map[string]int64{"main": 90, "cloud": 0, "both": 90}},
		"some, whichever they are": {program + times + "SuspendExcNodes = c[1-2]:2\n", "", "", all(90)},
	} {
		cluster := limits.Cluster{Partitions: map[string]limits.Partition{
			"main": {Name: "main", Nodes: []string{"m1", "m2"}}, "cloud": {Name: "cloud", Nodes: []string{"c1", "c2"}},
			"both": {Name: "both", Nodes: strings.Fields("m1 m2 c1 c2")},
		}}
		lines := "PartitionName=main State=UP " + c.main + "\nPartitionName=cloud State=UP " + c.cloud + "\nPartitionName=both State=UP\n"
		completePartitions(&cluster, []byte(lines), parseConfig([]byte(c.config)))
		got := map[string]int64{}
		for name, p := range cluster.Partitions {
			got[name] = p.Resume
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
