package doctor

import (
	"bufio"
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// muchMemory is from which memory of a slurmrestd on, in bytes, its threads are likely to keep some
// each.
const muchMemory = 1 << 30

// oneArena is what keeps slurmrestd's memory at what one thread needs.
const oneArena = "put Environment=MALLOC_ARENA_MAX=1 into its unit's section Service (systemctl edit slurmrestd), and restart it"

// RestMemory examines the slurmrestd at the address of a URL, if that runs on this host: whether
// each of its threads keeps the memory of the longest answer that it has given, as malloc does by
// default. proc is where /proc is. Without such a process there is no finding.
func RestMemory(proc, address string) []Finding {
	const of = "slurmrestd memory"
	for _, p := range processes(proc, "slurmrestd") {
		if !p.listens(address) {
			continue
		}
		found := fmt.Sprintf("process %s has %d MiB in %d threads", p.pid, p.resident>>20, p.threads)
		switch {
		case p.bounded():
			return []Finding{ok(of, "%s, and one arena for all", found)}
		case p.environment != nil:
			return []Finding{warning(of, found+", each of which keeps what the longest queue took that it has reported", oneArena)}
		case p.resident >= muchMemory:
			return []Finding{warning(of, found+", each of which may keep what the longest queue took that it has reported", "unless that is done: "+oneArena)}
		}
		return []Finding{ok(of, "%s", found)}
	}
	return nil
}

// process is what a process shows to others.
type process struct {
	pid         string
	words       []string // of its command
	environment []string // nil if this user must not read it
	resident    int64    // bytes
	threads     int
}

// processes returns the processes of a name, as far as this user sees them.
func processes(proc, name string) (all []process) {
	found, _ := filepath.Glob(filepath.Join(proc, "[0-9]*")) // the pattern is a good one
	for _, dir := range found {
		read := func(file string) []byte {
			// of another user's, or it has ended meanwhile
			text, _ := os.ReadFile(filepath.Join(dir, file))
			return text
		}
		if strings.TrimSpace(string(read("comm"))) != name {
			continue
		}
		p := process{pid: filepath.Base(dir), words: zeroEnded(read("cmdline")), environment: zeroEnded(read("environ"))}
		p.resident, p.threads = parseStatus(read("status"))
		all = append(all, p)
	}
	return all
}

// zeroEnded splits what the kernel tells as strings that end with a zero.
func zeroEnded(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

// parseStatus returns the resident memory, in bytes, and the threads that a file /proc/PID/status
// tells, 0 for what it does not tell.
func parseStatus(text []byte) (resident int64, threads int) {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), ":")
		switch key {
		case "VmRSS":
			var kib int64
			if _, err := fmt.Sscanf(value, "%d kB", &kib); err == nil && kib >= 0 && kib < 1<<50 {
				resident = kib << 10
			}
		case "Threads":
			if _, err := fmt.Sscanf(value, "%d", &threads); err != nil || threads < 0 {
				threads = 0
			}
		}
	}
	return resident, threads
}

// listens reports whether the process was told, by its command or by what of its environment can be
// read, to listen at the address of a URL, by its port or its socket.
func (p *process) listens(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	at := ":" + u.Port()
	switch host := u.Hostname(); {
	case u.Scheme == "unix":
		at = u.Path + u.Opaque
	case u.Port() == "" || !local(host):
		return false
	}
	words := append([]string{}, p.words[min(1, len(p.words)):]...)
	for _, variable := range p.environment {
		if listen, is := strings.CutPrefix(variable, "SLURMRESTD_LISTEN="); is {
			words = append(words, strings.Split(listen, ",")...)
		}
	}
	for _, word := range words {
		if strings.HasSuffix(word, at) {
			return true
		}
	}
	return false
}

// local reports whether a host of a URL is this one, by its name.
func local(host string) bool {
	name, _ := os.Hostname() // without a name, it is not a host's
	short, _, _ := strings.Cut(host, ".")
	return host == "localhost" || strings.HasPrefix(host, "127.") || host == "::1" || host == name || short == name
}

// bounded reports whether the environment keeps malloc from giving each thread an arena.
func (p *process) bounded() bool {
	for _, variable := range p.environment {
		name, value, _ := strings.Cut(variable, "=")
		if name == "MALLOC_ARENA_MAX" && value != "" || name == "GLIBC_TUNABLES" && strings.Contains(value, "glibc.malloc.arena_max=") {
			return true
		}
	}
	return false
}
