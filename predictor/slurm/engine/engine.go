// Package engine tells which jobs of the queue a workflow engine has submitted in one run. An
// engine submits a task when its inputs are there, so no dependency joins these jobs: what their
// submissions write does.
package engine

import "strings"

// Job is what a workflow engine says of a job. The zero value is of a job that no known engine has
// submitted.
type Job struct {
	// Name is what the engine is called.
	Name string
	// Run is the same for all jobs of one run, among those of one user and engine.
	Run string
	// Task is what the engine calls the job, or "" if that is the job's name.
	Task string
}

// The names of engines.
const (
	Snakemake = "Snakemake"
	Nextflow  = "Nextflow"
)

// forms are what engines write. Each returns the run of a job of its form, or "".
var forms = []struct {
	engine string
	run    func(name, comment, dir string) string
}{
	// snakemake-executor-plugin-slurm, 0.5 to 2.7: --job-name=UUID of the run, and of 2.2 and later
	// --slurm-jobname-prefix with a "_" before it; --comment=rule_NAME_wildcards_VALUES. Snakemake
	// 7.25 to 7.32 (--slurm) and the plugin before 0.5 write the UUID alone, or with another comment.
	{Snakemake, func(name, comment, _ string) string {
		if before, ok := cutUUID(name); ok && (before == "" || strings.HasPrefix(comment, rule) && len(before) > 1 && strings.HasSuffix(before, "_")) {
			return name
		}
		return ""
	}},
	// Snakemake 3 to 7 with --cluster, and snakemake-executor-plugin-cluster-generic 1.0: the job is
	// called as its script, snakejob.RULE.NUMBER.sh. Snakemake 7.19 to 7.24 with --slurm:
	// --job-name=snakejob_RULE_NUMBER. The profile smk-simple-slurm, and those copied from it:
	// --job-name=smk-{rule}-{wildcards}. All are from the folder of the workflow, which one run
	// locks.
	{Snakemake, func(name, _, dir string) string {
		for _, prefix := range []string{"snakejob.", "snakejob_", "smk-"} {
			if strings.HasPrefix(name, prefix) {
				return dir
			}
		}
		return ""
	}},
	// Nextflow 0.3 to 26.08: each task, and each array of tasks, has a folder WORK/ab/cdef... of its
	// own, called by a hash of 32 digits, in which its job starts. The name is nf-PROCESS_(TAG),
	// unless the user has configured another. With Fusion jobs start in the folder of Nextflow
	// itself, and such jobs are not known.
	{Nextflow, func(_, _, dir string) string {
		end := len(dir) - len("/ab/") - 30
		if end > 0 && dir[end] == '/' && hex(dir[end+1:end+3]) && dir[end+3] == '/' && hex(dir[end+4:]) {
			return dir[:end]
		}
		return ""
	}},
}

// Of returns what a workflow engine says of a job by its name and comment, and by the folder that
// it starts in.
func Of(name, comment, dir string) Job {
	for _, f := range forms {
		if run := f.run(name, comment, dir); run != "" {
			j := Job{Name: f.engine, Run: run}
			if run == name {
				// varq's own words follow it
				j.Task, _, _ = strings.Cut(strings.TrimPrefix(comment, rule), " ")
			}
			return j
		}
	}
	return Job{}
}

// rule begins the comment of a job of Snakemake's.
const rule = "rule_"

// cutUUID returns what is before a random UUID (of version 4) that ends a name.
func cutUUID(name string) (before string, ok bool) {
	const length = 36
	if len(name) < length {
		return "", false
	}
	before, id := name[:len(name)-length], name[len(name)-length:]
	for _, dash := range []int{8, 13, 18, 23} {
		if id[dash] != '-' {
			return "", false
		}
	}
	digits := strings.ReplaceAll(id, "-", "")
	return before, len(digits) == length-4 && hex(digits) && id[14] == '4'
}

// hex reports whether all characters are digits of a hexadecimal number, in lower case.
func hex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }
