package cluster

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/workload"
)

func sequence(jobs []workload.Job, err error) func(func(workload.Job, error) bool) {
	return func(yield func(workload.Job, error) bool) {
		for _, j := range jobs {
			if !yield(j, nil) {
				return
			}
		}
		if err != nil {
			yield(workload.Job{}, err)
		}
	}
}

func names() historyNames {
	return historyNames{
		cluster: "lab",
		firstID: 1000,
		associations: map[string]association{
			"alice": {id: 5, account: "phys", uid: "1001", gid: "1001"},
			"bob":   {id: 8, account: "chem", uid: "1002", gid: "1002"},
			"oper":  {id: 6, account: "phys", uid: "1003", gid: "1003"},
		},
		ordinary: []string{"alice", "bob"}, qos: map[string]int{"normal": 1, "long": 7},
		partitions: map[string]bool{"main": true, "short": true}, defaultPartition: "main", nodes: 4,
	}
}

func TestWriteHistory(t *testing.T) {
	size := workload.Size{Nodes: 2, CPUs: 8, Memory: 4000}
	var b strings.Builder
	n, err := writeHistory(&b, names(), sequence([]workload.Job{
		{Request: workload.Request{User: "bob", Partition: "short", QOS: "long", Size: size, Limit: 90}, Submit: 10, Eligible: 20, Start: 30, End: 40, State: workload.TimedOut},
		{Request: workload.Request{Size: size}, Submit: 10, State: workload.Pending},
		{Request: workload.Request{User: "'; drop table x;", Partition: "no'such", Size: size}, Submit: 11, End: 12, State: workload.Cancelled},
	}, nil))
	if err != nil || n != 2 {
		t.Fatalf("%d jobs, %v", n, err)
	}
	lines := strings.Split(b.String(), "\n")
	got := lines[slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, "(") }):]
	want := []string{
		"(40,'chem',8,'past',8,1000,7,0,0,1002,1002,0,4294967294,0,2000,'node[2-3]',2,'1-2','short',1,6,2,10,20,30,40,'/','sbatch past.sh','1=8,2=4000,4=2,5=8','1=8,2=4000,4=2,5=8'),",
		"(12,'chem',8,'past',8,1001,1,0,0,1002,1002,0,4294967294,0,2000,'None assigned',2,'','main',1,4,0,11,11,0,12,'/','sbatch past.sh','','1=8,2=4000,4=2,5=8');",
		"commit;", "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// If the source of a history fails, the history is not committed.
func TestWriteHistoryOfFailingSource(t *testing.T) {
	broken := errors.New("broken")
	var b strings.Builder
	if _, err := writeHistory(&b, names(), sequence(nil, broken)); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if strings.Contains(b.String(), "commit") {
		t.Error("committed")
	}
}

func TestEndingAt(t *testing.T) {
	jobs := []workload.Job{{Submit: 1, Eligible: 2, Start: 3, End: 10}, {Submit: 4, End: 5}}
	var got []workload.Job
	for j := range EndingAt(100, sequence(jobs, nil)) {
		got = append(got, j)
	}
	want := []workload.Job{{Submit: 91, Eligible: 92, Start: 93, End: 100}, {Submit: 94, End: 95}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, err := range EndingAt(100, sequence(jobs, io.ErrUnexpectedEOF)) {
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("error %v", err)
		}
	}
}
