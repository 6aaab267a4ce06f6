package trace

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/varq-project/varq/predictor/logs/failures"
	"github.com/varq-project/varq/predictor/workload"
)

// LosAlamos is where Los Alamos' log of failures can be had from.
const LosAlamos = "https://www.usenix.org/cfdr"

// Failures returns the nodes of a system of Los Alamos, and their failures by Down, from the last,
// by name, of the files failures/LANL-*.csv and failures/LANL-*.csv.gz.
func (f Folder) Failures(system string) (nodes []string, log []workload.Failure, err error) {
	found := ""
	for _, ending := range []string{".csv", ".csv.gz"} {
		files, err := filepath.Glob(filepath.Join(string(f), "failures", "LANL-*"+ending))
		if err != nil {
			return nil, nil, fmt.Errorf("trace: no failures: %w", err)
		}
		for _, file := range files {
			found = max(found, file)
		}
	}
	if found == "" {
		return nil, nil, fmt.Errorf("trace: no failures LANL-*.csv or .csv.gz in the folder %s; they can be had from %s", filepath.Join(string(f), "failures"), LosAlamos)
	}
	systems, err := failures.Open(found, time.UTC)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range systems {
		if s.Name == system {
			return s.Nodes, s.Failures, nil
		}
	}
	return nil, nil, fmt.Errorf("trace: %s has no system %s", found, system)
}
