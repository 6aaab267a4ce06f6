package agent

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/sysfs"

	"github.com/varq-project/varq/predictor/api"
)

// Reader reads signals from the kernel's files. What a node does not have, or does not let be read,
// is left out.
type Reader struct {
	Root      string   // where /proc and /sys are: "/", but in tests
	Textfiles []string // the folders in which metrics of GPUs may lie, see textfile.go
}

// Read returns at most api.MaxSignals signals.
func (r Reader) Read() []api.Signal {
	var s signals
	if fs, err := procfs.NewFS(r.path("proc")); err == nil {
		r.processes(&s, fs)
		taint(&s, fs)
	}
	if fs, err := sysfs.NewFS(r.path("sys")); err == nil {
		heat(&s, fs)
		infiniBand(&s, fs)
	}
	r.mounts(&s)
	r.memory(&s)
	r.disks(&s)
	r.interfaces(&s)
	for _, folder := range r.Textfiles {
		readFolder(&s, r.path(folder))
	}
	return s.bounded()
}

func (r Reader) path(parts ...string) string {
	return filepath.Join(append([]string{r.Root}, parts...)...)
}

// signals are collected in the order of their importance.
type signals []api.Signal

// add adds a signal. Values that varqd would refuse are left out.
func (s *signals) add(name, of string, value float64) {
	if value >= 0 && value <= 1<<64 && api.IsLabel(of) {
		*s = append(*s, api.Signal{Name: name, Of: of, Value: value})
	}
}

// bounded returns the signals by name and part, one of each, and no more than varqd takes. Those
// without a part come first. Of too many each name has as many as any other, or all that it has.
func (s signals) bounded() []api.Signal {
	slices.SortStableFunc(s, func(a, b api.Signal) int {
		return cmp.Or(cmp.Compare(min(1, len(a.Of)), min(1, len(b.Of))), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Of, b.Of))
	})
	s = slices.CompactFunc(s, func(a, b api.Signal) bool { return a.Name == b.Name && a.Of == b.Of })
	for most := api.MaxSignals; len(s) > api.MaxSignals; most /= 2 {
		of := map[string]int{}
		s = slices.DeleteFunc(s, func(a api.Signal) bool {
			of[a.Name]++
			return of[a.Name] > most
		})
	}
	return s
}

// processes reads how many processes run, and how long they wait for memory and disks.
func (r Reader) processes(s *signals, fs procfs.FS) {
	if load, err := fs.LoadAvg(); err == nil {
		if n := r.processors(); n > 0 {
			s.add(api.SignalLoad, "", load.Load5/float64(n))
		}
	}
	for resource, name := range map[string]string{"memory": api.SignalMemoryPressure, "io": api.SignalIOPressure} {
		if p, err := fs.PSIStatsForResource(resource); err == nil && p.Some != nil {
			s.add(name, "", p.Some.Avg300)
		}
	}
}

// processors returns how many processors are online.
func (r Reader) processors() (n int) {
	for part := range strings.SplitSeq(text(r.path("sys/devices/system/cpu/online")), ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		if err != nil {
			return 0
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(to); err != nil || last < first {
				return 0
			}
		}
		n += last - first + 1
	}
	return n
}

// taints are the flags of the kernel that tell of trouble: a machine check, a bad page, an oops, a
// warning, a soft lockup.
var taints = []string{"M", "B", "D", "W", "L"}

func taint(s *signals, fs procfs.FS) {
	kernel, err := fs.KernelTainted()
	if err != nil {
		return
	}
	for _, bit := range kernel.Bits {
		if slices.Contains(taints, bit.Flag) {
			set := 0.
			if bit.Set {
				set = 1
			}
			s.add(api.SignalTaint, bit.Flag, set)
		}
	}
}

