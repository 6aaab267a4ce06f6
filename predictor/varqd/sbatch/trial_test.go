package sbatch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

const (
	trialPlan = "aaaaaaaaaaaa"
	pending   = "7|PENDING||mine varq:" + trialPlan + "\n"
)

func trial() *Trial {
	return &Trial{Plan: trialPlan, Start: 1_800_000_000, Limit: 90, Late: 3600, Nodes: 4, Partition: "main", Comment: "mine", Arguments: 2, Env: []string{"VARQ_SITE=beta"}}
}

// The options that make a job one on trial come after the user's and before the script, and it can
// never start as it is.
func TestTry(t *testing.T) {
	p, calls := fakeSlurm(t, "", "", "", "")
	script := "#!/bin/sh\necho sbatch \"$@\" $VARQ_SITE >>" + filepath.Dir(p.Path) + "/calls\necho Submitted batch job 7 on cluster beta\n"
	if err := os.WriteFile(p.Path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	p.Args, p.Cluster = []string{"-N1", "--time=10", "job.sh", "-N9"}, "beta"
	job, err := p.Try(t.Context(), trial())
	if job != 7 || err != nil {
		t.Errorf("job %d, %v", job, err)
	}
	const want = "sbatch --clusters=beta -N1 --time=10 --begin=uts1800003630 --deadline=uts1800003720 --time=00:01:30 --comment=mine varq:" + trialPlan +
		" --nodes=4 --partition=main job.sh -N9 beta"
	if got := calls(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for _, late := range []int64{1, 60, 86400} {
		for _, limit := range []int64{60, 61, 3600} {
			x := Trial{Start: 1000, Limit: limit, Late: late}
			if x.never() > x.deadline() || x.never()+x.minutes() <= x.deadline() || x.Start+late+x.minutes() > x.deadline() {
				t.Errorf("late %d, limit %d: begins at %d, to end by %d", late, limit, x.never(), x.deadline())
			}
		}
	}
}

// An sbatch that says nothing has submitted the job nevertheless.
func TestTryQuiet(t *testing.T) {
	p, _ := fakeSlurm(t, "7|mine varq:"+trialPlan+"\n", "cat job", "", "")
	if err := os.WriteFile(p.Path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.Args = []string{"--quiet", "job.sh", "-N9"}
	if job, err := p.Try(t.Context(), trial()); job != 7 || err != nil {
		t.Errorf("job %d, %v", job, err)
	}
}

// Where Slurm accepts no job that would miss its deadline, the job is held.
func TestTryHeld(t *testing.T) {
	p, calls := fakeSlurm(t, pending, "cat job", "", "")
	script := `#!/bin/sh
echo sbatch "$@" >>` + filepath.Dir(p.Path) + `/calls
case "$*" in *--hold*) echo 7;; *) echo "sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)" >&2; exit 1;; esac
`
	if err := os.WriteFile(p.Path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	p.Args = []string{"job.sh", "x"}
	x := trial()
	job, err := p.Try(t.Context(), x)
	if job != 7 || err != nil {
		t.Errorf("job %d, %v", job, err)
	}
	if err := p.Take(t.Context(), x, 7); err != nil {
		t.Error(err)
	}
	const options = " --deadline=uts1800003720 --time=00:01:30 --comment=mine varq:" + trialPlan + " --nodes=4 --partition=main job.sh x\n"
	const want = "sbatch --begin=uts1800003630" + options + "sbatch --hold --begin=uts1800000000" + options +
		"squeue --noheader --states=all --jobs=7 --format=%i|%T|%N|%k\nscontrol release 7"
	if got := calls(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestTryFails(t *testing.T) {
	for text, want := range map[string]string{
		"echo 'sbatch: error: Batch job submission failed: Requested time limit is invalid' >&2; exit 1": "sbatch: Batch job submission failed: Requested time limit is invalid",
		"echo hello": "sbatch does not tell the job's number",
	} {
		p, _ := fakeSlurm(t, "", "", "", "")
		if err := os.WriteFile(p.Path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		p.Args = []string{"job.sh", "x"}
		job, err := p.Try(t.Context(), trial())
		if job != 0 || err == nil || err.Error() != want {
			t.Errorf("%s: %d, %v", text, job, err)
		}
		if Unanswered(err) {
			t.Errorf("%s: it is not known to be answered", text)
		}
		p.Args = nil
		if _, err := p.Try(t.Context(), trial()); err == nil {
			t.Error("it has no script, and is submitted")
		}
	}
}

// An sbatch that has not heard of its job may have submitted it.
func TestTryUnanswered(t *testing.T) {
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	for text, ctx := range map[string]context.Context{
		"echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2; exit 1": t.Context(),
		"kill -9 $$": t.Context(),
		"exit 1":     interrupted,
	} {
		p, _ := fakeSlurm(t, "", "", "", "")
		if err := os.WriteFile(p.Path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		p.Args = []string{"job.sh", "x"}
		if _, err := p.Try(ctx, trial()); !Unanswered(err) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// So has one with a promise. Its user is told what becomes of that job.
func TestSubmitUnanswered(t *testing.T) {
	p, _ := fakeSlurm(t, "", "", "", "")
	const script = `#!/bin/sh
report=$(echo "$VARQ_RESERVE" | sed 's/.*"report":"\([^"]*\)".*/\1/')
echo '{"plan":{"id":"aaaaaaaaaaaa"}}' >>$report
echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2
exit 1
`
	if err := os.WriteFile(p.Path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	const want = "sbatch: Batch job submission failed: Socket timed out on send/recv operation; Slurm may take the job all the same: it cannot start then, and varqd cancels it"
	got, err := p.Submit(t.Context(), Order{})
	if got.Plan == nil || err == nil || err.Error() != want {
		t.Errorf("%+v, %v", got, err)
	}
}

// To take a job is to change its begin time, once and again; one that has started was taken, and
// one that is over was not.
func TestTake(t *testing.T) {
	const (
		looks = "squeue --noheader --states=all --jobs=7 --format=%i|%T|%N|%k\n"
		takes = "scontrol update JobId=7 StartTime=uts1800000000\n"
	)
	for name, c := range map[string]struct{ job, scontrol, calls, err string }{
		"it is pending":           {pending, "", looks + takes, ""},
		"it runs":                 {strings.Replace(pending, "PENDING|", "RUNNING|node1", 1), "", looks, ""},
		"Slurm has cancelled it":  {strings.Replace(pending, "PENDING", "DEADLINE", 1), "", looks, ErrOver.Error()},
		"slurmctld stops":         {pending, "echo Unable to contact slurm controller >&2; exit 1", looks + takes, "scontrol: exit status 1: Unable to contact slurm controller"},
		"its number is another's": {"7|PENDING||\n", "", looks, "job 7 is another one now"},
	} {
		p, calls := fakeSlurm(t, c.job, "cat job", c.scontrol, "")
		err := p.Take(t.Context(), trial(), 7)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got := calls(); text != c.err || got != strings.TrimSpace(c.calls) || errors.Is(err, ErrOver) != (c.err == ErrOver.Error()) {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.calls)
		}
	}
}

// A job is dropped unless it has started, also one whose number nobody knows.
func TestDrop(t *testing.T) {
	const (
		finds   = "squeue --noheader --me --states=all --format=%i|%k\n"
		looks   = "squeue --noheader --states=all --jobs=7 --format=%i|%T|%N|%k\n"
		cancels = looks + "scontrol update JobId=7 StartTime=uts1800003630\nscancel --state=PENDING 7\n" + looks
	)
	squeue := `case "$*" in *--me*) cut -d'|' -f1,4 job;; *) cat job;; esac`
	for name, c := range map[string]struct {
		job     string
		number  int64
		started bool
		calls   string
	}{
		"it is pending":              {pending, 7, false, cancels},
		"it runs":                    {strings.Replace(pending, "PENDING|", "RUNNING|node1", 1), 7, true, looks},
		"its number is not known":    {"5|PENDING||varq:bbbbbbbbbbbb\n6|PENDING||\n" + pending, 0, false, finds + cancels},
		"it was not submitted":       {"6|PENDING||x\n", 0, false, finds},
		"nothing is in Slurm's hand": {"", 0, false, finds},
	} {
		p, calls := fakeSlurm(t, c.job, squeue, "", "sed -i s/PENDING/CANCELLED/ job")
		started, err := p.Drop(t.Context(), trial(), c.number)
		if err != nil || started != c.started {
			t.Errorf("%s: started %v, %v", name, started, err)
		}
		if got := calls(); got != strings.TrimSpace(c.calls) {
			t.Errorf("%s: it calls\n%s\nwant\n%s", name, got, c.calls)
		}
	}
	if !api.ValidPlanID(trialPlan) {
		t.Error("the plan has no identifier")
	}
}
