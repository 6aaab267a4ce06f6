package slurmrestd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// pastJob is a job of slurmdbd.
type pastJob struct {
	JobID       number  `json:"job_id"`
	Name        text    `json:"name"`
	User        string  `json:"user"`
	Account     string  `json:"account"`
	Partition   string  `json:"partition"`
	QOS         text    `json:"qos"`
	Comment     comment `json:"comment"`
	AllocNodes  number  `json:"allocation_nodes"`
	Nodes       string  `json:"nodes"` // hostlist, or "None assigned"
	Constraints string  `json:"constraints"`
	KilledBy    string  `json:"kill_request_user"` // who has cancelled it, or ""
	State       struct {
		Current words `json:"current"`
		// the last why it was pending, but for priority and resources
		Reason string `json:"reason"`
	} `json:"state"`
	Array struct {
		JobID number `json:"job_id"`
	} `json:"array"`
	Time struct {
		Submission number `json:"submission"`
		Eligible   number `json:"eligible"`
		Start      number `json:"start"`
		End        number `json:"end"`
		Limit      number `json:"limit"` // minutes
	} `json:"time"`
	Required struct {
		CPUs number `json:"CPUs"`
		// v0.0.38 has one number, of which it does not say what it is of
		MemoryPerNode number `json:"memory_per_node"`
		MemoryPerCPU  number `json:"memory_per_cpu"`
	} `json:"required"`
	TRES struct {
		Allocated tresList `json:"allocated"`
		Requested tresList `json:"requested"`
	} `json:"tres"`
}

func (j *pastJob) required() []presence {
	return []presence{
		{"job_id", j.JobID.set}, {"state.current", len(j.State.Current) > 0}, {"time.submission", j.Time.Submission.present},
		{"time.eligible", j.Time.Eligible.present}, {"time.start", j.Time.Start.present}, {"time.end", j.Time.End.present},
	}
}

// tresList is a list of trackable resources; memory is in MiB.
type tresList []struct {
	Type  string `json:"type"`
	Name  text   `json:"name"`
	Count number `json:"count"`
}

// counts returns the finite counts by Slurm's names, or nil if there are none.
func (l tresList) counts() limits.TRES {
	var tres limits.TRES
	for _, t := range l {
		if !t.Count.set {
			continue
		}
		if tres == nil {
			tres = make(limits.TRES, len(l))
		}
		name := t.Type
		if t.Name != "" {
			name += "/" + string(t.Name)
		}
		tres[name] = t.Count.value
	}
	return tres
}

// windows are small enough for slurmrestd: a thousand jobs take slurmdbd a third of a
// second, and slurmrestd 80 MB of memory.
var windows = slurm.Windows{First: 3600, Min: 60, Max: 7 * 24 * 3600, Target: 2000}

// History implements ingest.Source.
func (c *Client) History(ctx context.Context, from, to int64, progress func(slurm.Progress)) iter.Seq2[workload.Job, error] {
	return windows.History(ctx, from, to, progress, c.window)
}

// window yields the jobs of one window that ran in it, or that ended in it without having started.
// It yields one that ran and was cancelled twice.
//
// slurmrestd would else tell all jobs that wait, too, which takes it most of the time where the
// queue is long. It takes minutes for 20,000.
func (c *Client) window(ctx context.Context, from, to int64) iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		versions, err := c.serverVersions(ctx)
		if err != nil {
			yield(workload.Job{}, fmt.Errorf("history: %w", err))
			return
		}
		states := pastStates[:]
		if v := versions[database]; v != oldest && v < firstRepeated {
			states = []string{""} // of these versions it is not known what they do with a state
		}
		for _, state := range states {
			for job, err := range c.pastJobs(ctx, "/jobs", func(v version) url.Values { return windowQuery(v, from, to, state) }) {
				if err == nil && neverEligible(&job) {
					continue
				}
				if !yield(job, err) || err != nil {
					return
				}
			}
		}
	}
}

// pastStates are the states that window asks for, each by itself: Slurm 22.05 reads no list. By
// RUNNING Slurm means each job that ran at some time of the window, whatever has become of it, and
// by the last two those that ended in it, of which it asks in addition.
var pastStates = [...]string{"RUNNING", "SUSPENDED", "CANCELLED", "DEADLINE"}

// neverEligible reports whether a job was taken out of the queue before it could have started.
// Slurm tells of such jobs only if asked by their state.
func neverEligible(j *workload.Job) bool {
	return j.Start == 0 && j.End != 0 && (j.Eligible == 0 || j.Eligible > j.End)
}

// windowQuery returns a query for jobs of a window, in a state if that is not "".
func windowQuery(v version, from, to int64, state string) url.Values {
	query := runsQuery(v)
	query.Set("start_time", "uts"+strconv.FormatInt(from, 10))
	query.Set("end_time", "uts"+strconv.FormatInt(to, 10))
	if v >= firstRepeated {
		// Otherwise a job that started before the window or ended after it would seem to have started
		// and ended with it.
		query.Set("disable_truncate_usage_time", "true")
	}
	if state != "" {
		query.Set("state", state)
	}
	return query
}

