package trace

import (
	"fmt"
	"math"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/logs/swf"
)

// converter turns the records of a log into jobs.
type converter struct {
	procs   int32  // of the machine
	tooMany string // the warning for a job with more processors
	newest  int64  // submit time of the previous job
}

func newConverter(procs int32) converter {
	return converter{procs: procs, tooMany: fmt.Sprintf("is more than the machine's %d; left out", procs)}
}

// next returns the log's next job, or io.EOF. Limit is 0 if the job requested no time.
func (c *converter) next(log *swf.Reader) (sched.Job, error) {
	var record swf.Record
	for {
		if err := log.Read(&record); err != nil {
			return sched.Job{}, err
		}
		if procs := c.runsOn(log, &record); procs > 0 {
			return c.job(log, &record, procs), nil
		}
	}
}

// runsOn returns the number of processors that the record's job runs on. If the record is
// no job that can run, it returns 0 and counts a warning with the reason.
func (c *converter) runsOn(log *swf.Reader, r *swf.Record) int32 {
	switch {
	case r.Submit < 0:
		log.Warn(swf.FieldSubmit, r.Submit, "is negative; left out")
		return 0
	case r.Run < swf.Unknown:
		log.Warn(swf.FieldRun, r.Run, "is negative; left out")
		return 0
	case r.Status == swf.StatusPartial, r.Status == swf.StatusLast, r.Status == swf.StatusLastFail:
		log.Warn(swf.FieldStatus, r.Status, "is a part of a job that has a line of its own; left out")
		return 0
	case !r.Ran():
		log.Warn(swf.FieldRun, r.Run, "means that it never ran; left out")
		return 0
	}
	field, procs := swf.FieldProcs, r.Procs
	if procs <= 0 {
		field, procs = swf.FieldReqProcs, r.ReqProcs
	}
	switch {
	case procs <= 0:
		log.Warn(swf.FieldProcs, r.Procs, "and no requested processors; left out")
		return 0
	case procs > int64(c.procs):
		log.Warn(field, procs, c.tooMany)
		return 0
	}
	return int32(procs)
}

func (c *converter) job(log *swf.Reader, r *swf.Record, procs int32) sched.Job {
	if r.Submit < c.newest {
		log.Warn(swf.FieldSubmit, r.Submit, "is before the line above; taken as submitted with it")
	}
	c.newest = max(c.newest, r.Submit)
	limit := max(0, r.ReqTime)
	switch {
	case limit == 0:
		log.Warn(swf.FieldReqTime, r.ReqTime, "is not a time; the longest run of its queue is taken")
	case r.Run > limit:
		log.Warn(swf.FieldRun, r.Run, "is more than the requested time; killed by then")
	}
	return sched.Job{
		ID:        r.Job,
		Submit:    c.newest,
		Limit:     limit,
		Run:       r.Run,
		Procs:     procs,
		User:      number(log, swf.FieldUser, r.User),
		Group:     number(log, swf.FieldGroup, r.Group),
		App:       number(log, swf.FieldExecutable, r.Executable),
		Queue:     number(log, swf.FieldQueue, r.Queue),
		Partition: number(log, swf.FieldPartition, r.Partition),
	}
}

// number returns the number of a user, a group or the like, or -1 if it is unknown.
func number(log *swf.Reader, f swf.Field, value int64) int32 {
	if value > math.MaxInt32 {
		log.Warn(f, value, "is too large; taken as unknown")
		return swf.Unknown
	}
	return int32(max(swf.Unknown, value))
}
