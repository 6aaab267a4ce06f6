package wrapper

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// TrimLimit lowers a job's time limit to what work needs that begins at begin,
// Unix seconds: workLimit seconds from then on, in whole minutes. It never raises
// a limit.
func TrimLimit(q Queue, job, begin, workLimit int64) error {
	start, limit, err := q.Job(job)
	if err != nil {
		return err
	}
	minutes := (max(0, begin-start) + workLimit + 59) / 60
	if minutes*60 >= limit {
		return nil
	}
	return q.SetLimit(job, minutes)
}

// The command line, behind --, by which varq-wrapper trims a limit.
const (
	FlagTrim      = "trim"
	FlagJob       = "job"
	FlagBegin     = "begin"
	FlagWorkLimit = "work-limit"
)

// StartTrim starts this program again, to trim a job's limit, and does not wait
// for it. That process is a child neither of this one nor of the work, which may
// take this one's place and would be puzzled by it.
func StartTrim(job, begin, workLimit int64) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	option := func(name string, n int64) string { return "--" + name + "=" + strconv.FormatInt(n, 10) }
	const inBackground = `"$0" "$@" </dev/null >/dev/null &`
	cmd := exec.Command("/bin/sh", "-c", inBackground, self, "--"+FlagTrim,
		option(FlagJob, job), option(FlagBegin, begin), option(FlagWorkLimit, workLimit))
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Run()
}
