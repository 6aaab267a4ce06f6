package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// Report is what a campaign has found.
type Report struct {
	Seed                               uint64
	Submissions, Promises, InLedger    int
	Forgotten                          int // jobs whose end Slurm does not know
	Kinds, Faults, Acts, Verdicts, Bad map[string]int
	Tampered                           int // requests or answers
	Restarts                           int // of varqd, because it had ended by itself
	Violations                         []Violation
}

// judge saves the evidence, checks it, and writes the report beside it.
func (c *campaign) judge(ctx context.Context) (*Report, error) {
	if err := c.save(ctx); err != nil {
		return nil, err
	}
	r, err := Check(c.o.Evidence)
	if err != nil {
		return nil, err
	}
	r.Seed, r.Tampered = c.o.Seed, c.proxy.tampered()
	f, err := os.Create(c.evidence("report.txt"))
	if err != nil {
		return nil, err
	}
	return r, errors.Join(r.Write(f), f.Close())
}

// Check checks the evidence that a campaign has left in a folder.
func Check(dir string) (*Report, error) {
	e, err := read(dir)
	if err != nil {
		return nil, err
	}
	r := &Report{
		Submissions: len(e.Submissions), InLedger: len(e.Rows), Restarts: len(e.Endings),
		Kinds: map[string]int{}, Faults: map[string]int{}, Acts: map[string]int{}, Verdicts: map[string]int{}, Bad: map[string]int{},
		Violations: check(e),
	}
	for _, s := range e.Submissions {
		r.Kinds[s.Kind]++
		if s.Promise != nil {
			r.Promises++
		}
		if runs := e.Runs[s.Name]; s.Job != 0 && !known(runs) {
			r.Forgotten++
		}
		for _, a := range s.Acts {
			r.Acts[a.What]++
		}
	}
	for _, f := range e.Faults {
		r.Faults[f.Kind]++
	}
	for i := range e.Rows {
		r.Verdicts[e.Rows[i].State]++
	}
	for _, v := range r.Violations {
		r.Bad[v.Kind]++
	}
	return r, nil
}

// Write writes the report for people.
func (r *Report) Write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "seed\t%d\n", r.Seed)
	section(w, "submissions", r.Submissions, r.Kinds)
	section(w, "changes by users", total(r.Acts), r.Acts)
	section(w, "faults", total(r.Faults), r.Faults)
	fmt.Fprintf(w, "requests and answers tampered with\t%d\n", r.Tampered)
	fmt.Fprintf(w, "promises that users read\t%d\n", r.Promises)
	section(w, "promises in the ledger", r.InLedger, r.Verdicts)
	fmt.Fprintf(w, "jobs that a killed slurmctld forgot\t%d\n", r.Forgotten)
	fmt.Fprintf(w, "ends of varqd by itself\t%d\n", r.Restarts)
	fmt.Fprintf(w, "violations\t%d\n", len(r.Violations))
	for _, kind := range violationKinds {
		fmt.Fprintf(w, "  %s\t%d\n", kind, r.Bad[kind])
	}
	for _, v := range r.Violations {
		fmt.Fprintf(w, "\n%s: %s: %s\n", v.Kind, v.Job, v.What)
		for _, line := range v.Context {
			fmt.Fprintf(w, "    %s\n", strings.ReplaceAll(line, "\t", " "))
		}
	}
	return w.Flush()
}

func total(counts map[string]int) int {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return sum
}

// section writes a number and what it is made up of.
func section(w io.Writer, title string, all int, parts map[string]int) {
	fmt.Fprintf(w, "%s\t%d\n", title, all)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		fmt.Fprintf(w, "  %s\t%d\n", name, parts[name])
	}
}
