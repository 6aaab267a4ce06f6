package desk

import (
	"testing"

	"github.com/varq-project/varq/predictor/cluster/limits"
)

// Concurrent requests do not exceed Slurm's limits together.
func TestSharesHoldAtOnce(t *testing.T) {
	for what, l := range map[string]limits.JobLimits{
		"jobs of a user": {PerUser: limits.Share{Jobs: new(int64(3))}},
		"jobs of all":    {Group: limits.Share{Jobs: new(int64(3))}},
		"CPUs of all":    {GrpTRES: limits.TRES{"cpu": 7}},
		// 2 CPUs, an hour, and 10 to 15 minutes to hold them
		"minutes of all":      {GrpTRESRunMins: limits.TRES{"cpu": 450}},
		"submitted by a user": {PerUser: limits.Share{Submitted: new(int64(3))}},
	} {
		s := newSite(t)
		s.Slurm.Limits = l
		s.Refresh()
		if granted, _ := s.askAtOnce(); granted != 3 {
			t.Errorf("%s: %d granted", what, granted)
		}
	}
}