// heat reads the temperature of the hottest zone, and how often processors were slowed down. All
// threads of a core have the same count, and all cores of a package, so that the greatest is taken.
func heat(s *signals, fs sysfs.FS) {
	hottest := math.Inf(-1)
	if zones, err := fs.ClassThermalZoneStats(); err == nil {
		for _, z := range zones {
			if z.ReadErrors == nil {
				hottest = max(hottest, float64(z.Temp)/1000)
			}
		}
	}
	s.add(api.SignalTemperature, "", hottest)
	cpus, err := fs.CPUs()
	if err != nil {
		return
	}
	throttles := -1.
	for _, cpu := range cpus {
		if t, err := cpu.ThermalThrottle(); err == nil {
			throttles = max(throttles, float64(t.CoreThrottleCount), float64(t.PackageThrottleCount))
		}
	}
	s.add(api.SignalThrottles, "", throttles)
}

func infiniBand(s *signals, fs sysfs.FS) {
	devices, err := fs.InfiniBandClassDevices()
	if err != nil {
		return
	}
	for _, name := range devices {
		device, err := fs.InfiniBandDevice(name)
		if err != nil {
			continue
		}
		for _, port := range device.Ports {
			c, sum, known := port.Counters, 0., false
			for _, count := range []*uint64{c.SymbolError, c.LinkDowned, c.LinkErrorRecovery, c.PortRcvErrors, c.LocalLinkIntegrityErrors, c.ExcessiveBufferOverrunErrors} {
				if count != nil {
					sum, known = sum+float64(*count), true
				}
			}
			if known {
				s.add(api.SignalNetwork, name+"/"+strconv.FormatUint(uint64(port.Port), 10), sum)
			}
		}
	}
}

// memory reads the errors of memory controllers.
func (r Reader) memory(s *signals) {
	for _, mc := range r.glob("sys/devices/system/edac/mc/mc[0-9]*") {
		of := filepath.Base(mc)
		s.count(api.SignalMemoryCorrected, of, filepath.Join(mc, "ce_count"))
		s.count(api.SignalMemoryUncorrected, of, filepath.Join(mc, "ue_count"))
	}
}

func (r Reader) disks(s *signals) {
	for _, disk := range r.glob("sys/block/*") {
		s.count(api.SignalDisk, filepath.Base(disk), filepath.Join(disk, "device/ioerr_cnt"))
	}
	for _, filesystem := range r.glob("sys/fs/ext4/*") {
		// an image in a file, which its user may have garbled
		if strings.HasPrefix(filepath.Base(filesystem), "loop") {
			continue
		}
		s.count(api.SignalFilesystem, filepath.Base(filesystem), filepath.Join(filesystem, "errors_count"))
	}
}

// interfaces reads the errors of network interfaces that are hardware.
func (r Reader) interfaces(s *signals) {
	for _, device := range r.glob("sys/class/net/*/device") {
		interfaceFolder := filepath.Dir(device)
		sum, known := 0., false
		for _, file := range []string{"statistics/rx_errors", "statistics/tx_errors", "carrier_down_count"} {
			if n, ok := number(filepath.Join(interfaceFolder, file)); ok {
				sum, known = sum+n, true
			}
		}
		if known {
			s.add(api.SignalNetwork, filepath.Base(interfaceFolder), sum)
		}
	}
}

// glob returns the paths that fit a pattern below the root.
func (r Reader) glob(pattern string) []string {
	paths, _ := filepath.Glob(r.path(pattern)) // the patterns are well-formed
	return paths
}

// count adds the count in a file, if there is one.
func (s *signals) count(name, of, path string) {
	if n, ok := number(path); ok {
		s.add(name, of, n)
	}
}

// number returns the number in a file of the kernel's: SCSI writes hexadecimal ones.
func number(path string) (float64, bool) {
	n, err := strconv.ParseUint(text(path), 0, 64)
	return float64(n), err == nil
}

// open opens a file, if it is one: a pipe would be waited for.
func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// text returns the first line of a small file, or "" if it cannot be read.
func text(path string) string {
	f, err := open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	var buffer [256]byte
	n, _ := f.Read(buffer[:])
	line, _, _ := strings.Cut(string(buffer[:n]), "\n")
	return strings.TrimSpace(line)
}
