// Package doctor examines whether varq can work on this host. It examines the files that varqd's
// configuration names, the Slurm that varqd asks, and what a host needs if users submit jobs on it.
// Each finding of a problem says what to do about it.
package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Verdict is how a finding is to be taken.
type Verdict string

// The verdicts.
const (
	OK      Verdict = "ok"
	Warning Verdict = "warning" // varq works, but not as well as it could, or not for long
	Failure Verdict = "failure" // varq does not work
)

// Finding is what was found of one thing.
type Finding struct {
	// Of names the thing: "slurmrestd", "ledger.path".
	Of      string  `json:"of"`
	Verdict Verdict `json:"verdict"`
	Found   string  `json:"found"`
	// Remedy says what to do. It is empty if the verdict is OK.
	Remedy string `json:"remedy,omitempty"`
}

func ok(of, format string, args ...any) Finding {
	return Finding{Of: of, Verdict: OK, Found: fmt.Sprintf(format, args...)}
}

func warning(of string, found any, remedy string) Finding {
	return Finding{Of: of, Verdict: Warning, Found: fmt.Sprint(found), Remedy: remedy}
}

func failure(of string, found any, remedy string) Finding {
	return Finding{Of: of, Verdict: Failure, Found: fmt.Sprint(found), Remedy: remedy}
}

// Failed reports whether one of the findings is a failure.
func Failed(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Verdict == Failure })
}

// Write writes the findings, a line each, with the remedy below it.
func Write(w io.Writer, findings []Finding) error {
	width := 0
	for _, f := range findings {
		width = max(width, len(f.Of))
	}
	for _, f := range findings {
		found := strings.ReplaceAll(strings.TrimSpace(f.Found), "\n", "; ")
		if _, err := fmt.Fprintf(w, "%-7s  %-*s  %s\n", f.Verdict, width, f.Of, found); err != nil {
			return err
		}
		if f.Remedy == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "%-7s  %-*s  -> %s\n", "", width, "", f.Remedy); err != nil {
			return err
		}
	}
	return nil
}

// WriteJSON writes the findings as an array.
func WriteJSON(w io.Writer, findings []Finding) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(findings)
}
