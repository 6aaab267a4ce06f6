package swf

// Unknown is the format's value for an unknown number.
const Unknown = -1

// The values of Record.Status.
const (
	StatusFailed    = 0
	StatusCompleted = 1
	StatusPartial   = 2 // a part of a checkpointed job, but not the last part
	StatusLast      = 3 // the last part of a checkpointed job, completed
	StatusLastFail  = 4 // the last part of a checkpointed job, failed
	StatusCancelled = 5
)

// Record is one line of a log: the 18 fields of the format, in its order and units. An
// unknown field is Unknown.
type Record struct {
	Job         int64
	Submit      int64   // seconds since the log's start
	Wait        int64   // seconds
	Run         int64   // seconds
	Procs       int64   // processors allocated
	CPUTime     float64 // seconds, average of the processors
	Memory      int64   // KiB used, average of the processors
	ReqProcs    int64
	ReqTime     int64 // seconds
	ReqMemory   int64 // KiB for each processor
	Status      int64
	User        int64
	Group       int64
	Executable  int64
	Queue       int64
	Partition   int64
	PrecedingID int64
	ThinkTime   int64 // seconds since the preceding job ended
}

// Ran reports whether the job ran. A job with an unknown run time, or a cancelled job with
// run time 0, did not.
func (r *Record) Ran() bool {
	return r.Run > 0 || r.Run == 0 && r.Status != StatusCancelled
}

// Started reports whether the job ran and its wait is known. If a job was cancelled before
// it ran, Wait is the time until the cancellation.
func (r *Record) Started() bool { return r.Wait >= 0 && r.Ran() }
