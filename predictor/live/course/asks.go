package course

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/dependency"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// askedParts are the parts of what a job asks for, in the order in which changes are named.
var askedParts = []string{
	"partition", "account", "QOS", "nodes", totalCPUs, "GPUs", "memory", "features", "node list", "excluded nodes", dependencies,
	leastCPUs, "tasks", "CPUs per task", "CPUs per node", "memory per node", "memory per CPU", "disk per node", "other resources",
	"licences", reservation, contiguous, deadline, nice, "switches", "tasks at once",
}

const (
	dependencies = "dependency"
	totalCPUs    = "CPUs"
	leastCPUs    = "least CPUs"
	reservation  = "reservation"
	contiguous   = "contiguous nodes"
	deadline     = "--deadline"
	nice         = "nice"
)

// Asks returns as text what a pending job asks for, as far as a promise rests on it. Begin time,
// time limit and hold are observed separately.
func Asks(j *slurm.QueueEntry) string {
	v := url.Values{}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	s := &j.Shape
	together, end := "no", ""
	if s.Contiguous {
		together = "yes"
	}
	if s.Deadline != 0 {
		end = time.Unix(s.Deadline, 0).UTC().Format(time.RFC3339)
	}
	for i, value := range []string{
		partitions(j), j.Account, j.QOS,
		number(int64(j.Nodes)), number(int64(j.CPUs)), number(int64(j.GPUs)), number(j.Memory),
		j.Features, j.NodeList, j.Excluded, j.Dependency,
		number(s.CPUs), number(s.Tasks), number(s.CPUsPerTask), number(s.CPUsPerNode),
		number(s.MemoryPerNode), number(s.MemoryPerCPU), number(s.DiskPerNode), s.TRES,
		s.Licenses, s.Reservation, together, end, number(j.Nice), number(s.Switches), number(int64(j.AtOnce)),
	} {
		v.Set(askedParts[i], value)
	}
	return v.Encode()
}

// AskedAtFirst returns Asks for a job when it is bound. It leaves out what a promised job is never
// submitted with, and another dependency or reservation than the promised one. So if the job has
// such a request, the request counts as a change by the user.
func AskedAtFirst(e *ledger.Entry, j *slurm.QueueEntry) string {
	submitted := *j
	submitted.Dependency = e.Dependency
	submitted.Shape.Reservation, submitted.Shape.Contiguous, submitted.Shape.Deadline = e.Inside, false, 0
	return Asks(&submitted)
}

// Unforeseeable reports whether e's pending job j, which somebody else has changed, may wait for
// something that forecasts do not know of. They know of the nodes that it may have, of the jobs
// that it waits for, and of the reservation that it was promised in.
func Unforeseeable(e *ledger.Entry, j *slurm.QueueEntry) bool {
	s := &j.Shape
	moved := s.Reservation != "" && s.Reservation != e.Inside
	return moved || s.Contiguous || s.Deadline != 0 || j.Nice > 0
}

// changed describes how two results of Asks differ: "nodes from 2 to 3, ...". It returns "" if they
// are equal. Two differences do not count: a dependency was fulfilled, or an operator lets the job
// start sooner by a lower nice. A text that cannot be read counts as equal, and so does a part that
// only one text has.
func changed(was, is string) string {
	before, err := url.ParseQuery(was)
	if err != nil || was == "" {
		return ""
	}
	now, err := url.ParseQuery(is)
	if err != nil {
		return ""
	}
	var differences []string
	for _, part := range askedParts {
		from, to := before.Get(part), now.Get(part)
		switch {
		case from == to, !before.Has(part), !now.Has(part):
			continue
		case part == dependencies && dependency.Narrows(to, from):
			continue
		case part == nice && lower(to, from):
			continue
		case part == leastCPUs && from == before.Get(totalCPUs) && to == now.Get(totalCPUs):
			// named already, as CPUs
			continue
		}
		differences = append(differences, fmt.Sprintf("%s from %s to %s", part, orNone(from), orNone(to)))
	}
	return strings.Join(differences, ", ")
}

// AskedSize returns size, with the parts replaced that text, a result of Asks, has.
func AskedSize(size workload.Size, text string) workload.Size {
	v, err := url.ParseQuery(text)
	if err != nil {
		return size
	}
	for part, field := range map[string]*int32{"nodes": &size.Nodes, totalCPUs: &size.CPUs, "GPUs": &size.GPUs} {
		if n, err := strconv.ParseInt(v.Get(part), 10, 32); err == nil {
			*field = int32(n)
		}
	}
	if n, err := strconv.ParseInt(v.Get("memory"), 10, 64); err == nil {
		size.Memory = n
	}
	return size
}

