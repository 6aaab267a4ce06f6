package outlook

import (
	"fmt"
	"iter"
	"maps"
	"math"

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
// there, and one with licences that can run out, of a node set or not, from the waits of all of its
// partition with like licences.
const leastPast = 20

// apart is what sets jobs apart from others of their partition: the nodes on which alone they may
// run, and licences that can run out.
type apart struct {
	workload.Place
	licences workload.Licences // as Licences.Like returns them
}

// apartOf yields what sets a job apart, if anything does: all of it, and licences alone.
func apartOf(r *workload.Request) iter.Seq[apart] {
	return func(yield func(apart) bool) {
		licences := r.Licences.Like()
		if (r.NodeSet != "" || licences != "") && !yield(apart{r.Place(), licences}) {
			return
		}
		if r.NodeSet != "" && licences != "" {
			yield(apart{workload.Place{Partition: r.Partition}, licences})
		}
	}
}

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
	if j.Start == 0 {
		return
	}
	for key := range apartOf(&j.Request) {
		of := s[key]
		if of == nil {
			if len(s) == mostSets {
				s.drop()
			}
			of = new(set)
			s[key] = of
		}
		if of.starts++; of.starts == leastPast {
			of.line = key.line()
		}
	}
}

// line returns workload.Request.Line of the jobs.
func (a apart) line() string {
	line := a.Partition
	if a.NodeSet != "" {
		line += " on " + a.NodeSet
	}
	if a.licences != "" {
		line += " with " + string(a.licences)
	}
	return line
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
	for key := range apartOf(r) {
		if of := s[key]; of != nil && of.line != "" {
			r.Line = of.line
			return
		}
	}
}

// licensed returns how many jobs of the partition of a request with like licences have started.
func (s sets) licensed(r *workload.Request) int {
	if of := s[apart{workload.Place{Partition: r.Partition}, r.Licences.Like()}]; of != nil {
		return of.starts
	}
	return 0
}

// known returns how many past waits tell of a request's at most: those of jobs with like licences,
// if it needs any.
func (m *Model) known(r *workload.Request) int {
	if r.Licences == "" {
		return math.MaxInt
	}
	return m.sets.licensed(r)
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
		return fewStarts(r, m.sets.licensed(r), " with licences like "+string(r.Licences))
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
	kind := ""
	switch {
	case r.GPUs > 0:
		kind = " with GPUs"
	case others > 0:
		kind = " without GPUs"
	}
	return fewStarts(r, starts, kind)
}

// fewStarts tells that so few jobs of a kind, " with GPUs", are known to have started where r is
// to.
func fewStarts(r *workload.Request, starts int, kind string) string {
	jobs, are := "jobs", "are"
	if starts == 1 {
		jobs, are = "job", "is"
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
