package agent

import (
	"bufio"
	"io"
	"os"
	"strings"

	"github.com/varq-project/varq/predictor/api"
)

// mount is a line of the kernel's list of mounts.
type mount struct {
	device   string // MAJOR:MINOR
	point    string
	kind     string // of the filesystem
	readOnly bool   // the filesystem itself: the options of a sandbox do not count
}

// Bounds of the list of mounts. Users may add to it by FUSE: what is longer than a line is left
// out, and all after the list's end.
const (
	longestMount = 64 << 10
	mostMounts   = 64 << 20
)

// parseMounts yields the mounts in a text as /proc/self/mountinfo has it (proc_pid_mountinfo(5)).
func parseMounts(r io.Reader, yield func(mount)) {
	lines := bufio.NewReaderSize(io.LimitReader(r, mostMounts), longestMount)
	for {
		line, rest, err := lines.ReadLine()
		text := string(line)
		whole := !rest
		for rest && err == nil {
			_, rest, err = lines.ReadLine()
		}
		if err != nil {
			return
		}
		if m, ok := parseMount(text); ok && whole {
			yield(m)
		}
	}
}

// parseMount reads ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG]... - KIND SOURCE OPTIONS.
func parseMount(line string) (m mount, ok bool) {
	of, filesystem, ok := strings.Cut(line, " - ")
	at, what := strings.Split(of, " "), strings.Split(filesystem, " ")
	if !ok || len(at) < 6 || len(what) < 3 {
		return m, false
	}
	m = mount{device: at[2], point: at[4], kind: what[0]}
	for option := range strings.SplitSeq(what[2], ",") {
		m.readOnly = m.readOnly || option == "ro"
	}
	return m, true
}

// onDisk reports whether a mount is a filesystem on a disk, that its administrator has mounted: not
// one of FUSE, which any user mounts and gives whatever source she likes, nor an image in a file,
// as those of containers. btrfs has devices without a number of their own.
func (m *mount) onDisk() bool {
	switch major, _, _ := strings.Cut(m.device, ":"); {
	case strings.HasPrefix(m.kind, "fuse"), major == loop:
		return false
	case m.kind == "btrfs":
		return true
	default:
		return major != "0"
	}
}

// loop is the major number of loop devices.
const loop = "7"

// readOnlyKinds are filesystems that are never written.
var readOnlyKinds = map[string]bool{"iso9660": true, "udf": true, "squashfs": true, "erofs": true, "cramfs": true}

// mounts reads which filesystems on disks have become read-only.
func (r Reader) mounts(s *signals) {
	f, err := os.Open(r.path("proc/self/mountinfo"))
	if err != nil {
		return
	}
	defer f.Close()
	shortest := map[string]mount{} // by device
	parseMounts(f, func(m mount) {
		if !m.onDisk() || readOnlyKinds[m.kind] {
			return
		}
		if seen, known := shortest[m.device]; !known || len(m.point) < len(seen.point) {
			shortest[m.device] = m
		}
	})
	for _, m := range shortest {
		value := 0.
		if m.readOnly {
			value = 1
		}
		s.add(api.SignalReadOnly, m.point, value)
	}
}
