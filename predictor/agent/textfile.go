package agent

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/varq-project/varq/predictor/api"
)

// Bounds of what is read of the files in a folder of metrics. The rest is left out.
const (
	mostFiles   = 64
	mostBytes   = 4 << 20 // of a file
	longestLine = 4096
	mostGPUs    = 64
	// mostCounters is how many metrics may be declared to be counters.
	mostCounters = 64
)

// readFolder reads the metrics of GPUs from the files *.prom in a folder, in the text format of
// Prometheus: those with xid or ecc in their names. node_exporter's textfile collector has such a
// folder, and others write them.
func readFolder(s *signals, folder string) {
	paths, _ := filepath.Glob(filepath.Join(folder, "*.prom")) // the pattern is well-formed
	for _, path := range paths[:min(len(paths), mostFiles)] {
		if f, err := open(path); err == nil && !guarded(folder, f) {
			f.Close()
		} else if err == nil {
			gpus := parseMetrics(io.LimitReader(f, mostBytes))
			f.Close()
			for of, g := range gpus {
				for name, value := range g {
					s.add(name, of, value)
				}
			}
		}
	}
}

// guarded reports whether a file is of a folder's owner, or of root, and nobody else may write it,
// or put another one in its place.
func guarded(folder string, file *os.File) bool {
	in, err := os.Stat(folder)
	if err != nil {
		return false
	}
	is, err := file.Stat()
	if err != nil {
		return false
	}
	owner := is.Sys().(*syscall.Stat_t).Uid
	return (in.Mode()|is.Mode())&0o002 == 0 && (owner == 0 || owner == in.Sys().(*syscall.Stat_t).Uid)
}

// parseMetrics returns the signals of GPUs in a text, by GPU and name. Several counts of a GPU with
// the same meaning are added up.
func parseMetrics(r io.Reader) map[string]map[string]float64 {
	gpus, counters := map[string]map[string]float64{}, map[string]bool{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		line := lines.Text()
		if words := strings.Fields(line); len(words) == 4 && words[0] == "#" && words[1] == "TYPE" {
			if words[3] == "counter" && len(counters) < mostCounters && ofGPU(words[2]) {
				counters[words[2]] = true
			}
			continue
		}
		metric, ok := parseMetric(line)
		if !ok {
			continue
		}
		name := metric.signal(counters[metric.name])
		if name == "" {
			continue
		}
		if gpus[metric.gpu] == nil {
			if len(gpus) == mostGPUs {
				continue
			}
			gpus[metric.gpu] = map[string]float64{}
		}
		if name == api.SignalGPUXID {
			if byApplications[strconv.FormatFloat(metric.value, 'f', -1, 64)] {
				metric.value = 0
			}
			gpus[metric.gpu][name] = metric.value
		} else {
			gpus[metric.gpu][name] += metric.value
		}
	}
	return gpus
}

// metric is one line of a text of metrics.
type metric struct {
	name, gpu string
	xid       string // the code of the errors that are counted, if the metric names one
	value     float64
}

// ofGPU reports whether a metric with that name tells of the errors of a GPU.
func ofGPU(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "xid") || strings.Contains(name, "ecc")
}

// byApplications are the codes of errors that a job's own program makes, such as an access outside
// of its memory: by NVIDIA's list of Xid errors nothing need be wrong with the GPU.
var byApplications = map[string]bool{"8": true, "13": true, "31": true, "32": true, "43": true, "45": true, "68": true, "69": true}

// signal returns the signal that a metric is, or "".
func (m *metric) signal(counter bool) string {
	if !ofGPU(m.name) {
		return ""
	}
	name := strings.ToLower(m.name)
	counter = counter || strings.HasSuffix(name, "_total") || strings.HasSuffix(name, "_count")
	switch {
	case strings.Contains(name, "xid") && counter && byApplications[m.xid]:
		return ""
	case strings.Contains(name, "xid") && counter:
		return api.SignalGPUXIDs
	case strings.Contains(name, "xid"):
		return api.SignalGPUXID // DCGM_FI_DEV_XID_ERRORS is the last code
	case strings.Contains(name, "dbe") || strings.Contains(name, "uncorrect"):
		return api.SignalGPUUncorrected
	case strings.Contains(name, "sbe") || strings.Contains(name, "correct") || counter:
		return api.SignalGPUCorrected
	}
	return "" // such as whether ECC is on
}

// parseMetric reads NAME{LABEL="VALUE",...} VALUE [TIME]. It returns false for what is none, and
// for values that are no number, infinite or negative.
func parseMetric(line string) (m metric, ok bool) {
	line = strings.TrimSpace(line)
	end := strings.IndexAny(line, "{ \t")
	if end <= 0 || line[0] == '#' {
		return m, false
	}
	m.name, line = line[:end], strings.TrimSpace(line[end:])
	if line[0] == '{' {
		if m.gpu, m.xid, line, ok = parseLabels(line[1:]); !ok {
			return m, false
		}
	}
	words := strings.Fields(line)
	if len(words) == 0 || len(words) > 2 {
		return m, false
	}
	value, err := strconv.ParseFloat(words[0], 64)
	m.value = value
	return m, err == nil && value >= 0 && value <= 1<<53
}

// gpuLabels are the labels that tell which GPU a metric is of, the best first.
var gpuLabels = []string{"gpu", "minor_number", "index", "device", "uuid"}

// parseLabels reads LABEL="VALUE",...} and returns which GPU and which code the labels name, and
// what follows them.
func parseLabels(text string) (gpu, xid, rest string, ok bool) {
	best := len(gpuLabels)
	for {
		text = strings.TrimLeft(text, " \t,")
		if rest, ok = strings.CutPrefix(text, "}"); ok {
			return gpu, xid, rest, true
		}
		label, quoted, ok := strings.Cut(text, "=")
		if !ok {
			return "", "", "", false
		}
		value, err := strconv.QuotedPrefix(strings.TrimSpace(quoted))
		if err != nil || value[0] != '"' {
			return "", "", "", false
		}
		text = strings.TrimSpace(quoted)[len(value):]
		if strings.EqualFold(strings.TrimSpace(label), "xid") {
			xid = strings.Trim(value, `"`)
		}
		for rank, name := range gpuLabels[:best] {
			if strings.EqualFold(strings.TrimSpace(label), name) {
				plain, err := strconv.Unquote(value)
				if err != nil {
					return "", "", "", false
				}
				gpu, best = plain, rank
				break
			}
		}
	}
}
