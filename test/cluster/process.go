package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process identifies a process uniquely. The kernel reuses process ids, but not for a process
// that started at the same clock tick.
type process struct {
	PID   int
	Start uint64 // clock ticks after boot
}

// procStat holds the fields of /proc/PID/stat that this package uses.
type procStat struct {
	command string
	state   byte
	parent  int
	threads int
	start   uint64
}

func readStat(pid int) (procStat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procStat{}, err
	}
	return parseStat(string(text))
}

// parseStat parses a line of /proc/PID/stat. The command is in parentheses and may itself
// contain spaces and parentheses.
func parseStat(line string) (procStat, error) {
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return procStat{}, fmt.Errorf("stat line without a command: %q", line)
	}
	f := strings.Fields(line[end+1:])
	if len(f) < 20 {
		return procStat{}, fmt.Errorf("stat line of %d fields", len(f))
	}
	s := procStat{command: line[open+1 : end], state: f[0][0]}
	var err1, err2, err3 error
	s.parent, err1 = strconv.Atoi(f[1])
	s.threads, err2 = strconv.Atoi(f[17])
	s.start, err3 = strconv.ParseUint(f[19], 10, 64)
	return s, errors.Join(err1, err2, err3)
}

// ended reports whether the process no longer runs. A zombie, which its parent has not reaped
// yet, has ended if it has no other thread. The main thread can end before others that still
// hold the process's sockets; such a process has not ended.
func (s procStat) ended() bool { return (s.state == 'Z' || s.state == 'X') && s.threads <= 1 }

func self() process {
	p, _ := processOf(os.Getpid())
	return p
}

func processOf(pid int) (process, error) {
	s, err := readStat(pid)
	return process{pid, s.start}, err
}

// alive reports whether the process still runs. A process that its parent has not reaped yet
// is not alive.
func (p process) alive() bool {
	s, err := readStat(p.PID)
	return err == nil && s.start == p.Start && !s.ended()
}

// waitGone waits until the process has ended. It returns false if that takes longer than
// patience.
func (p process) waitGone(patience time.Duration) bool {
	for deadline := time.Now().Add(patience); p.alive(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

func (f folder) pidFile(d Daemon) string { return f.Path("run", string(d)+".pid") }

func (f folder) writePID(d Daemon, p process) error {
	return os.WriteFile(f.pidFile(d), fmt.Appendf(nil, "%d %d\n", p.PID, p.Start), 0o644)
}

// running returns the process of a daemon and whether it is alive.
func (f folder) running(d Daemon) (process, bool) {
	text, err := os.ReadFile(f.pidFile(d))
	if err != nil {
		return process{}, false
	}
	var p process
	if _, err := fmt.Sscan(string(text), &p.PID, &p.Start); err != nil {
		return process{}, false
	}
	return p, p.alive()
}

// killAll kills the cluster's processes and returns when none is left. It returns an error if
// some are left after Patience.
func (f folder) killAll() error {
	for deadline := time.Now().Add(Patience); ; time.Sleep(10 * time.Millisecond) {
		left, err := f.processes()
		if err != nil {
			return err
		}
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes %v of %s do not end", left, f.Dir)
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// processes returns the ids of the cluster's processes: its daemons, the slurmstepd of its
// nodes, the descendants of both, and processes of jobs that have lost their slurmstepd. It
// omits the calling process.
func (f folder) processes() ([]int, error) {
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	stats := make(map[int]procStat, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			continue
		}
		if s, err := readStat(pid); err == nil {
			stats[pid] = s
		}
	}
	ours := make(map[int]bool)
	for pid, s := range stats {
		ours[pid] = f.marked(pid) || s.command == "slurmstepd" && f.usesFolder(pid)
	}
	for {
		grown := false
		for pid, s := range stats {
			if !ours[pid] && ours[s.parent] {
				ours[pid], grown = true, true
			}
		}
		if !grown {
			break
		}
	}
	var pids []int
	for pid, s := range stats {
		if ours[pid] && !s.ended() && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// mark is the start of the environment variable that identifies a cluster's daemons. Its value
// is the cluster's folder.
const mark = "VARQ_CLUSTER="

// marked reports, from the process's environment, whether the process is one of the cluster's
// daemons or belongs to one of its jobs.
func (f folder) marked(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return false
	}
	var inJob, ourConf bool
	for v := range bytes.SplitSeq(text, []byte{0}) {
		switch s := string(v); {
		case s == mark+f.Dir:
			return true
		case s == "SLURM_CONF="+f.Conf():
			ourConf = true
		case strings.HasPrefix(s, "SLURM_JOB_ID="):
			inJob = true
		}
	}
	return inJob && ourConf
}

// usesFolder reports whether the process has an open file, its working directory or its root
// below the cluster's folder.
func (f folder) usesFolder(pid int) bool {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	links = append(links, fmt.Sprintf("/proc/%d/cwd", pid), fmt.Sprintf("/proc/%d/root", pid))
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, f.Dir+"/") {
			return true
		}
	}
	return false
}
