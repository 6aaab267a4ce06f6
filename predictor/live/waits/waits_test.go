package waits

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/workload"
)

func job(partition, account string, size workload.Size, submit, eligible, start int64) workload.Job {
	return workload.Job{Request: workload.Request{Partition: partition, Account: account, Size: size}, Submit: submit, Eligible: eligible, Start: start}
}

func TestStarted(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry, []string{"physics"})
	m.Started([]workload.Job{
		job("main", "physics", workload.Size{Nodes: 1, CPUs: 1}, 100, 200, 200),
		// not known when it could start
		job("main", "PHYSICS", workload.Size{Nodes: 1, CPUs: 1}, 100, 0, 150),
		job("main", "secret", workload.Size{Nodes: 1, CPUs: 4}, 100, 100, 4000),
		job("main", "secret", workload.Size{Nodes: 8, CPUs: 8}, 100, 100, 101),
		job("main", "secret", workload.Size{Nodes: 64, CPUs: 64}, 100, 100, 101),
		job("main", "secret", workload.Size{Nodes: 65, CPUs: 65}, 100, 100, 101),
		job("gpu", "secret", workload.Size{Nodes: 65, CPUs: 65, GPUs: 1}, 100, 100, 101),
		job("gpu", "secret", workload.Size{Nodes: 1, CPUs: 1}, 100, 100, 99), // no wait
	})
	var got []string
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			line := family.GetName()
			for _, pair := range metric.GetLabel() {
				line += " " + pair.GetValue()
			}
			got = append(got, fmt.Sprintf("%s: %d, %v s", line, metric.GetHistogram().GetSampleCount(), metric.GetHistogram().GetSampleSum()))
		}
	}
	want := []string{
		"varq_account_job_wait_seconds (others): 5, 3904 s",
		"varq_account_job_wait_seconds physics: 2, 50 s",
		"varq_job_wait_seconds gpu gpus: 1, 1 s",
		"varq_job_wait_seconds main 1 cpu: 2, 50 s",
		"varq_job_wait_seconds main 1 node: 1, 3900 s",
		"varq_job_wait_seconds main 2-8 nodes: 1, 1 s",
		"varq_job_wait_seconds main 9-64 nodes: 1, 1 s",
		"varq_job_wait_seconds main over 64 nodes: 1, 1 s",
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
}

// Whatever partitions and accounts there are, the time series are bounded.
func TestBounded(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry, nil)
	for i := range 1000 {
		m.Started([]workload.Job{job(fmt.Sprint("p", i), fmt.Sprint("a", i), workload.Size{Nodes: 1}, 1, 1, 2)})
	}
	families, err := registry.Gather()
	if err != nil || len(families) != 2 {
		t.Fatalf("%d families, %v", len(families), err)
	}
	if accounts, partitions := len(families[0].GetMetric()), len(families[1].GetMetric()); accounts != 1 || partitions != mostPartitions+1 {
		t.Errorf("%d accounts, %d partitions", accounts, partitions)
	}
}
