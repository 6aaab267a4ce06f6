package flow

import "slices"

// Critical returns for each job of the flow the share of the courses in which the last of some jobs
// would have ended sooner if that job had: it is on the path of those that end one after another.
// An hour less of a job lets the whole end sooner by so much of an hour on average, as long as no
// other path becomes the longest. Courses in which one of them never ends do not count.
//
// It takes O(Draws) times the number of conditions on the paths.
func (f *Flow) Critical(last []int) []float64 {
	share, ended := make([]float64, len(f.courses)), 0.
	last = f.sinks(last)
	for d := range Draws {
		i := -1
		for _, k := range last {
			if i < 0 || f.courses[k].End[d] > f.courses[i].End[d] {
				i = k
			}
		}
		if i < 0 || f.courses[i].End[d] == Never {
			continue
		}
		ended++
		for i >= 0 {
			share[i]++
			i = f.before(i, d)
		}
	}
	for i := range share {
		share[i] /= max(1, ended)
	}
	return share
}

// before returns the job whose event made another eligible in a course, of several together the one
// that ends last, or -1.
func (f *Flow) before(i, d int) int {
	for _, part := range f.parts[i] {
		if f.courses[part].End[d] == f.courses[i].End[d] {
			return part
		}
	}
	at := f.courses[i].Eligible[d]
	for _, c := range f.jobs[i].Conditions {
		if done, _ := f.courses[c.Job].done(c, d); done == at {
			return c.Job
		}
	}
	return -1
}

// Last returns when the last of some jobs has ended in each course, Unix seconds or Never.
func (f *Flow) Last(jobs []int) []int64 {
	ends := make([]int64, Draws)
	for _, i := range f.sinks(jobs) {
		for d, end := range f.courses[i].End {
			ends[d] = max(ends[d], end)
		}
	}
	return ends
}

// Done returns when all of some jobs have ended by themselves in each course, Unix seconds, or
// Never if one is stopped at its time limit.
func (f *Flow) Done(jobs []int) []int64 {
	ends := f.Last(jobs)
	for d, stopped := range f.ofAny(jobs, isStopped) {
		if stopped {
			ends[d] = Never
		}
	}
	return ends
}

// Stopped returns the share of the courses in which one of some jobs is stopped at its time limit.
func (f *Flow) Stopped(jobs []int) float64 { return share(f.ofAny(jobs, isStopped)) }

// Lost returns the share of the courses in which one of some jobs never becomes eligible, because
// others do not do what it needs.
func (f *Flow) Lost(jobs []int) float64 { return share(f.ofAny(jobs, isLost)) }

func isStopped(c *Courses) []bool { return c.stopped }
func isLost(c *Courses) []bool    { return c.lost }

// ofAny returns whether something is true of one of some jobs in each course.
func (f *Flow) ofAny(jobs []int, is func(c *Courses) []bool) []bool {
	of := make([]bool, Draws)
	for _, i := range jobs {
		for d, yes := range is(&f.courses[i]) {
			of[d] = of[d] || yes
		}
	}
	return of
}

// share returns the share of the courses of which something is true.
func share(is []bool) float64 {
	n := 0
	for _, i := range is {
		if i {
			n++
		}
	}
	return float64(n) / Draws
}

// sinks returns those of some jobs for whose end none of the others waits. The last of all ends
// with one of these.
func (f *Flow) sinks(jobs []int) []int {
	awaited := map[int]bool{}
	for _, i := range jobs {
		if f.jobs[i].Needed != 0 {
			continue
		}
		for _, c := range f.jobs[i].Conditions {
			if c.Event != Begun {
				awaited[c.Job] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(jobs), func(i int) bool { return awaited[i] })
}
