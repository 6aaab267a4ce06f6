package trace

import (
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/logs/swf"
	"github.com/varq-project/varq/predictor/workload"
)

// Requests returns a function that returns the request of a job of the header's log, with
// the names that the header has. It equals the Request that swf.Reader.Jobs yields. With
// the zero Header it works for jobs without a log.
func Requests(h swf.Header) func(*sched.Job) workload.Request {
	names := h.Names()
	return func(j *sched.Job) workload.Request {
		return names.Request(&swf.Record{
			ReqProcs: int64(j.Procs), ReqTime: j.Limit, ReqMemory: swf.Unknown,
			User: int64(j.User), Group: int64(j.Group), Queue: int64(j.Queue), Partition: int64(j.Partition),
		})
	}
}
