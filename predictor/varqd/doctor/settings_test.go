package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/slurm/scontrol"
	"github.com/varq-project/varq/predictor/workload"
)

// What is told of the settings of slurm.conf, and of the site's scripts beside it.
func TestSettings(t *testing.T) {
	for _, c := range []struct {
		config         scontrol.Config
		submit, filter string // the site's scripts
		want           []string
	}{
		{want: nil},
		{config: scontrol.Config{SubmitPlugins: []string{"lua", "all_partitions"}}, want: []string{"ok job_submit lua, all_partitions may change"}},
		{config: scontrol.Config{Aging: workload.Aging{Always: true}}, want: []string{"ok priority jobs gather age"}},
		{
			config: scontrol.Config{Private: []string{"usage", "jobs", "cloud"}},
			want:   []string{"ok privacy of what PrivateData hides, users see this of varq: no promises of others, and how many jobs run and wait (jobs); what limits leave to their own jobs (usage)"},
		},
		{config: scontrol.Config{Private: []string{"cloud"}}, want: nil},
		{config: scontrol.Config{CLIFilters: []string{"syslog", "lua", "user_defaults"}}, want: nil},
		{config: scontrol.Config{CLIFilters: []string{"user_defaults", "lua", "neurarch", "syslog"}}, want: []string{"warning cli_filter neurarch runs after lua"}},
		{submit: "-- a comment, job.comment\nif job_desc.admin_comment then end", want: nil},
		{submit: "if job_desc.comment == 'x' then end", filter: `options["comment"] = "x"`, want: []string{"warning comment FOLDER/job_submit.lua reads", "warning comment FOLDER/cli_filter.lua sets"}},
		{submit: "job.comment=job.comment .. 'x'", want: []string{"warning comment FOLDER/job_submit.lua sets"}},
	} {
		folder := t.TempDir()
		c.config.File = filepath.Join(folder, "slurm.conf")
		if c.submit+c.filter != "" { // the site has the filters that its scripts are of
			c.config.SubmitPlugins, c.config.CLIFilters = []string{"lua"}, []string{"lua"}
			c.want = append([]string{"ok job_submit lua may change"}, c.want...)
		}
		for name, text := range map[string]string{"job_submit.lua": c.submit, "cli_filter.lua": c.filter} {
			if text == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := settings(c.config)
		if len(got) != len(c.want) {
			t.Errorf("%+v: %+v", c, got)
			continue
		}
		for i, f := range got {
			if line := string(f.Verdict) + " " + f.Of + " " + f.Found; !strings.HasPrefix(line, strings.ReplaceAll(c.want[i], "FOLDER", folder)) {
				t.Errorf("%q, want %q", line, c.want[i])
			}
		}
	}
}
