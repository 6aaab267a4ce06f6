package slurmrestd

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// A job is held only if its own user holds it. Otherwise it is stopped, by an operator or by Slurm.
func TestHeldByUser(t *testing.T) {
	for _, test := range []struct {
		reason, description string
		held                bool
		stopped             string
	}{
		{"JobHeldUser", "", true, ""},
		{"JobHeldAdmin", "", false, "JobHeldAdmin"},
		{"JobHeldUser", "launch failed requeued held", false, "launch failed requeued held"},
		{"launch failed requeued held", "", false, "launch failed requeued held"},
		{"JobHeldUser", "job requeued in held state", true, ""},
	} {
		j := queueJob{State: words{"PENDING"}, Priority: number{set: true}, Reason: test.reason, Description: test.description}
		if entry := j.entry(); entry.Held != test.held || entry.Stopped != test.stopped {
			t.Errorf("%+v: held is %v, stopped is %q", test, entry.Held, entry.Stopped)
		}
		j.Priority.value = 1
		if entry := j.entry(); entry.Held || entry.Stopped != "" {
			t.Errorf("%+v with a priority: held is %v, stopped is %q", test, entry.Held, entry.Stopped)
		}
	}
}

// v0.0.38 has no job of a federation by its id, but in the list of all.
func TestFederatedJob(t *testing.T) {
	const id = 1<<26 + 7
	list := fmt.Sprintf(`{"jobs":[{"job_id":%d,"job_state":["PENDING"],`+times+`},{"job_id":8,"job_state":["PENDING"],`+times+`}]}`, id)
	c := serve(t, api(func(w http.ResponseWriter, r *http.Request) {
		if path.Base(r.URL.Path) == "jobs" {
			answer(200, list)(w, r)
			return
		}
		answer(200, `{"errors":[{"error_number":-1,"error":"Unspecified error","description":"Unable to find JobId"}],"jobs":[]}`)(w, r)
	}))
	if got, err := c.Job(t.Context(), id); err != nil || got.ID != id {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := c.Job(t.Context(), id+1); !errors.Is(err, slurm.ErrNotFound) {
		t.Errorf("one that is gone: %v", err)
	}
	if _, err := c.Job(t.Context(), 7); err == nil || errors.Is(err, slurm.ErrNotFound) {
		t.Errorf("one of no federation: %v", err)
	}
}

// A job that awaits its turn is eligible since its submission where Slurm does not tell it.
func TestAwaitsTurn(t *testing.T) {
	const submit = 100
	for _, test := range []struct {
		reason, dependency       string
		priority, eligible, want int64
	}{
		{"None", "", 1, 0, submit},
		{"Resources", "", 1, 0, submit},
		{"None", "", 1, 150, 150},
		{"None", "", 0, 0, 0},
		{"None", "afterok:5", 1, 0, 0},
		{"Dependency", "", 1, 0, 0},
	} {
		j := queueJob{
			State: words{"PENDING"}, Reason: test.reason, Dependency: test.dependency,
			Priority: number{set: true, value: test.priority}, Submit: number{set: true, value: submit}, Eligible: number{set: true, value: test.eligible},
		}
		if got := j.entry().Eligible; got != test.want {
			t.Errorf("%+v: eligible since %d", test, got)
		}
	}
}

// A job whose nodes are not up yet has not started, whatever start Slurm tells.
func TestWaking(t *testing.T) {
	for _, state := range []words{{"CONFIGURING"}, {"RUNNING", "CONFIGURING"}, {"RUNNING", "POWER_UP_NODE"}} {
		j := queueJob{State: state, Start: number{set: true, value: 50}, Submit: number{set: true, value: 40}, Nodes: "node1"}
		if e := j.entry(); !e.Waking || e.State != workload.Pending || e.Start != 0 || !slices.Equal(e.On, []string{"node1"}) {
			t.Errorf("%v: %+v", state, e)
		}
	}
}

// What a job asks for is read as its user may change it.
func TestShape(t *testing.T) {
	queue, err := serve(t, api(answer(200, `{"jobs":[{"job_id":7,"job_state":"PENDING",`+times+`,"batch_flag":false,"shared":"none",
		"cpus":99,"tasks":3,"cpus_per_task":2,"minimum_cpus_per_node":4,"memory_per_node":null,"memory_per_cpu":500,
		"licenses":"matlab,abaqus:2","resv_name":"maint","contiguous":true,"deadline":1767225600,"nice":4294967291,"required_switches":1,
		"minimum_tmp_disk_per_node":10,"tres_req_str":"cpu=3,mem=12000M,node=3,billing=3,gres/gpu:a100=2,license/x=1"}]}`))).Queue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := slurm.Shape{CPUs: 99, Tasks: 3, CPUsPerTask: 2, CPUsPerNode: 4, MemoryPerCPU: 500, DiskPerNode: 10, TRES: "gres/gpu:a100=2,license/x=1",
		Licenses: "abaqus:2,matlab:1", Reservation: "maint", Contiguous: true, Deadline: 1767225600, Switches: 1}
	if j := queue[0]; j.Shape != want || !j.Interactive || !j.Exclusive || j.CPUs != 3 {
		t.Errorf("got %+v", j)
	}
}

// A job is AtLimit if it waits for a limit of its own user or account, or for the nodes of a
// reservation. Of an array that may have only some tasks at once, AtOnce tells that.
func TestAtLimit(t *testing.T) {
	for reason, want := range map[string]bool{
		"AssocMaxJobsLimit": true, "AssocGrpCpuLimit": true, "QOSMaxJobsPerUserLimit": true, "JobArrayTaskLimit": true,
		"MaxCpuPerAccount": true, "MaxJobsPerAccount": true, "QOSGrpCpuLimit": false, "Priority": false, "Resources": false, "None": false, "Dependency": false, "": false,
	} {
		waiting := queueJob{State: words{"PENDING"}, Reason: reason}
		past := pastJob{}
		past.State.Current, past.State.Reason = words{"COMPLETED"}, reason
		if one, other := waiting.entry(), past.job(); one.AtLimit != want || other.AtLimit != want {
			t.Errorf("%s: %v in the queue, and %v in accounting", reason, one.AtLimit, other.AtLimit)
		}
		if full := waiting.entry().QOSFull; full != strings.HasPrefix(reason, "QOSGrp") {
			t.Errorf("%s: its QOS is full: %v", reason, full)
		}
		waiting.ArrayJobID, waiting.ArrayTasks = number{set: true, value: 1}, "1-9%2"
		if array := waiting.entry(); array.AtOnce != 2 || array.AtLimit {
			t.Errorf("%s: an array is at limit %v, with %d at once", reason, array.AtLimit, array.AtOnce)
		}
		if waiting.Reservation = "course"; !waiting.entry().AtLimit {
			t.Errorf("%s: a job that waits for its reservation is not at a limit", reason)
		}
	}
}

// A job that has ended counts as running until its nodes are free, and says so: in the words of old
// and of new versions.
func TestCompleting(t *testing.T) {
	for _, state := range []words{{"COMPLETING"}, {"CANCELLED", "COMPLETING"}} {
		j := queueJob{State: state}
		if entry := j.entry(); !entry.Completing || entry.State != workload.Running {
			t.Errorf("%v: %+v", state, entry)
		}
	}
	if entry := (&queueJob{State: words{"RUNNING"}}).entry(); entry.Completing {
		t.Errorf("%+v", entry)
	}
}

// A job with unreadable resources does not hide other jobs.
func TestBadTRES(t *testing.T) {
	queue, err := serve(t, api(answer(200, `{"jobs":[
		{"job_id":7,"job_state":["PENDING"],`+times+`,"tres_req_str":"cpu"},
		{"job_id":8,"job_state":["RUNNING"],`+times+`,"tres_req_str":"cpu=x,node=3","tres_alloc_str":"node=y","node_count":{"set":true,"number":2},"cpus":{"set":true,"number":4}},
		{"job_id":9,"job_state":["PENDING"],`+times+`,"tres_req_str":"cpu=1,mem=10M,node=1"}
	]}`))).Queue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[int64]workload.Size{7: {}, 8: {Nodes: 2, CPUs: 4}, 9: {Nodes: 1, CPUs: 1, Memory: 10}}
	if len(queue) != len(want) {
		t.Errorf("%d jobs, want %d", len(queue), len(want))
	}
	for _, entry := range queue {
		if entry.Size != want[entry.ID] {
			t.Errorf("job %d: size %+v, want %+v", entry.ID, entry.Size, want[entry.ID])
		}
	}
}
