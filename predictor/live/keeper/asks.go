package keeper

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// The parts of what a job asks for, in the order in which changes are named.
var askedParts = []string{
	"partition", "account", "QOS", "nodes", "CPUs", "GPUs", "memory", "features", "node list", "excluded nodes", dependency,
}

const dependency = "dependency"

// asks returns as text what a pending job asks for, as far as a promise rests on it. Begin
// time, time limit and hold are observed on their own.
func asks(j *slurm.QueueEntry) string {
	v := url.Values{}
	for i, value := range []string{
		j.Partition, j.Account, j.QOS,
		strconv.Itoa(int(j.Size.Nodes)), strconv.Itoa(int(j.CPUs)), strconv.Itoa(int(j.GPUs)), strconv.FormatInt(j.Memory, 10),
		j.Features, j.NodeList, j.Excluded, j.Dependency,
	} {
		v.Set(askedParts[i], value)
	}
	return v.Encode()
}

// changed says how two results of asks differ: "nodes from 2 to 3, ...". It returns "" if they
// do not, or if a dependency was fulfilled. A text that cannot be read counts as equal.
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
		if from == to || part == dependency && from != "" {
			continue
		}
		differences = append(differences, fmt.Sprintf("%s from %s to %s", part, orNone(from), orNone(to)))
	}
	return strings.Join(differences, ", ")
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// unlike says in what j is not the job that e's plan is for, or returns "". What the plan does
// not name may be anything. Slurm writes the names of accounts and QOS in lower case. The size
// of a job that has started is not compared, because it may be what Slurm has allocated. Slurm
// counts the CPUs of whole cores, and may spread tasks over more nodes; so a job counts as larger
// only if it has more of both, or many times the CPUs.
func unlike(e *ledger.Entry, j *workload.Job) string {
	const threads = 4 // of a core, at most
	for _, part := range []struct{ name, planned, is string }{
		{"partition", e.Partition, j.Partition}, {"account", e.Account, j.Account}, {"QOS", e.QOS, j.QOS},
	} {
		if part.planned != "" && part.is != "" && !strings.EqualFold(part.planned, part.is) {
			return fmt.Sprintf("its %s is %s instead of %s", part.name, part.is, part.planned)
		}
	}
	switch {
	case j.Start != 0:
		return ""
	case j.Nodes > e.Nodes && j.CPUs > e.CPUs:
		return fmt.Sprintf("it asks for %d nodes instead of %d", j.Nodes, e.Nodes)
	case int64(j.CPUs) > threads*int64(e.CPUs):
		return fmt.Sprintf("it asks for %d CPUs instead of %d", j.CPUs, e.CPUs)
	case j.GPUs > e.GPUs:
		return fmt.Sprintf("it asks for %d GPUs instead of %d", j.GPUs, e.GPUs)
	}
	return ""
}
