package bigsite

import (
	"fmt"
	"os"
	"runtime"

	"github.com/prometheus/procfs"

	"github.com/varq-project/varq/test/cluster"
)

// Machine is what everything ran on.
type Machine struct {
	Processors int     `json:"processors"`
	GiB        float64 `json:"memory_gib"`
}

func thisMachine() Machine {
	m := Machine{Processors: runtime.NumCPU()}
	if fs, err := procfs.NewDefaultFS(); err == nil {
		if info, err := fs.Meminfo(); err == nil && info.MemTotalBytes != nil {
			m.GiB = float64(*info.MemTotalBytes) / (1 << 30)
		}
	}
	return m
}

// Usage is what a daemon took during the measurement: seconds of a processor, and its peak of
// resident memory.
type Usage struct {
	CPU float64 `json:"cpu_s"`
	MiB float64 `json:"peak_mib"`
}

// meter measures what daemons take.
type meter struct {
	fs    procfs.FS
	procs map[string]procfs.Proc
	cpu   map[string]float64 // seconds, when the measurement began
	busy  float64            // seconds in which processors were busy by then
}

// measureUsage begins to measure.
func (l *lab) measureUsage() (*meter, error) {
	m := &meter{procs: map[string]procfs.Proc{}, cpu: map[string]float64{}}
	var err error
	if m.fs, err = procfs.NewDefaultFS(); err != nil {
		return nil, err
	}
	pids := map[string]int{}
	for _, d := range []cluster.Daemon{cluster.Slurmctld, cluster.Slurmrestd, cluster.Slurmdbd, cluster.MariaDB} {
		if pids[string(d)], err = l.PID(d); err != nil {
			return nil, err
		}
	}
	if l.site != nil {
		pids["varqd"] = l.site.VarqdPID()
	}
	for name, pid := range pids {
		// The peak counts from now on.
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0o200); err != nil {
			return nil, err
		}
		if m.procs[name], err = m.fs.Proc(pid); err != nil {
			return nil, err
		}
		stat, err := m.procs[name].Stat()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		m.cpu[name] = stat.CPUTime()
	}
	m.busy, err = m.busySeconds()
	return m, err
}

// usage returns what each daemon took since then, and for how many seconds processors were busy.
func (m *meter) usage() (used map[string]Usage, busy float64, err error) {
	used = map[string]Usage{}
	for name, p := range m.procs {
		stat, err := p.Stat()
		if err != nil {
			return nil, 0, fmt.Errorf("%s has ended: %w", name, err)
		}
		status, err := p.NewStatus()
		if err != nil {
			return nil, 0, fmt.Errorf("%s has ended: %w", name, err)
		}
		used[name] = Usage{CPU: stat.CPUTime() - m.cpu[name], MiB: float64(status.VmHWM) / (1 << 20)}
	}
	busy, err = m.busySeconds()
	return used, busy - m.busy, err
}

func (m *meter) busySeconds() (float64, error) {
	stat, err := m.fs.Stat()
	if err != nil {
		return 0, err
	}
	c := stat.CPUTotal
	return c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal, nil
}
