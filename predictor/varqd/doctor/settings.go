package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/slurm/scontrol"
)

// settings tells of those settings of slurm.conf that a site may wonder about, and what varq makes
// of them.
func settings(c scontrol.Config) (all []Finding) {
	if len(c.SubmitPlugins) > 0 {
		all = append(all, ok("job_submit", "%s may change jobs while they are submitted: sbatch then waits until varqd has seen the job, and the promise is about that", strings.Join(c.SubmitPlugins, ", ")))
	}
	if c.Aging.Always {
		all = append(all, ok("priority", "jobs gather age while their begin time is to come (PriorityFlags=ACCRUE_ALWAYS): forecasts count that, and jobs with a promise start a little sooner than others that come when theirs may start"))
	}
	if list := hidden(c.Private); len(list) > 0 {
		all = append(all, ok("privacy", "of what PrivateData hides, users see this of varq: %s", strings.Join(list, "; ")))
	}
	if late := behindLua(c.CLIFilters); len(late) > 0 {
		all = append(all, warning("cli_filter", fmt.Sprintf("%s runs after lua, and may change options that varq has read by then", strings.Join(late, ", ")),
			"put lua last in CliFilterPlugins of slurm.conf"))
	}
	var scripts []string
	if slices.Contains(c.SubmitPlugins, "lua") {
		scripts = append(scripts, "job_submit.lua")
	}
	if slices.Contains(c.CLIFilters, "lua") {
		scripts = append(scripts, "cli_filter.lua")
	}
	return append(all, readsComments(filepath.Dir(c.File), scripts)...)
}

// shown says, for each form of Slurm's PrivateData, what varq shows to ordinary users all the same.
var shown = map[string]string{
	"accounts":     "no accounts of others",
	"events":       "of nodes of their own jobs, how likely they are to fail; varq nodes is for operators",
	"jobs":         "no promises of others, and how many jobs run and wait",
	"nodes":        "nodes of their own jobs, and those that a promise leaves out; varq nodes is for operators",
	"partitions":   "of partitions that are not theirs, what sbatch says",
	"reservations": "when Slurm's reservations are, and not their names",
	"usage":        "what limits leave to their own jobs",
	"users":        "no other users",
}

// hidden says what users see of varq in spite of these forms of PrivateData.
func hidden(forms []string) (list []string) {
	for _, form := range slices.Sorted(slices.Values(forms)) {
		if what := shown[form]; what != "" {
			list = append(list, what+" ("+form+")")
		}
	}
	return list
}

// behindLua returns the filters of Slurm's commands that may change options after the Lua filter,
// which is varq's. user_defaults sets options before all others look at them, and syslog sets none.
func behindLua(filters []string) []string {
	at := slices.Index(filters, "lua")
	if at < 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(filters[at+1:]), func(f string) bool { return f == "user_defaults" || f == "syslog" })
}

// ofComment finds the comment of a job in a script of the site, and a "=" if it is set there.
// remark is a comment of the script's.
var (
	ofComment = regexp.MustCompile(`\w\s*(?:\.\s*comment\b|\[\s*["']comment["']\s*\])\s*(=?=?)`)
	remark    = regexp.MustCompile(`--.*`)
)

// readsComments tells which of some scripts of the site in a folder read or set the comments of
// jobs, to which varq adds a word. It skips scripts that cannot be read here.
func readsComments(folder string, scripts []string) (all []Finding) {
	for _, name := range scripts {
		script := filepath.Join(folder, name)
		text, err := os.ReadFile(script)
		if err != nil {
			continue
		}
		reads, sets := false, false
		for _, found := range ofComment.FindAllSubmatch(remark.ReplaceAll(text, nil), -1) {
			set := string(found[1]) == "="
			sets, reads = sets || set, reads || !set
		}
		switch {
		case sets:
			all = append(all, warning("comment", script+" sets the comment of jobs, in which varq finds their promises by a word: varq:PLAN",
				"let the script keep words that begin with varq:"))
		case reads:
			all = append(all, warning("comment", script+" reads the comment of jobs, to which varq adds a word: varq:PLAN",
				"let the script pass over words that begin with varq:"))
		}
	}
	return all
}
