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
	jobs, are, kind := "jobs", "are", ""
	if starts == 1 {
		jobs, are = "job", "is"
	}
	switch {
	case r.GPUs > 0:
		kind = " with GPUs"
	case others > 0:
		kind = " without GPUs"
	}
	return fmt.Sprintf("%d %s%s %s known to have started in partition %s, and a forecast needs %d; once there are as many, ask again", starts, jobs, kind, are, r.Partition, leastPast)
}

// forget replaces estimates by nothing known. The reason is why, unless there is an outage.
func forget(est []workload.Estimate, why string) {
	for i := range est {
		if est[i].Down == "" {
			est[i] = workload.Estimate{Down: why}
		}
	}
}
