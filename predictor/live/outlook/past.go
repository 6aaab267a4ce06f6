package outlook

import (
	"fmt"
	"maps"

	"github.com/varq-project/varq/predictor/workload"
)

// kind is a kind of job about which the past of the other kinds says nothing: other nodes run
// them.
type kind struct {
	partition string
	gpus      bool
}

func kindOf(r *workload.Request) kind { return kind{r.Partition, r.GPUs > 0} }

// leastPast is how many jobs of its kind must have started before a job is forecast. A job of a
// node set is forecast from the waits of all jobs of its partition until as many have started
// there. A job with licences that can run out is not forecast before as many with like licences
// have.
const leastPast = 20

// apart is what sets jobs apart from others of their partition: the nodes on which alone they may
// run, and licences that can run out.
type apart struct {
	workload.Place
	licences workload.Licences // as Licences.Like returns them
}

func apartOf(r *workload.Request) apart { return apart{r.Place(), r.Licences.Like()} }

// sets counts the starts of jobs by what sets them apart, if anything does.
type sets map[apart]*set

type set struct {
	starts int
	line   string // workload.Request.Line of its jobs, once enough have started
}

// mostSets is how many sets are known at most. Users may ask for any nodes.
const mostSets = 1024

// count counts the start of a job, if it has started.
func (s sets) count(j *workload.Job) {
	if j.NodeSet == "" && j.Licences == "" || j.Start == 0 {
		return
	}
	key := apartOf(&j.Request)
	of := s[key]
	if of == nil {
		if len(s) == mostSets {
			s.drop()
		}
		of = new(set)
		s[key] = of
	}
	if of.starts++; of.starts == leastPast {
		of.line = j.Partition
		if j.NodeSet != "" {
			of.line += " on " + j.NodeSet
		}
		if key.licences != "" {
			of.line += " with " + string(key.licences)
		}
	}
}

// drop forgets the sets in which too few jobs have started or, if there are none, all sets.
func (s sets) drop() {
	maps.DeleteFunc(s, func(_ apart, of *set) bool { return of.line == "" })
	if len(s) == mostSets {
		clear(s)
	}
}

// setLine sets the Line of a request.
func (s sets) setLine(r *workload.Request) {
	r.Line = ""
	if r.NodeSet == "" && r.Licences == "" {
		return
	}
	if of := s[apartOf(r)]; of != nil {
		r.Line = of.line
	}
}

// mostLets is how large a share of the jobs that came last may go before a job whose user lowers
// its priority, while its wait is forecast. The waits that are known are of jobs with usual
// priorities.
const mostLets = 1. / 8

// unknown returns why a job like r is not forecast, in the form of workload.Estimate.Down, or "":
// because few starts of its kind are known, or because more jobs go before it than before others.
func (m *Model) unknown(r *workload.Request) string {
	if starts := m.past[kindOf(r)]; starts < leastPast {
		return tooFew(r, starts, m.past[kind{r.Partition, r.GPUs == 0}])
	}
	if r.Licences != "" && r.Line == "" {
		return tooFewLicensed(r, m.sets[apartOf(r)])
	}
	switch lets := m.predictor.Lets(r); {
	case lets <= mostLets:
		return ""
	case lets == 1:
		return fmt.Sprintf("--nice=%d: any job that comes later may go before this one, and how long it waits then cannot be forecast: leave the option out", r.Nice)
	default:
		return fmt.Sprintf("--nice=%d: %.0f %% of the jobs that come later would go before this one only because of it, and how long it waits then cannot be forecast: leave the option out, or give a smaller number", r.Nice, 100*lets)
	}
}

// tooFew tells that so few starts of the kind of r are known. others is how many starts of the
// other kind are.
func tooFew(r *workload.Request, starts, others int) string {
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

// tooFewLicensed tells that few jobs with licences like those of r, a set, are known to have
// started.
func tooFewLicensed(r *workload.Request, of *set) string {
	starts := 0
	if of != nil {
		starts = of.starts
	}
	return fmt.Sprintf("%d jobs with licences like %s are known to have started in partition %s, and a forecast needs %d; once there are as many, ask again", starts, r.Licences, r.Partition, leastPast)
}

// forget replaces estimates by nothing known. The reason is why, unless there is an outage.
func forget(est []workload.Estimate, why string) {
	for i := range est {
		if est[i].Down == "" {
			est[i] = workload.Estimate{Down: why}
		}
	}
}
