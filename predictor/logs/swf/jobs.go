package swf

import (
	"iter"

	"github.com/varq-project/varq/predictor/workload"
)

// Jobs yields the log's jobs. Their times are Unix seconds if the header has
// UnixStartTime, else seconds since the start of the log. If the wait or the run time is
// unknown, Start and End are 0. Names makes the Request.
func (r *Reader) Jobs() iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		names := r.header.Names()
		var newest int64
		for record, err := range r.Records() {
			if err != nil {
				yield(workload.Job{}, err)
				return
			}
			r.check(&record, newest)
			newest = record.Submit
			if !yield(job(&record, names, r.header.UnixStartTime), nil) {
				return
			}
		}
	}
}

// check counts warnings about a job. newest is the submit time of the previous line.
func (r *Reader) check(rec *Record, newest int64) {
	for _, f := range [...]struct {
		field Field
		value int64
	}{
		{FieldSubmit, rec.Submit}, {FieldWait, rec.Wait}, {FieldRun, rec.Run}, {FieldProcs, rec.Procs},
		{FieldReqProcs, rec.ReqProcs}, {FieldReqTime, rec.ReqTime}, {FieldReqMemory, rec.ReqMemory},
	} {
		if f.value < Unknown {
			r.Warn(f.field, f.value, "is negative; taken as unknown")
		}
	}
	if rec.Submit < newest {
		r.Warn(FieldSubmit, rec.Submit, "is before the line above")
	}
	if rec.Run > 0 && rec.Procs <= 0 && rec.ReqProcs <= 0 {
		r.Warn(FieldProcs, rec.Procs, "and no requested processors: ran on none")
	}
}

// job turns a record of a log that starts at the Unix second start into a job.
func job(r *Record, names *Names, start int64) workload.Job {
	job := workload.Job{ID: r.Job, Request: names.Request(r), State: state(r)}
	job.Submit = start + max(0, r.Submit)
	job.Eligible = job.Submit
	if r.Started() {
		job.Start = job.Submit + r.Wait
		job.End = job.Start + r.Run
	} else if r.Status == StatusCancelled {
		job.End = job.Submit + max(0, r.Wait)
	}
	return job
}

// state returns the job's final state. A job of unknown status that ran is completed.
func state(r *Record) workload.State {
	switch r.Status {
	case StatusFailed, StatusLastFail:
		return workload.Failed
	case StatusCompleted, StatusPartial, StatusLast:
		return workload.Completed
	case StatusCancelled:
		return workload.Cancelled
	}
	if r.Run >= 0 {
		return workload.Completed
	}
	return workload.Unknown
}
