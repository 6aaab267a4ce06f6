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

// Schedule writes finished jobs to a file. It keeps 72 bytes of each until Close
// writes them all, in the order of submission.
type Schedule struct {
	file   *File
	format func(io.Writer, *swf.Header, []row) error
	header swf.Header
	rows   []row
}

// simulated is the note in the header of a schedule.
const simulated = " Note: a schedule simulated by varq: waits and run times did not happen"

// row is what a schedule tells about a job.
type row struct {
	id, submit, start, end, limit, run        int64
	procs, user, group, app, queue, partition int32
}

// CreateSchedule creates a schedule of the kind that the end of its name tells:
// .swf, .csv, or either with .gz behind it. There is no file of that name until
// Close has written all of it. The header becomes that of an SWF file, with a
// note that this is a simulation; it must tell MaxProcs for Open to know it, and
// what it says of the number of jobs is left out.
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

// Add adds a job that has ended, in any order. The job may be used again.
func (s *Schedule) Add(j *sched.Job) {
	s.rows = append(s.rows, rowOf(j))
}

func rowOf(j *sched.Job) row {
	return row{
		id: j.ID, submit: j.Submit, start: j.Start, end: j.End, limit: j.Limit, run: j.Run,
		procs: j.Procs, user: j.User, group: j.Group, app: j.App, queue: j.Queue, partition: j.Partition,
	}
}

// Close writes the schedule and gives it its name. After an error there is no
// new schedule, and one of that name that was there before is as it was.
func (s *Schedule) Close() error {
	slices.SortStableFunc(s.rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.submit, b.submit), cmp.Compare(a.id, b.id))
	})
	return s.file.Finish(func(w io.Writer) error { return s.format(w, &s.header, s.rows) })
}

// Discard ends the schedule without a file.
func (s *Schedule) Discard() error { return s.file.Discard() }

// writeSWF writes a log of what happened: a job killed at its limit has run that
// long, and failed.
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

// csvHeader names the columns of a CSV file. Times are seconds; run is how long
// the job would have run without its limit.
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
