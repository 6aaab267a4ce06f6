package slurmrestd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/engine"
	"github.com/varq-project/varq/predictor/workload"
)

// queueJob is a job of slurmctld.
type queueJob struct {
	JobID        number  `json:"job_id"`
	Name         string  `json:"name"`
	UserName     string  `json:"user_name"`
	Account      string  `json:"account"`
	Partition    string  `json:"partition"`
	QOS          string  `json:"qos"`
	State        words   `json:"job_state"`
	Reason       string  `json:"state_reason"`
	Description  string  `json:"state_description"`
	Dependency   string  `json:"dependency"`
	Features     string  `json:"features"`
	NodeList     string  `json:"required_nodes"`
	Excluded     string  `json:"excluded_nodes"`
	Comment      comment `json:"comment"`
	Dir          string  `json:"current_working_directory"`
	Priority     number  `json:"priority"`
	Nodes        string  `json:"nodes"`
	NodeCount    number  `json:"node_count"`
	CPUs         number  `json:"cpus"`
	TimeLimit    number  `json:"time_limit"` // minutes
	Submit       number  `json:"submit_time"`
	Eligible     number  `json:"eligible_time"`
	Start        number  `json:"start_time"`
	End          number  `json:"end_time"`
	TRESReq      string  `json:"tres_req_str"`
	TRESAlloc    string  `json:"tres_alloc_str"`
	TRESPerNode  string  `json:"tres_per_node"`
	TRESPerJob   string  `json:"tres_per_job"`
	TRESPerTask  string  `json:"tres_per_task"`
	ArrayJobID   number  `json:"array_job_id"`
	ArrayTaskID  number  `json:"array_task_id"`
	ArrayTasks   string  `json:"array_task_string"`
	HetJobID     number  `json:"het_job_id"`
	RestartCount number  `json:"restart_cnt"`
	Shared       words   `json:"shared"`
	SuspendTime  number  `json:"suspend_time"`
	RanBefore    number  `json:"pre_sus_time"`

	Batch         json.RawMessage `json:"batch_flag"`
	Tasks         number          `json:"tasks"`
	CPUsPerTask   number          `json:"cpus_per_task"`
	CPUsPerNode   number          `json:"minimum_cpus_per_node"`
	MemoryPerNode number          `json:"memory_per_node"`
	MemoryPerCPU  number          `json:"memory_per_cpu"`
	DiskPerNode   number          `json:"minimum_tmp_disk_per_node"`
	Licenses      string          `json:"licenses"`
	Reservation   string          `json:"resv_name"`
	Contiguous    bool            `json:"contiguous"`
	Deadline      number          `json:"deadline"`
	TimeMin       number          `json:"time_minimum"` // minutes
	Nice          number          `json:"nice"`
	Switches      number          `json:"required_switches"`
}

func (j *queueJob) required() []presence {
	return []presence{
		{"job_id", j.JobID.set}, {"job_state", len(j.State) > 0}, {"submit_time", j.Submit.present},
		{"eligible_time", j.Eligible.present}, {"start_time", j.Start.present}, {"time_limit", j.TimeLimit.present},
	}
}

// heldByUser is the reason of a job that its user holds. Other jobs of priority 0 wait for
// an administrator. A job that Slurm could not launch has the same reason, but a description:
// "launch failed requeued held". requeuedAndHeld is the description that scontrol requeuehold
// leaves, as the user may call it.
const (
	heldByUser      = "JobHeldUser"
	requeuedAndHeld = "job requeued in held state"
)

// Queue returns every pending and running job, by id.
func (c *Client) Queue(ctx context.Context) ([]slurm.QueueEntry, error) {
	return c.readQueue(ctx, "/jobs")
}

// FirstFederated is the least id of a job that comes from a cluster of a federation, of which the
// number is above the lower 26 bits. v0.0.38 has such jobs in the list of all jobs only, and
// slurmrestd 24.11 rejects these ids.
const FirstFederated = 1 << 26