// runsQuery returns a query for jobs, each run by itself, without their steps.
func runsQuery(v version) url.Values {
	query := url.Values{"skip_steps": {"true"}}
	if v >= firstRepeated {
		query.Set("show_duplicates", "true")
	}
	return query
}

// Accounted returns the jobs in accounting with this id, by submission. There may be
// several: each requeue is a submission, and Slurm uses ids again when a cluster's state is
// lost. There may be none. Of the id of an array, they are its tasks.
func (c *Client) Accounted(ctx context.Context, id int64) ([]workload.Job, error) {
	var jobs []workload.Job
	for job, err := range c.pastJobs(ctx, "/job/"+strconv.FormatInt(id, 10), func(version) url.Values { return nil }) {
		if errors.Is(err, slurm.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, job)
	}
	bySubmission(jobs)
	return jobs, nil
}

func bySubmission(jobs []workload.Job) {
	slices.SortStableFunc(jobs, func(a, b workload.Job) int { return cmp.Compare(a.Submit, b.Submit) })
}

// AccountedAll is Accounted for many jobs in one request, by their ids. For a thousand jobs that
// takes slurmrestd hardly longer than for one where accounting is large. It returns
// errors.ErrUnsupported for a version of which it is not known how it reads a list.
func (c *Client) AccountedAll(ctx context.Context, ids []int64) (map[int64][]workload.Job, error) {
	versions, err := c.serverVersions(ctx)
	if err != nil {
		return nil, err
	}
	if v := versions[database]; v != oldest && v < firstRepeated {
		return nil, fmt.Errorf("slurmrestd: a list of jobs, with %s: %w", v, errors.ErrUnsupported)
	}
	runs := make(map[int64][]workload.Job, len(ids))
	for job, err := range c.pastJobs(ctx, "/jobs", func(v version) url.Values { return listQuery(v, ids) }) {
		if errors.Is(err, slurm.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		id := job.ID
		if job.Array != 0 && slices.Contains(ids, job.Array) {
			id = job.Array
		}
		runs[id] = append(runs[id], job)
	}
	for _, jobs := range runs {
		bySubmission(jobs)
	}
	return runs, nil
}

// listQuery returns a query for the runs of these jobs.
func listQuery(v version, ids []int64) url.Values {
	query, list := runsQuery(v), make([]string, len(ids))
	for i, id := range ids {
		list[i] = strconv.FormatInt(id, 10)
	}
	if v == oldest {
		list = []string{strings.Join(list, ",")}
	}
	query["step"] = list
	return query
}

// pastJobs yields what slurmdbd answers to the query, which depends on the version.
func (c *Client) pastJobs(ctx context.Context, path string, query func(version) url.Values) iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		ctx, cancel := context.WithTimeoutCause(ctx, historyTimeouts*c.opts.Timeout, errTimeout)
		defer cancel()
		err := c.doWithin(ctx, request{method: http.MethodGet, family: database, path: path, query: query}, fields{
			"jobs": each(func(j *pastJob) error {
				if j.Partition == "" {
					return nil // slurmdbd has heard of its end, but not yet of its start
				}
				if !yield(j.job(), nil) {
					return errStop
				}
				return nil
			}),
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(workload.Job{}, fmt.Errorf("history: %w", err))
		}
	}
}

func (j *pastJob) job() workload.Job {
	allocated, requested := j.TRES.Allocated.counts(), j.TRES.Requested.counts()
	job := workload.Job{
		ID: j.JobID.or(0),
		Request: workload.Request{
			User:      j.User,
			Account:   j.Account,
			Partition: j.Partition,
			QOS:       string(j.QOS),
			Size:      slurm.RequestedSize(requested, allocated),
			Limit:     limitSeconds(j.Time.Limit),
		},
		Array:    j.Array.JobID.or(0),
		Given:    slurm.SizeOf(allocated).CPUs,
		Submit:   j.Time.Submission.or(0),
		Eligible: j.Time.Eligible.or(0),
		Start:    j.Time.Start.or(0),
		End:      j.Time.End.or(0),
		State:    slurm.ParseState(j.State.Current...),
		AtLimit:  slurm.AtLimit(j.State.Reason),
		Evicted:  slurm.Evicted(j.State.Current...),
		Expired:  slurm.Expired(j.State.Current...),
		Comment:  string(j.Comment),
		Series:   workload.SeriesOf(string(j.Name)),
		Needs:    j.needs(requested),
	}
	if job.Nodes == 0 {
		job.Nodes = j.AllocNodes.count()
	}
	if job.CPUs == 0 {
		job.CPUs = j.Required.CPUs.count()
	}
	slurm.DropInventedTimes(&job, allocated)
	job.Unfulfilled = job.Start == 0 && !job.Expired && slurm.Unfulfilled(j.State.Reason, j.KilledBy, job.State)
	if job.Start != 0 && job.End == 0 {
		job.On = nodeNames(j.Nodes)
	}
	return job
}
