package swf

// Unknown is how the format writes a value that is not known.
const Unknown = -1

// The values of Record.Status.
const (
	StatusFailed    = 0
	StatusCompleted = 1
	StatusPartial   = 2 // one part of a checkpointed job, to be continued
	StatusLast      = 3 // its last part, completed
	StatusLastFail  = 4 // its last part, failed
	StatusCancelled = 5
)

// Record is one line of a log: the 18 fields of the format, in its order and
// units. Each is Unknown where the log does not tell.
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

// Ran reports whether the job ever ran. A cancelled job without a run time
// never did.
func (r *Record) Ran() bool {
	return r.Run > 0 || r.Run == 0 && r.Status != StatusCancelled
}

// Started reports whether the job ran and its wait is known. Of a cancelled job
// that never ran, Wait is how long it had waited when it was cancelled.
func (r *Record) Started() bool { return r.Wait >= 0 && r.Ran() }