// lower reports whether number a is less than number b.
func lower(a, b string) bool {
	x, errX := strconv.ParseInt(a, 10, 64)
	y, errY := strconv.ParseInt(b, 10, 64)
	return errX == nil && errY == nil && x < y
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// partitions returns those in which Slurm may start a job, in order: Slurm itself changes the
// order.
func partitions(j *slurm.QueueEntry) string {
	return strings.Join(slices.Sorted(strings.SplitSeq(j.Partition, ",")), ",")
}

// Elsewhere describes in which other partition, account or QOS j is than that of e's plan, or
// returns "". What the plan does not name may be anything. Slurm writes the names of accounts and
// QOS in lower case.
func Elsewhere(e *ledger.Entry, j *workload.Job) string {
	for _, part := range []struct{ name, planned, is string }{
		{"partition", e.Partition, j.Partition}, {"account", e.Account, j.Account}, {"QOS", e.QOS, j.QOS},
	} {
		alike := strings.EqualFold(part.planned, part.is) || part.name == "partition" && j.MayRunIn(part.planned)
		if part.planned != "" && part.is != "" && !alike {
			return fmt.Sprintf("its %s is %s instead of %s", part.name, part.is, part.planned)
		}
	}
	return ""
}

// Altered describes what a plugin of the site has changed of a job that has not started yet,
// besides Elsewhere and Unlike, so that what e promises does not hold for it; "" if nothing. Jobs
// take of the cluster what takes says, both as promised and as accepted.
func Altered(e *ledger.Entry, j *slurm.QueueEntry, takes *limits.Takes) string {
	switch {
	case j.Start != 0:
		return ""
	case j.Shape.Reservation != e.Inside:
		return fmt.Sprintf("its reservation is %s instead of %s", orNone(j.Shape.Reservation), orNone(e.Inside))
	}
	if why := cmp.Or(Kept(e, j), Larger(e, j, takes)); why != "" {
		return why
	}
	planned := e.Request(e.TimeLimit)
	switch {
	case j.Nodes <= e.Nodes && takes.Memory(j.Request) > takes.Memory(planned):
		return fmt.Sprintf("it takes %d MiB of memory instead of %d", takes.Memory(j.Request), takes.Memory(planned))
	case more(j.Licences, e.Licences):
		return fmt.Sprintf("its licences are %s instead of %s", j.Licences, orNone(string(e.Licences)))
	}
	return ""
}

// Kept describes what keeps j, which has not started, from running as e promises, wherever it
// waits: that it is held, its times, other jobs, or that it has its nodes alone. It is "" if
// nothing does.
func Kept(e *ledger.Entry, j *slurm.QueueEntry) string {
	switch early, at := e.SubmitBegin()-lag, max(e.SubmitBegin(), j.Submit); {
	case j.Held || j.Stopped != "":
		return "it is held"
	case j.Limit != e.TimeLimit:
		return fmt.Sprintf("its time limit is %s instead of %s", slurmtime.FormatDuration(j.Limit), slurmtime.FormatDuration(e.TimeLimit))
	case j.Eligible != 0 && (j.Eligible < early || e.FinishBy == 0 && j.Eligible > at+lag):
		return "it becomes eligible at another time"
	case !dependency.Narrows(j.Dependency, e.Dependency):
		return "it waits for other jobs: its dependency is " + j.Dependency
	case j.Shape.TimeMin != 0:
		return "Slurm may lower its time limit, to " + slurmtime.FormatDuration(j.Shape.TimeMin)
	case j.Exclusive && !e.Pieces.Exclusive:
		return "it shares its nodes with no other job"
	}
	return ""
}

// Larger describes of which j, which has not started, asks for more than e promises, "" if of
// neither nodes nor CPUs. Jobs take of the place where j waits what takes says.
func Larger(e *ledger.Entry, j *slurm.QueueEntry, takes *limits.Takes) string {
	is, planned := j.Request, e.Request(e.TimeLimit)
	is.Partition, _, _ = strings.Cut(j.Partition, ",")
	is.CPUs = leastCPUsOf(j)
	planned.Partition, planned.NodeSet = is.Partition, is.NodeSet
	switch {
	case j.Nodes > max(e.Nodes, takes.Nodes(planned)):
		return asksFor(j.Nodes, "node", e.Nodes)
	case takes.CPUs(is) > takes.CPUs(planned):
		return asksFor(is.CPUs, "CPU", e.CPUs)
	}
	return ""
}

// leastCPUsOf returns how many CPUs a job asks for in any of the ways of sbatch.
func leastCPUsOf(j *slurm.QueueEntry) int32 {
	s := &j.Shape
	return max(j.CPUs, int32(min(math.MaxInt32, max(s.CPUs, s.Tasks*s.CPUsPerTask, int64(j.Nodes)*s.CPUsPerNode))))
}

// asksFor says that a job asks for another number of things than it was promised for.
func asksFor(n int32, thing string, promised int32) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("it asks for %d %s instead of %d", n, thing, promised)
}

// more reports whether there are more of some name among licences than among others.
func more(licences, others workload.Licences) bool {
	for name, n := range licences.All() {
		if n > others.Of(name) {
			return true
		}
	}
	return false
}

// OnFewer describes on which nodes alone j may run, if those of e's plan are others, or returns "".
func OnFewer(e *ledger.Entry, j *workload.Job) string {
	if j.NodeSet == "" || j.NodeSet == e.NodeSet {
		return ""
	}
	return fmt.Sprintf("it may run on %s alone", j.NodeSet)
}

// Unlike describes the difference between j and the job that e's plan is for, Elsewhere first, or
// returns "". The size of a job that has started is not compared, because it may be what Slurm has
// allocated. Slurm counts the CPUs of whole cores, and may spread tasks over more nodes. So a job
// counts as larger only if it has both more nodes and more CPUs, or many times the CPUs, or more
// GPUs.
func Unlike(e *ledger.Entry, j *workload.Job) string {
	const threads = 4 // of a core, at most
	if elsewhere := Elsewhere(e, j); elsewhere != "" {
		return elsewhere
	}
	switch {
	case e.Tasks == 0 && j.Array != 0:
		return "it is a job array"
	case e.Tasks > 0 && j.Array == 0:
		return "it is not a job array"
	case j.Start != 0:
		return ""
	case j.Tasks > e.Array.Tasks:
		return fmt.Sprintf("it has %d tasks instead of %d", j.Tasks, e.Array.Tasks)
	case j.Nodes > e.Nodes && j.CPUs > e.CPUs:
		return asksFor(j.Nodes, "node", e.Nodes)
	case int64(j.CPUs) > threads*int64(e.CPUs):
		return asksFor(j.CPUs, "CPU", e.CPUs)
	case j.GPUs > e.GPUs:
		return asksFor(j.GPUs, "GPU", e.GPUs)
	}
	return ""
}
