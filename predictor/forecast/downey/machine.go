package downey

import (
	"math"
	"slices"
)

// machine is a space-sharing machine: running jobs in the order of their ends.
type machine struct {
	free int32
	jobs []allocation
}

// allocation is a running job.
type allocation struct {
	procs      int32
	start, end float64
}

// empty takes all jobs away.
func (m *machine) empty(procs int32) {
	m.free, m.jobs = procs, m.jobs[:0]
}

// start lets a job run.
func (m *machine) start(procs int32, now, end float64) {
	i := len(m.jobs)
	for i > 0 && m.jobs[i-1].end > end {
		i--
	}
	m.jobs = slices.Insert(m.jobs, i, allocation{procs, now, end})
	m.free -= procs
}

// advance takes back the processors of the jobs that have ended by now.
func (m *machine) advance(now float64) {
	ended := 0
	for ended < len(m.jobs) && m.jobs[ended].end <= now {
		m.free += m.jobs[ended].procs
		ended++
	}
	m.jobs = slices.Delete(m.jobs, 0, ended)
}

// nextEnd returns when a running job ends, +Inf if none runs.
func (m *machine) nextEnd() float64 {
	if len(m.jobs) == 0 {
		return math.Inf(1)
	}
	return m.jobs[0].end
}

// available returns when n processors will be free if none is taken meanwhile;
// the machine must have as many.
func (m *machine) available(n int32, now float64) float64 {
	free := m.free
	for i := 0; free < n; i++ {
		free += m.jobs[i].procs
		now = m.jobs[i].end
	}
	return now
}
