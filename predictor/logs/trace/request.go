package trace

import (
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/logs/swf"
	"github.com/varq-project/varq/predictor/workload"
)

// Requests returns what tells, of a job of the header's log, what it asks its
// queue for, by the names the header gives to the numbers: the same that
// swf.Reader.Jobs yields. The zero header serves jobs of no log.
func Requests(h swf.Header) func(*sched.Job) workload.Request {
	names := h.Names()
	return func(j *sched.Job) workload.Request {
		return names.Request(&swf.Record{
			ReqProcs: int64(j.Procs), ReqTime: j.Limit, ReqMemory: swf.Unknown,
			User: int64(j.User), Group: int64(j.Group), Queue: int64(j.Queue), Partition: int64(j.Partition),
		})
	}
}
