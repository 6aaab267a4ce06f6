package smith

import (
	"testing"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

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
