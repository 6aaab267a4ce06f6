package scripts

import (
	"cmp"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/plugin/filter"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// now is when all scripts are submitted, Unix seconds.
const now = 1795262400

// least is the share of the scripts of a sample, each owner weighing the same, that get a forecast
// at least.
var least = map[string]float64{"alike": .95, "mixed": .95, "centre": .95}

// TestCorpus says how many scripts of a corpus would be promised a start: that of testdata, or that
// which VARQ_SCRIPTS names.
func TestCorpus(t *testing.T) {
	corpus, err := Read(cmp.Or(os.Getenv("VARQ_SCRIPTS"), "testdata/scripts.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range Kinds {
		sample, stress := tally{}, tally{}
		for i := range corpus {
			s := &corpus[i]
			into := &stress
			if s.Sampled() {
				into = &sample
			}
			into.count(s, refusals(kind, s))
		}
		t.Logf("accepted %s %s", kind, sample.share())
		sample.log(t)
		t.Logf("of those that were looked for: %s", stress.share())
		stress.log(t)
		if sample.accepted() < least[kind] {
			t.Errorf("%s: fewer than %v are accepted", kind, least[kind])
		}
	}
}

// refusals returns why a script gets no promise on a cluster of a kind; nil if it gets one.
func refusals(kind string, s *Script) []string {
	given := s.Given()
	cluster := Cluster(kind, given)
	if s.Het {
		return []string{"heterogeneous"}
	}
	given["spank:begin-by"] = "now+1day"
	box, err := json.Marshal(given)
	if err != nil {
		return []string{err.Error()}
	}
	read, err := filter.Read(box, "sbatch", nil, now, time.UTC, func() string { return cluster.Name })
	if err != nil {
		return strings.Split(strings.TrimSpace(err.Error()), "\n")
	}
	var reasons []string
	for partition := range strings.SplitSeq(read.Request.Job.Partition, ",") {
		job := read.Request.Job
		job.User, job.Partition = user, partition
		why := refusal(cluster, job, read.Request.Needs)
		if why == "" {
			return nil // it is promised there
		}
		reasons = append(reasons, why)
	}
	return reasons
}

// refusal returns why a cluster gives a job no promise; "" if it gives one.
func refusal(cluster *limits.Cluster, job workload.Request, needs *workload.Needs) string {
	job, err := cluster.CompleteWith(cluster.OnCores(job, needs), needs)
	if err != nil {
		return err.Error()
	}
	view := cluster.Job(job, needs)
	rule := cmp.Or(view.CheckSize(), view.CheckNeeds())
	if longest, by := view.MaxLimit(); rule == nil && longest != limits.None && job.Limit > longest {
		rule = &by
	}
	if rule != nil {
		return rule.Says
	}
	return ""
}
