package outlook

import (
	"fmt"

	"github.com/varq-project/varq/predictor/workload"
)

// kind is a kind of job about which the past of the other kinds says nothing: other nodes run
// them.
type kind struct {
	partition string
	gpus      bool
}

func kindOf(r *workload.Request) kind { return kind{r.Partition, r.GPUs > 0} }

// leastPast is how many jobs of its kind must have started before a job is forecast.
const leastPast = 20

// unknown returns why a job like r, of whose kind few starts are known, is not forecast, in the
// form of workload.Estimate.Down. others is how many starts of the other kind are known.
func unknown(r *workload.Request, starts, others int) string {
	jobs := "jobs"
	switch {
	case r.GPUs > 0:
		jobs = "jobs with GPUs"
	case others > 0:
		jobs = "jobs without GPUs"
	}
	return fmt.Sprintf("%d %s are known to have started in partition %s, and a forecast needs %d; once there are as many, ask again", starts, jobs, r.Partition, leastPast)
}

// forget replaces estimates by nothing known. The reason is why, unless there is an outage.
func forget(est []workload.Estimate, why string) {
	for i := range est {
		if est[i].Down == "" {
			est[i] = workload.Estimate{Down: why}
		}
	}
}
