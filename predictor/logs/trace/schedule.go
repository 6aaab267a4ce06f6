package trace

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/logs/swf"
)

// Schedule writes finished jobs to a file. It keeps 72 bytes for each job until Close
// writes all jobs in the order of submission.
type Schedule struct {
	file   *File
	format func(io.Writer, *swf.Header, []row) error
	header swf.Header
	rows   []row
}

// simulated is the note in the header of a schedule.
const simulated = " Note: a schedule simulated by varq: waits and run times did not happen"

// row has the fields of a job that a schedule writes.
type row struct {
	id, submit, start, end, limit, run        int64
	procs, user, group, app, queue, partition int32
}

// CreateSchedule creates a schedule. The end of path gives its format: .swf, .csv, .swf.gz
// or .csv.gz. There is no file at path until Close has written all of it. An SWF file gets
// the header h, with a note that the schedule is simulated and without the numbers of jobs
// and records. For Open to read the file, h must have MaxProcs.
func CreateSchedule(path string, h swf.Header) (*Schedule, error) {
	s := &Schedule{header: h}
	s.header.MaxJobs, s.header.MaxRecords = 0, 0
	if !slices.Contains(h.Notice, simulated) {
		s.header.Notice = slices.Concat([]string{simulated}, h.Notice)
	}
	switch plain := strings.TrimSuffix(path, ".gz"); {
	case strings.HasSuffix(plain, ".swf"):
		s.format = writeSWF
	case strings.HasSuffix(plain, ".csv"):
		s.format = writeCSV
	default:
		return nil, fmt.Errorf("trace: the name of the schedule %s must end in .swf, .csv, .swf.gz or .csv.gz", path)
	}
	file, err := CreateFile(path)
	if err != nil {
		return nil, err
	}
	s.file = file
	return s, nil
}

// Add adds a job that has ended. Jobs may come in any order. Add does not keep j.
func (s *Schedule) Add(j *sched.Job) {
	s.rows = append(s.rows, rowOf(j))
}

func rowOf(j *sched.Job) row {
	return row{
		id: j.ID, submit: j.Submit, start: j.Start, end: j.End, limit: j.Limit, run: j.Run,
		procs: j.Procs, user: j.User, group: j.Group, app: j.App, queue: j.Queue, partition: j.Partition,
	}
}

// Close writes the schedule and gives it its name. After an error there is no new schedule,
// and an older file of that name is unchanged.
func (s *Schedule) Close() error {
	slices.SortStableFunc(s.rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.submit, b.submit), cmp.Compare(a.id, b.id))
	})
	return s.file.Finish(func(w io.Writer) error { return s.format(w, &s.header, s.rows) })
}

// Discard removes the unfinished file.
func (s *Schedule) Discard() error { return s.file.Discard() }

// writeSWF writes a log. A job that was killed at its limit has its limit as the run time,
// and the status failed.
func writeSWF(w io.Writer, h *swf.Header, rows []row) error {
	log := swf.NewWriter(w, h)
	for _, r := range rows {
		record := swf.Record{
			Job: r.id, Submit: r.submit, Wait: r.start - r.submit, Run: r.end - r.start, Procs: int64(r.procs),
			CPUTime: swf.Unknown, Memory: swf.Unknown,
			ReqProcs: int64(r.procs), ReqTime: r.limit, ReqMemory: swf.Unknown, Status: swf.StatusCompleted,
			User: int64(r.user), Group: int64(r.group), Executable: int64(r.app),
			Queue: int64(r.queue), Partition: int64(r.partition),
			PrecedingID: swf.Unknown, ThinkTime: swf.Unknown,
		}
		if r.run > r.limit {
			record.Status = swf.StatusFailed
		}
		if err := log.Write(&record); err != nil {
			return err
		}
	}
	return log.Flush()
}

// csvHeader names the columns of a CSV file. Times are in seconds. run is the run time that
// the job would have had without its limit.
const csvHeader = "job,submit,start,end,procs,limit,run,user,group,app,queue,partition\n"

func writeCSV(w io.Writer, _ *swf.Header, rows []row) error {
	out := bufio.NewWriterSize(w, 64<<10)
	line := []byte(csvHeader)
	for _, r := range rows {
		if _, err := out.Write(line); err != nil {
			return err
		}
		line = line[:0]
		for _, n := range [...]int64{r.id, r.submit, r.start, r.end, int64(r.procs), r.limit, r.run,
			int64(r.user), int64(r.group), int64(r.app), int64(r.queue), int64(r.partition)} {
			line = append(strconv.AppendInt(line, n, 10), ',')
		}
		line[len(line)-1] = '\n'
	}
	if _, err := out.Write(line); err != nil {
		return err
	}
	return out.Flush()
}