// Job returns one pending or running job, or slurm.ErrNotFound.
func (c *Client) Job(ctx context.Context, id int64) (slurm.QueueEntry, error) {
	queue, err := c.readQueue(ctx, jobPath(id))
	if err != nil && id >= FirstFederated {
		queue, err = c.Queue(ctx)
	}
	if err != nil {
		return slurm.QueueEntry{}, err
	}
	for _, entry := range queue { // the rest are other tasks of its array
		if entry.ID == id {
			return entry, nil
		}
	}
	return slurm.QueueEntry{}, fmt.Errorf("slurmrestd: job %d: %w", id, slurm.ErrNotFound)
}

// Ended returns a job that slurmctld still shows after its end, as it does for MinJobAge, or
// slurm.ErrNotFound. It needs no accounting. A job that never started has no Start.
func (c *Client) Ended(ctx context.Context, id int64) (workload.Job, error) {
	ended, found := workload.Job{}, false
	err := c.do(ctx, request{method: http.MethodGet, family: controller, path: jobPath(id)}, fields{
		"jobs": each(func(j *queueJob) error {
			entry := j.entry()
			if entry.ID != id || !entry.State.Finished() {
				return nil
			}
			ended, found = entry.Job, true
			if ended.End = j.End.or(0); len(ended.On) == 0 {
				ended.Start = 0 // to which Slurm sets when it was cancelled
			}
			return nil
		}),
	})
	if err == nil && !found {
		err = fmt.Errorf("slurmrestd: job %d: %w", id, slurm.ErrNotFound)
	}
	return ended, err
}

// EachJob calls use for every pending and running job, as slurmctld has them, and ends with its
// first error. It keeps none.
func (c *Client) EachJob(ctx context.Context, use func(*slurm.QueueEntry) error) error {
	return c.eachJob(ctx, "/jobs", use)
}

func (c *Client) eachJob(ctx context.Context, path string, use func(*slurm.QueueEntry) error) error {
	return c.do(ctx, request{method: http.MethodGet, family: controller, path: path}, fields{
		"jobs": each(func(j *queueJob) error {
			if entry := j.entry(); !entry.State.Finished() {
				return use(&entry)
			}
			return nil
		}),
	})
}

