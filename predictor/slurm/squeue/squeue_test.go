package squeue

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/engine"
	"github.com/varq-project/varq/predictor/workload"
)

// shown returns a line of squeue's, of a job that waits but for what differs.
func shown(differs map[string]string) string {
	values := map[string]string{
		"JobID": "7", "ArrayJobID": "7", "ArrayTaskID": "N/A", "HetJobID": "N/A", "UserName": "alice", "Account": "phys", "Partition": "main", "QOS": "normal",
		"State": "PENDING", "Reason": "Priority", "PriorityLong": "4294901759", "Nice": "0", "SubmitTime": "1800000000", "EligibleTime": "1800000001",
		"StartTime": "1800003600", "TimeLimit": "1-02:00:00", "NumNodes": "2-4", "NumCPUs": "8", "NumTasks": "8", "cpus-per-task": "1", "MinCpus": "1",
		"MinMemory": "4000M", "MinTmpDisk": "0", "tres-alloc": "cpu=8,mem=8000M,node=2,billing=8", "tres-per-node": "N/A", "tres-per-job": "N/A",
		"tres-per-task": "N/A", "Licenses": "(null)", "Feature": "(null)", "ReqNodes": "", "ExcNodes": "", "NodeList": "", "Reservation": "(null)",
		"Dependency": "(null)", "OverSubscribe": "OK", "BatchFlag": "1", "RestartCnt": "0", "Name": "train",
	}
	maps.Copy(values, differs)
	return Line(values)
}

func read(t *testing.T, out string) []slurm.QueueEntry {
	t.Helper()
	queue, err := parse(out)
	if err != nil {
		t.Fatal(err)
	}
	return queue
}

