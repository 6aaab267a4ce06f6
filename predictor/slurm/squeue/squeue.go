// Package squeue reads the live queue by Slurm's squeue command, as any user may: all jobs, or
// those that Slurm lets her see.
package squeue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/program"
)

// Command runs squeue. The zero value runs the one on the PATH.
type Command struct {
	Path string         // of squeue, "squeue" if empty
	Env  []string       // added to the environment, SLURM_CONF=... for instance
	Run  program.Runner // program.Output if nil
}

// separator ends each field of a line. No name of anything in Slurm has it.
const separator = "\x1f"

// fields are those that are read, as squeue --Format calls them. The last three are texts of the
// user's: one with a line break cuts off what comes after it.
// Of one that it does not know squeue prints that there is none: Slurm 22.05 knows no ExcNodes, and
// none before 26.05 Exclusive.
var fields = []string{
	"JobID", "ArrayJobID", "ArrayTaskID", "HetJobID", "UserName", "Account", "Partition", "QOS", "State", "Reason", "PriorityLong", "Nice",
	"SubmitTime", "EligibleTime", "StartTime", "TimeLimit", "NumNodes", "NumCPUs", "NumTasks", "cpus-per-task", "MinCpus", "MinMemory", "MinTmpDisk",
	"tres-alloc", "tres-per-node", "tres-per-job", "tres-per-task", "Licenses", "Feature", "ReqNodes", "ExcNodes", "NodeList", "Reservation",
	"Dependency", "OverSubscribe", "Exclusive", "BatchFlag", "RestartCnt", "Name", "WorkDir", "Comment",
}

// needed is how many fields a line has at least: up to the name.
var needed = len(fields) - 2

// Arguments returns those of squeue, which are always the same.
func Arguments() []string {
	var format strings.Builder
	for i, f := range fields {
		if i > 0 {
			format.WriteByte(',')
		}
		format.WriteString(f + ":" + separator)
	}
	return []string{"--all", "--local", "--noheader", "--noconvert", "--Format=" + format.String()}
}

// Line returns what squeue prints of a job, given the values of fields by name: for tests.
func Line(values map[string]string) string {
	var line strings.Builder
	for _, f := range fields {
		line.WriteString(values[f] + separator)
	}
	return line.String() + "\n"
}

// environment has squeue tell Unix seconds, and all tasks of an array.
var environment = []string{"SLURM_TIME_FORMAT=%s", "SLURM_BITSTR_LEN=0"}

// Queue returns every pending and running job that the user may see, by id.
func (c *Command) Queue(ctx context.Context) ([]slurm.QueueEntry, error) {
	run := c.Run
	if run == nil {
		run = program.Output
	}
	out, err := run(ctx, cmp.Or(c.Path, "squeue"), slices.Concat(c.Env, environment), Arguments()...)
	if err != nil {
		return nil, err
	}
	return parse(string(out))
}

// parse reads what squeue prints. A line that is no job's is left out: it is the rest of a text
// with a line break, or what a later Slurm writes. It is an error if there are no others.
func parse(out string) ([]slurm.QueueEntry, error) {
	queue := []slurm.QueueEntry{}
	var first error
	for text := range strings.Lines(out) {
		text = strings.TrimRight(text, "\r\n")
		if text == "" {
			continue
		}
		entry, err := parseLine(text)
		switch {
		case err != nil:
			first = cmp.Or(first, err)
		case !entry.State.Finished():
			queue = append(queue, entry)
		}
	}
	if len(queue) == 0 && first != nil {
		return nil, fmt.Errorf("squeue: %w", first)
	}
	slices.SortFunc(queue, func(a, b slurm.QueueEntry) int { return cmp.Compare(a.ID, b.ID) })
	return queue, nil
}

// parseLine reads a line.
func parseLine(text string) (slurm.QueueEntry, error) {
	values := strings.Split(text, separator)
	if len(values) < needed {
		return slurm.QueueEntry{}, fmt.Errorf("%.60q: %d fields, want %d", text, len(values), needed)
	}
	l := make(line, len(fields))
	for i, f := range fields[:min(len(fields), len(values))] {
		l[f] = known(values[i])
	}
	return l.entry()
}

// known returns a value, or "" if Slurm writes that there is none.
func known(value string) string {
	switch value = strings.TrimSpace(value); value {
	case "(null)", "N/A", "None assigned", "Unknown":
		return ""
	}
	return value
}