// readQueue returns the pending and running jobs that path names, by id.
func (c *Client) readQueue(ctx context.Context, path string) ([]slurm.QueueEntry, error) {
	var queue []slurm.QueueEntry
	err := c.eachJob(ctx, path, func(entry *slurm.QueueEntry) error {
		queue = append(queue, *entry)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(queue, func(a, b slurm.QueueEntry) int { return cmp.Compare(a.ID, b.ID) })
	return queue, nil
}

func (j *queueJob) entry() slurm.QueueEntry {
	// An unreadable list counts as empty, so that one job does not hide the others. The
	// numbers of nodes and CPUs have fields of their own.
	requested, _ := slurm.ParseTRES(j.TRESReq)
	allocated, _ := slurm.ParseTRES(j.TRESAlloc)
	entry := slurm.QueueEntry{
		Job: workload.Job{
			ID: j.JobID.or(0),
			Request: workload.Request{
				User:        j.UserName,
				Account:     j.Account,
				Partition:   j.Partition,
				QOS:         j.QOS,
				Reservation: j.Reservation,
				Nice:        j.nice(),
				Size:        slurm.RequestedSize(requested, allocated),
				Limit:       limitSeconds(j.TimeLimit),
			},
			Given:    slurm.SizeOf(allocated).CPUs,
			On:       nodeNames(j.Nodes),
			Submit:   j.Submit.or(0),
			Eligible: j.Eligible.or(0),
			State:    slurm.ParseState(j.State...),
			Comment:  string(j.Comment),
			Series:   workload.SeriesOf(j.Name),
		},
		Name:         j.Name,
		Engine:       engine.Of(j.Name, string(j.Comment), j.Dir),
		Reason:       j.Reason,
		Dependency:   j.Dependency,
		Features:     j.Features,
		NodeList:     j.NodeList,
		Excluded:     j.Excluded,
		ArrayJob:     j.ArrayJobID.or(0),
		ArrayTasks:   j.ArrayTasks,
		HetJob:       j.HetJobID.or(0),
		RestartCount: int(j.RestartCount.count()),
		Interactive:  string(j.Batch) == "false",
		Completing:   slices.Contains(j.State, "COMPLETING"),
		Exclusive: slices.ContainsFunc(j.Shared, func(with string) bool {
			return slices.Contains([]string{"none", "user", "mcs", "topo"}, with)
		}),
	}
	entry.Needs = j.needs(requested)
	if entry.Waking = slices.ContainsFunc(j.State, func(s string) bool { return s == "CONFIGURING" || s == "POWER_UP_NODE" }); entry.Waking {
		entry.State = workload.Pending
	}
	if entry.State == workload.Requeued { // it will be pending in a moment
		entry.State = workload.Pending
	}
	if entry.Nodes == 0 {
		entry.Nodes = j.NodeCount.count()
	}
	if entry.CPUs == 0 {
		entry.CPUs = j.CPUs.count()
	}
	if entry.GPUs == 0 { // accounting may not count them
		entry.GPUs = gpus(entry.Needs, entry.Nodes)
	}
	entry.Array = entry.ArrayJob
	if entry.State == workload.Pending {
		entry.Priority, entry.Expected = j.Priority.or(0), j.Start.or(0)
		entry.SetEligible()
		if entry.ArrayJob != 0 {
			entry.Tasks, entry.AtOnce = slurm.CountTasks(j.ArrayTasks)
		}
		entry.SetAtLimit()
		entry.QOSFull = slurm.QOSFull(j.Reason)
		entry.Shape = j.shape()
		switch described := strings.ReplaceAll(j.Description, "_", " "); {
		case !j.Priority.set || j.Priority.value != 0:
		case j.Reason == heldByUser && (described == "" || described == requeuedAndHeld):
			entry.Held = true
		default:
			entry.Stopped = cmp.Or(described, j.Reason)
		}
	} else {
		entry.Start = j.Start.or(0)
		entry.Suspended = slices.Contains(j.State, "SUSPENDED")
		entry.SuspendTime, entry.RanBefore = j.SuspendTime.or(0), j.RanBefore.or(0)
	}
	if entry.ArrayTasks == "" && entry.ArrayJob != 0 && j.ArrayTaskID.set {
		entry.ArrayTasks = strconv.FormatInt(j.ArrayTaskID.value, 10)
	}
	return entry
}

// nice returns what sbatch --nice says. Slurm 22.05 writes -5 as 4294967291.
func (j *queueJob) nice() int64 { return int64(int32(j.Nice.or(0))) }

func (j *queueJob) shape() slurm.Shape {
	rest := slices.DeleteFunc(strings.Split(j.TRESReq, ","), func(item string) bool {
		name, _, _ := strings.Cut(item, "=")
		return slices.Contains([]string{"cpu", "mem", "node", "billing", "energy"}, name)
	})
	return slurm.Shape{
		CPUs: j.CPUs.or(0), Tasks: j.Tasks.or(0), CPUsPerTask: j.CPUsPerTask.or(0), CPUsPerNode: j.CPUsPerNode.or(0),
		MemoryPerNode: j.MemoryPerNode.or(0), MemoryPerCPU: j.MemoryPerCPU.or(0), DiskPerNode: j.DiskPerNode.or(0),
		TRES:     strings.Join(rest, ","),
		Licenses: countedLicenses(j.Licenses), Reservation: j.Reservation, Contiguous: j.Contiguous, Deadline: j.Deadline.or(0), TimeMin: 60 * j.TimeMin.or(0),
		Switches: j.Switches.or(0),
	}
}

// countedLicenses returns a list of licences as Slurm writes it itself: each with its count.
func countedLicenses(list string) string {
	items := strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(",;", r) })
	for i, item := range items {
		if !strings.ContainsAny(item, ":=*") {
			items[i] = item + ":1"
		}
	}
	slices.Sort(items)
	return strings.Join(items, ",")
}

// limitSeconds converts a limit in minutes into seconds. It returns 0 if the limit is not
// known or is the partition's.
func limitSeconds(minutes number) int64 {
	if minutes.infinite {
		return slurm.UnlimitedTime
	}
	return 60 * min(max(minutes.or(0), 0), slurm.UnlimitedTime/60)
}
