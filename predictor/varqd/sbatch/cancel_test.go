package sbatch

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// fakeSlurm makes a folder with Slurm's commands, which are shell scripts. They keep the job, as
// squeue shows it, in the file job, and append what they are asked for to the file calls.
func fakeSlurm(t *testing.T, job, squeue, scontrol, scancel string) (p *Program, calls func() string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("job", job)
	for name, script := range map[string]string{"squeue": squeue, "scontrol": scontrol, "scancel": scancel} {
		write(name, "#!/bin/sh\ncd "+dir+"\necho "+name+" \"$@\" $SCANCEL_INTERACTIVE >>calls\n"+script+"\n")
	}
	p = &Program{Path: filepath.Join(dir, "sbatch"), Env: append(os.Environ(), "SCANCEL_INTERACTIVE=yes")}
	return p, func() string {
		text, err := os.ReadFile(filepath.Join(dir, "calls"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
}

func TestCancel(t *testing.T) {
	plan := &api.Plan{ID: api.NewPlanID(), Tentative: 1_800_000_000}
	plan.Comment = api.CommentPrefix + plan.ID
	const (
		show    = "cat job"
		cancels = "sed -i s/PENDING/CANCELLED/ job"
		looks   = "squeue --noheader --states=all --jobs=7 --format=%i|%T|%N|%k\n"
		puts    = "scontrol update JobId=7 StartTime=uts1802592000\n"
		kills   = "scancel --state=PENDING 7\n"
	)
	line := func(state, nodes string) string { return "7|" + state + "|" + nodes + "|mine " + plan.Comment + "\n" }
	for name, c := range map[string]struct {
		job, squeue, scontrol, scancel string
		cluster                        string
		calls                          string
		started                        bool
		err                            string
	}{
		"it is pending":                {job: line("PENDING", ""), scancel: cancels, calls: looks + puts + kills + looks},
		"it runs":                      {job: line("RUNNING", "node[1-2]"), calls: looks, started: true},
		"it has run":                   {job: line("COMPLETED", "node1"), calls: looks, started: true},
		"it was cancelled":             {job: line("CANCELLED", ""), calls: looks},
		"it was cancelled when it ran": {job: line("CANCELLED", "node1"), calls: looks, started: true},
		"it starts before its begin time is put off": {
			job: line("PENDING", ""), scontrol: "sed -i 's/PENDING|/RUNNING|node1/' job; echo Job is no longer pending execution >&2; exit 1",
			calls: looks + puts + looks, started: true,
		},
		"it starts after that": { // as varqd has moved it again
			job: line("PENDING", ""), scontrol: "sed -i 's/PENDING|/RUNNING|node1/' job", calls: looks + puts + kills + looks, started: true,
		},
		"its begin time must not be changed": {
			job: line("PENDING", ""), scontrol: "echo Access denied >&2; exit 1", calls: looks + puts + looks + puts + looks + puts + looks,
			err: "job 7 cannot be cancelled: scontrol: exit status 1: Access denied",
		},
		"it does not go": {
			job: line("PENDING", ""), calls: strings.Repeat(looks+puts+kills, 3) + looks, err: "job 7 cannot be cancelled: it stays pending",
		},
		"slurmctld does not answer": {squeue: "echo Unable to contact slurm controller >&2; exit 1", calls: looks, err: "squeue: exit status 1: Unable to contact slurm controller"},
		"slurmctld has lost it":     {squeue: "true", calls: looks, err: "Slurm does not know job 7"},
		"it is another one now":     {job: "7|PENDING||" + api.CommentPrefix + api.NewPlanID() + "\n", calls: looks, err: "job 7 is another one now"},
		"it has no plan":            {job: "7|PENDING||\n", calls: looks, err: "job 7 is another one now"},
		"another job has the plan":  {job: "8|PENDING||" + plan.Comment + "\n", calls: looks, err: "Slurm does not know job 7"},
		"squeue prints garbage":     {job: "7|\n\x00|||\n", calls: looks, err: "Slurm does not know job 7"},
		"of a cluster": {
			job: "CLUSTER: beta\n" + line("PENDING", ""), scancel: cancels, cluster: "beta",
			calls: strings.NewReplacer("squeue", "squeue --clusters=beta", "scontrol", "scontrol --clusters=beta", "scancel", "scancel --clusters=beta").Replace(looks + puts + kills + looks),
		},
	} {
		if c.squeue == "" {
			c.squeue = show
		}
		p, calls := fakeSlurm(t, c.job, c.squeue, c.scontrol, c.scancel)
		p.Cluster = c.cluster
		started, err := p.Cancel(t.Context(), plan, 7)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if started != c.started || text != c.err {
			t.Errorf("%s: started %v, %s", name, started, text)
		}
		if got := calls(); got != strings.TrimSpace(c.calls) {
			t.Errorf("%s: it calls\n%s\nwant\n%s", name, got, c.calls)
		}
	}
}

// A command that hangs ends with the context.
func TestCancelHangs(t *testing.T) {
	p, _ := fakeSlurm(t, "", "exec sleep 3600", "", "")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := p.Cancel(ctx, &api.Plan{ID: "p"}, 7); err == nil || err.Error() != "squeue: context deadline exceeded" {
		t.Error(err)
	}
}

// Jobs that have ended are cancelled already; those that stay in the queue are an error.
func TestCancelJobs(t *testing.T) {
	const complains = "echo Invalid job id >&2; exit 1"
	for queue, want := range map[string]string{
		"7 7\n":        "scancel: exit status 1: Invalid job id", // waits still
		"12 8\n":       "scancel: exit status 1: Invalid job id", // a task of array 8
		"9 9\n17 17\n": "",                                       // others of the user's
		"":             "",
	} {
		p, calls := fakeSlurm(t, queue, "cat job", "exit 1", complains)
		said := ""
		if err := p.CancelJobs(t.Context(), []int64{7, 8}, true); err != nil {
			said = err.Error()
		}
		const asked = "scancel --state=PENDING 7 8\nsqueue --noheader --me --states=PENDING --format=%A %F"
		if said != want || calls() != asked {
			t.Errorf("%q: %q after %s", queue, said, calls())
		}
	}
}
