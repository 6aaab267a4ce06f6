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
		all = append(all, ok("privacy", "varq keeps from users what PrivateData hides (%s)", strings.Join(list, "; ")))
	}
	if late := behindLua(c.CLIFilters); len(late) > 0 {
		all = append(all, warning("cli_filter", fmt.Sprintf("%s runs after lua, and may change options that varq has read by then", strings.Join(late, ", ")),
			"put lua last in CliFilterPlugins of slurm.conf"))
	}
	return append(all, readsComments(filepath.Dir(c.File))...)
}

// kept says, for each form of Slurm's PrivateData, what varq keeps from ordinary users.
var kept = map[string]string{
	"accounts":     "names of other accounts",
	"events":       "failures of nodes, so that varq nodes and varq advise are for operators",
	"jobs":         "promises of others, as always",
	"nodes":        "names and states of nodes, so that varq nodes is for operators",
	"partitions":   "partitions that a user may not use, of which varq says what sbatch says",
	"reservations": "names of Slurm's reservations; a refusal tells when they are",
	"usage":        "what others have used; a refusal by a limit tells what is left of it",
	"users":        "names of other users",
}

// hidden says what varq keeps to itself because PrivateData has these forms.
func hidden(forms []string) (list []string) {
	for _, form := range slices.Sorted(slices.Values(forms)) {
		if what := kept[form]; what != "" {
			list = append(list, form+": "+what)
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

// ofComment finds a script of the site that reads the comment of a job.
var ofComment = regexp.MustCompile(`\w\s*(\.\s*comment\b|\[\s*["']comment["']\s*\])`)

// readsComments tells which of the site's scripts in a folder read the comments of jobs, to which
// varq adds a word. It skips scripts that cannot be read here.
func readsComments(folder string) (all []Finding) {
	for _, name := range []string{"job_submit.lua", "cli_filter.lua"} {
		script := filepath.Join(folder, name)
		text, err := os.ReadFile(script)
		if err != nil || !ofComment.Match(text) {
			continue
		}
		all = append(all, warning("comment", script+" reads the comment of jobs, to which varq adds a word: varq:PLAN",
			"let the script pass over words that begin with varq:, and keep them in the comment"))
	}
	return all
}
