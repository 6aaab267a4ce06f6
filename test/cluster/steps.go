package cluster

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// JobProcesses returns the processes of a job on its nodes, by their ids, with the words of their
// commands: its slurmstepds and their descendants.
func (f folder) JobProcesses(job string) (map[int][]string, error) {
	pids, err := f.processes()
	if err != nil {
		return nil, err
	}
	found := map[int][]string{}
	words, parents := map[int][]string{}, map[int]int{}
	for _, pid := range pids {
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
		s, errStat := readStat(pid)
		if err != nil || errStat != nil {
			continue // it has ended
		}
		words[pid], parents[pid] = strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"), s.parent
		if strings.HasPrefix(string(text), "slurmstepd: ["+job+".") {
			found[pid] = words[pid]
		}
	}
	for grown := true; grown; {
		grown = false
		for pid, parent := range parents {
			if found[pid] == nil && found[parent] != nil {
				found[pid], grown = words[pid], true
			}
		}
	}
	return found, nil
}