func TestWaiting(t *testing.T) {
	got := read(t, shown(nil))
	want := slurm.QueueEntry{
		Job: workload.Job{
			ID: 7, Submit: 1800000000, Eligible: 1800000001, State: workload.Pending, Priority: 4294901759, Series: "train",
			Request: workload.Request{
				User: "alice", Account: "phys", Partition: "main", QOS: "normal", Limit: 26 * 3600, Size: workload.Size{Nodes: 2, CPUs: 8, Memory: 8000},
			},
			Needs: &workload.Needs{NodeCPUs: workload.NodeNeed{Amount: 1, Option: "--cpus-per-task"}, NodeMemory: workload.NodeNeed{Amount: 4000, Option: "--mem"}},
		},
		Name: "train", Reason: "Priority", Expected: 1800003600,
	}
	if diff := cmp.Diff([]slurm.QueueEntry{want}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Each case is a job that differs from the one of TestWaiting.
func TestJobs(t *testing.T) {
	const run = "0c1f7a52-9be4-4d0e-8f6d-3a2b1c0d9e8f"
	for name, c := range map[string]struct {
		differs map[string]string
		is      func(e *slurm.QueueEntry) bool
	}{
		"runs": {map[string]string{"State": "RUNNING", "StartTime": "1800000050", "NodeList": "node[1-2]", "NumNodes": "2"}, func(e *slurm.QueueEntry) bool {
			return e.State == workload.Running && e.Start == 1800000050 && slices.Equal(e.On, []string{"node1", "node2"}) && e.Given == 8 && e.Expected == 0
		}},
		"is suspended": {map[string]string{"State": "SUSPENDED", "StartTime": "1800000050"}, func(e *slurm.QueueEntry) bool { return e.Suspended && e.Start != 0 }},
		"completes":    {map[string]string{"State": "COMPLETING", "StartTime": "1800000050"}, func(e *slurm.QueueEntry) bool { return e.Completing && e.State == workload.Running }},
		"wakes nodes": {map[string]string{"State": "CONFIGURING", "StartTime": "1800000050"}, func(e *slurm.QueueEntry) bool {
			return e.Waking && e.State == workload.Pending && e.Start == 0
		}},
		"is held": {map[string]string{"PriorityLong": "0", "Reason": "JobHeldUser", "EligibleTime": "N/A", "StartTime": "N/A"}, func(e *slurm.QueueEntry) bool {
			return e.Held && e.Stopped == "" && e.Eligible == 0 && e.Expected == 0
		}},
		"is stopped":      {map[string]string{"PriorityLong": "0", "Reason": "JobHeldAdmin"}, func(e *slurm.QueueEntry) bool { return !e.Held && e.Stopped == "JobHeldAdmin" }},
		"was not seen":    {map[string]string{"Reason": "None", "EligibleTime": "N/A"}, func(e *slurm.QueueEntry) bool { return e.Eligible == 1800000000 }},
		"awaits its turn": {map[string]string{"Reason": "Resources", "EligibleTime": "N/A"}, func(e *slurm.QueueEntry) bool { return e.Eligible == 1800000000 }},
		"depends":         {map[string]string{"Reason": "Dependency", "EligibleTime": "N/A", "Dependency": "afterok:3(unfulfilled)"}, func(e *slurm.QueueEntry) bool { return e.Eligible == 0 && e.Dependency == "afterok:3(unfulfilled)" }},
		"is at a limit":   {map[string]string{"Reason": "QOSMaxJobsPerUserLimit"}, func(e *slurm.QueueEntry) bool { return e.AtLimit && !e.QOSFull }},
		"has a full QOS":  {map[string]string{"Reason": "QOSGrpCpuLimit"}, func(e *slurm.QueueEntry) bool { return !e.AtLimit && e.QOSFull }},
		"is an array": {map[string]string{"JobID": "9", "ArrayJobID": "9", "ArrayTaskID": "1-10%2"}, func(e *slurm.QueueEntry) bool {
			return e.ArrayJob == 9 && e.Tasks == 10 && e.AtOnce == 2 && e.ArrayTasks == "1-10%2"
		}},
		"is a task":              {map[string]string{"JobID": "12", "ArrayJobID": "9", "ArrayTaskID": "3", "State": "RUNNING"}, func(e *slurm.QueueEntry) bool { return e.ID == 12 && e.ArrayJob == 9 && e.Tasks == 0 }},
		"is interactive":         {map[string]string{"BatchFlag": "0"}, func(e *slurm.QueueEntry) bool { return e.Interactive }},
		"shares, in Slurm 26.05": {map[string]string{"OverSubscribe": "NO", "Exclusive": "NO"}, func(e *slurm.QueueEntry) bool { return !e.Exclusive }},
		"shares nothing there":   {map[string]string{"OverSubscribe": "NO", "Exclusive": "NODE"}, func(e *slurm.QueueEntry) bool { return e.Exclusive }},
		"shares nothing":         {map[string]string{"OverSubscribe": "NO"}, func(e *slurm.QueueEntry) bool { return e.Exclusive }},
		"never ends":             {map[string]string{"TimeLimit": "UNLIMITED"}, func(e *slurm.QueueEntry) bool { return e.Limit == slurm.UnlimitedTime }},
		"has no limit":           {map[string]string{"TimeLimit": "Partition_Limit"}, func(e *slurm.QueueEntry) bool { return e.Limit == 0 }},
		"wants GPUs":             {map[string]string{"tres-per-node": "gres/gpu:a100:2"}, func(e *slurm.QueueEntry) bool { return e.GPUs == 4 && e.Needs.Gres[0].Type == "a100" }},
		"wants features": {map[string]string{"Feature": "fast&big", "ExcNodes": "node3", "Licenses": "matlab:1"}, func(e *slurm.QueueEntry) bool {
			return e.Needs.Constraint == "fast&big" && e.Needs.Exclude.Names[0] == "node3" && e.Needs.Licenses == "matlab:1"
		}},
		"counts by CPU": {map[string]string{"MinMemory": "1000M", "cpus-per-task": "4"}, func(e *slurm.QueueEntry) bool {
			return e.Needs.NodeMemory == workload.NodeNeed{Amount: 4000, Option: "--mem-per-cpu"}
		}},
		"has no CPUs of a task": {map[string]string{"cpus-per-task": "65534"}, func(e *slurm.QueueEntry) bool { return e.Needs.NodeCPUs.Amount == 1 }},
		"has a strange name":    {map[string]string{"Name": "a|b\nc"}, func(e *slurm.QueueEntry) bool { return e.Name == "a|b" }},
		"is of Snakemake": {map[string]string{"Name": run, "WorkDir": "/home/alice", "Comment": "rule_align_wildcards_s1"}, func(e *slurm.QueueEntry) bool {
			return e.Name == run && e.Engine == engine.Job{Name: engine.Snakemake, Run: run, Task: "align_wildcards_s1"}
		}},
		"is of Nextflow": {map[string]string{"Name": "nf-ALIGN_(1)", "WorkDir": "/w/3f/9a2c4e6b8d0f1a3c5e7b9d1f2a4c6e", "Comment": "a\nb"}, func(e *slurm.QueueEntry) bool {
			return e.Engine == engine.Job{Name: engine.Nextflow, Run: "/w"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := read(t, shown(c.differs))
			if len(got) != 1 || !c.is(&got[0]) {
				t.Errorf("%+v, needs %+v", got, got[0].Needs)
			}
		})
	}
}

// What three Slurms print of the same jobs is read alike, but for what one of them leaves out.
func TestVersions(t *testing.T) {
	for _, version := range []string{"22.05", "24.11", "26.05"} {
		t.Run(version, func(t *testing.T) {
			out, err := os.ReadFile(filepath.Join("testdata", version+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			queue := read(t, string(out))
			if len(queue) != 13 {
				t.Fatalf("%d jobs", len(queue))
			}
			for i, is := range []func(e *slurm.QueueEntry) bool{
				0: func(e *slurm.QueueEntry) bool {
					return e.State == workload.Running && len(e.On) == 1 && e.CPUs == 4 && e.Limit == 3600
				},
				4: func(e *slurm.QueueEntry) bool {
					return e.Name == "a|b c" && e.User == "alice" && e.State == workload.Pending && e.Eligible != 0
				},
				5: func(e *slurm.QueueEntry) bool {
					return e.Nodes == 2 && e.CPUs == 4 && e.Needs.NodeMemory.Amount == 1000 && e.Limit == 86400 && e.Nice == 5
				},
				6: func(e *slurm.QueueEntry) bool {
					return e.Needs.NodeMemory == workload.NodeNeed{Amount: 600, Option: "--mem-per-cpu"} && e.Needs.NodeTmp.Amount == 1 && e.Needs.Licenses == "matlab:1"
				},
				7:  func(e *slurm.QueueEntry) bool { return e.ArrayJob == e.ID && e.Tasks == 10 && e.AtOnce == 2 },
				8:  func(e *slurm.QueueEntry) bool { return e.Eligible-e.Submit >= 7000 && e.Reason == "BeginTime" },
				9:  func(e *slurm.QueueEntry) bool { return e.Held },
				10: func(e *slurm.QueueEntry) bool { return strings.HasPrefix(e.Dependency, "afterok:5") },
				11: func(e *slurm.QueueEntry) bool {
					return e.Exclusive && (len(e.Needs.Exclude.Names) == 2 || version == "22.05")
				},
				12: func(e *slurm.QueueEntry) bool {
					return !e.Exclusive && slices.Equal(e.Needs.NodeList.Names, []string{"node3"})
				},
			} {
				if is != nil && !is(&queue[i]) {
					t.Errorf("%+v, needs %+v", queue[i], queue[i].Needs)
				}
			}
		})
	}
}

// What cannot be read hides no other job; if nothing can be, that is an error.
func TestForeign(t *testing.T) {
	if got := read(t, "slurm_load_jobs: hello\n"+shown(map[string]string{"JobID": "x"})+shown(nil)+shown(map[string]string{"JobID": "2", "State": "COMPLETED"})); len(got) != 1 || got[0].ID != 7 {
		t.Errorf("%+v", got)
	}
	if got := read(t, ""); got == nil || len(got) != 0 {
		t.Errorf("%+v", got)
	}
	for _, out := range []string{"JOBID PARTITION\n", shown(map[string]string{"JobID": "0"}), shown(map[string]string{"SubmitTime": "N/A"}), shown(map[string]string{"TimeLimit": "soon"})} {
		if got, err := parse(out); err == nil {
			t.Errorf("%q: %+v", out, got)
		}
	}
}

func TestCommand(t *testing.T) {
	down := errors.New("slurmctld is down")
	c := Command{Env: []string{"SLURM_CONF=/x"}, Run: func(_ context.Context, path string, env []string, args ...string) ([]byte, error) {
		if path != "squeue" || !slices.Contains(env, "SLURM_TIME_FORMAT=%s") || !slices.Contains(env, "SLURM_CONF=/x") || !slices.Contains(args, "--all") {
			t.Error(path, env, args)
		}
		return []byte(shown(map[string]string{"JobID": "8"}) + shown(nil)), down
	}}
	if _, err := c.Queue(t.Context()); !errors.Is(err, down) {
		t.Error(err)
	}
	down = nil
	got, err := c.Queue(t.Context())
	if err != nil || len(got) != 2 || got[0].ID != 7 {
		t.Error(got, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(shown(nil))
	f.Add(shown(map[string]string{"State": "RUNNING", "NodeList": "node[1-2]", "tres-per-task": "gres/gpu:2"}))
	f.Fuzz(func(t *testing.T, out string) {
		queue, err := parse(out)
		if err != nil {
			return
		}
		for i := range queue {
			if e := &queue[i]; e.ID <= 0 || e.Submit <= 0 || e.Limit < 0 || e.Nodes < 0 || e.CPUs < 0 || e.State.Finished() {
				t.Errorf("%q: %+v", out, e)
			}
		}
	})
}
