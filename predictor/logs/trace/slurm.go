package trace

import (
	"cmp"
	"io"
	"iter"
	"slices"

	"github.com/varq-project/varq/predictor/logs/swf"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/sacct"
	"github.com/varq-project/varq/predictor/workload"
)

// SlurmLog has the past jobs of a Slurm cluster, to be written as a log. It keeps 72 bytes
// for each job.
type SlurmLog struct {
	// Ran counts the jobs that ran. Cancelled counts the jobs that ended without
	// having run. The log has both kinds.
	Ran, Cancelled int
	// Pending and Running count the jobs that had not ended. Odd counts the jobs
	// without processors, or with times that contradict one another. The log has none
	// of these jobs.
	Pending, Running, Odd int
	// Peak is the largest number of processors that the log's jobs used at once.
	Peak int64

	rows                             []slurmRow // in the order of the log
	users, accounts, qos, partitions numbers
}

// slurmRow has the fields of a job that the log has.
type slurmRow struct {
	id               int64 // Slurm's
	ready            int64 // Unix seconds
	wait, run, limit int64 // seconds, or unknown
	procs, asked     int32
	user, account    int32
	qos, partition   int32
	status           int8
}

// FromSlurm reads the jobs of a cluster, in any order. Each run of a requeued job counts as
// a job. FromSlurm returns the error of the sequence, if any.
func FromSlurm(jobs iter.Seq2[sacct.Record, error]) (*SlurmLog, error) {
	l := &SlurmLog{}
	for job, err := range jobs {
		if err != nil {
			return nil, err
		}
		l.add(&job)
	}
	slices.SortStableFunc(l.rows, func(a, b slurmRow) int {
		return cmp.Or(cmp.Compare(a.ready, b.ready), cmp.Compare(a.id, b.id))
	})
	l.Peak = peak(l.rows)
	return l, nil
}

// add adds a job to the log, or counts why the log leaves it out.
func (l *SlurmLog) add(j *sacct.Record) {
	switch {
	case j.State == workload.Pending:
		l.Pending++
		return
	case j.State == workload.Running:
		l.Running++
		return
	case !sound(j):
		l.Odd++
		return
	}
	row := slurmRow{
		id: j.ID, ready: ready(j), limit: j.Limit, asked: cmp.Or(j.CPUs, j.Allocated.CPUs),
		user: l.users.of(j.User), account: l.accounts.of(j.Account),
		qos: l.qos.of(j.QOS), partition: l.partitions.of(j.Partition),
	}
	if j.Limit == 0 || j.Limit == slurm.UnlimitedTime {
		row.limit = swf.Unknown
	}
	if j.Start > 0 {
		l.Ran++
		row.procs = cmp.Or(j.Allocated.CPUs, j.CPUs)
		row.wait, row.run, row.status = j.Start-row.ready, j.End-j.Start, status(j.State)
	} else {
		l.Cancelled++
		row.procs = swf.Unknown
		row.wait, row.run, row.status = max(swf.Unknown, j.End-row.ready), swf.Unknown, swf.StatusCancelled
	}
	l.rows = append(l.rows, row)
}

// sound reports whether a job has ended, and its processors and times make sense.
func sound(j *sacct.Record) bool {
	procs := max(j.CPUs, j.Allocated.CPUs)
	began := ready(j)
	return j.State.Finished() && procs > 0 && procs <= swf.MaxProcessors && j.Limit <= swf.MaxSeconds &&
		began > 0 && max(began, j.End) <= swf.MaxSeconds && (j.Start == 0 || j.Start <= j.End)
}

// ready returns the time from which a job could have started, which is not after its start.
// It returns 0 if that time is not known.
func ready(j *sacct.Record) int64 {
	t := cmp.Or(j.Eligible, j.Submit)
	if j.Start > 0 && (t == 0 || j.Start < t) {
		return j.Start
	}
	return t
}

// status returns the SWF status of a job that has run.
func status(s workload.State) int8 {
	switch s {
	case workload.Completed:
		return swf.StatusCompleted
	case workload.Cancelled:
		return swf.StatusCancelled
	default:
		return swf.StatusFailed
	}
}

// peak returns the largest number of processors that were in use at once, and at least the
// number of the largest job. It takes O(n log n) time.
func peak(rows []slurmRow) int64 {
	type change struct{ at, procs int64 }
	changes := make([]change, 0, 2*len(rows))
	var most int64
	for i := range rows {
		r := &rows[i]
		most = max(most, int64(r.procs))
		if r.run > 0 {
			start := r.ready + r.wait
			changes = append(changes, change{start, int64(r.procs)}, change{start + r.run, -int64(r.procs)})
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		// ends come before starts
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.procs, b.procs))
	})
	var used int64
	for _, c := range changes {
		used += c.procs
		most = max(most, used)
	}
	return most
}

// fromSlurm is the note in the header of such a log.
const fromSlurm = " Note: from Slurm's accounting, by varq: jobs are submitted when they become eligible; users, groups (accounts) and jobs are numbered anew"

// Write writes the log of a machine with procs processors. Times are relative to the first
// job. Users, accounts and jobs have numbers and no names. The log's queues are the QOS. The
// header has the names of queues and partitions.
func (l *SlurmLog) Write(w io.Writer, procs int64) error {
	header := swf.Header{
		MaxProcs: procs, MaxJobs: int64(len(l.rows)), MaxRecords: int64(len(l.rows)),
		Queues: l.qos.names(), Partitions: l.partitions.names(),
		Notice: []string{fromSlurm},
	}
	if len(l.rows) > 0 {
		header.UnixStartTime = l.rows[0].ready
	}
	log := swf.NewWriter(w, &header)
	for i := range l.rows {
		r := &l.rows[i]
		if err := log.Write(&swf.Record{
			Job: int64(i + 1), Submit: r.ready - header.UnixStartTime, Wait: r.wait, Run: r.run, Procs: int64(r.procs),
			CPUTime: swf.Unknown, Memory: swf.Unknown,
			ReqProcs: int64(r.asked), ReqTime: r.limit, ReqMemory: swf.Unknown, Status: int64(r.status),
			User: int64(r.user), Group: int64(r.account), Executable: swf.Unknown,
			Queue: int64(r.qos), Partition: int64(r.partition),
			PrecedingID: swf.Unknown, ThinkTime: swf.Unknown,
		}); err != nil {
			return err
		}
	}
	return log.Flush()
}

// numbers numbers names from 1, in the order in which they appear.
type numbers map[string]int32

func (n *numbers) of(name string) int32 {
	if name == "" {
		return swf.Unknown
	}
	number, ok := (*n)[name]
	if !ok {
		if *n == nil {
			*n = make(numbers)
		}
		number = int32(len(*n) + 1)
		(*n)[name] = number
	}
	return number
}

func (n numbers) names() map[int64]string {
	names := make(map[int64]string, len(n))
	for name, number := range n {
		names[int64(number)] = name
	}
	return names
}
