package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
)

// shadow: in shadow mode varqd promises nothing and changes no job, and reports what it would
// have promised and kept.
func shadow(t *testing.T, s *site.Site) {
	configured(t, s, "plan:\n  mode: shadow\n")
	promised := reported(t, s).Promises
	seen := filepath.Join(s.JobDir(), "shadow.seen")
	file, _ := script(t, s, "shadow", "", "until [ -e "+seen+" ]; do sleep .1; done; sleep 1")
	r, err := s.Run(t.Context(), "alice", "sbatch", "--begin-by=now+6hours", "--prob=0.6", "--time=5", "--job-name=shadow", file)
	if err != nil || r.Code == 0 || !strings.Contains(r.Stderr, "varqd only watches on this cluster") || !strings.Contains(r.Stderr, "it would have promised a start by ") {
		t.Errorf("exit code %d, %q, %v", r.Code, r.Stderr, err)
	}
	if got := jobs(t, s, "alice", "shadow"); len(got) != 0 {
		t.Errorf("jobs %v are in the queue", got)
	}

	// Jobs as any other, which are watched, and one that does not begin to wait yet.
	submit := func(args ...string) int64 {
		id, _, err := s.Submit(context.WithoutCancel(t.Context()), "alice", append(args, "--time=5", file)...)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	far := submit("--begin=now+1hour", "--comment=varq:aaaaaaaaaaaa")
	before, err := s.Job(t.Context(), far)
	if err != nil {
		t.Fatal(err)
	}
	const watched = 5
	for range watched {
		submit()
	}
	eventually(t, "the jobs run", func() bool {
		r, err := s.Run(t.Context(), "root", "squeue", "--noheader", "--states=RUNNING", "--format=%i")
		return err == nil && len(strings.Fields(r.Stdout)) == watched
	})
	awaitLook(t, s)
	if err := os.WriteFile(seen, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var report api.Shadow
	read := func() {
		report = decode[api.Shadow](t, mustRun(t, s, "bob", "varq", "report", "--shadow", "--json").Stdout)
	}
	find := func(prob float64) (row api.ShadowRow) {
		for _, r := range report.Rows {
			if r.Partition == "main" && r.Prob == prob {
				row = r
			}
		}
		return row
	}
	eventually(t, "what became of the jobs is known", func() bool {
		read()
		r := find(.5)
		return r.Jobs == watched && r.Kept+r.Missed == watched && r.Ratio > 0
	})
	for _, p := range []float64{.5, .75} {
		if r := find(p); r.Jobs != watched || r.Refused != 0 || r.Kept+r.Missed != watched || r.Kept > 0 && r.Held <= 0 {
			t.Errorf("%+v", r)
		}
	}
	if !report.Watching || report.Jobs != watched {
		t.Errorf("%+v", report)
	}
	page := mustRun(t, s, "bob", "varq", "report", "--shadow").Stdout
	if !strings.Contains(page, fmt.Sprintf("%d jobs that began to wait between ", watched)) {
		t.Errorf("%s", page)
	}
	t.Logf("the page:\n%s", page)
	// The user has no more promises than before, and the job that waits is as it was.
	if now := reported(t, s).Promises; now != promised {
		t.Errorf("%d promises, before %d", now, promised)
	}
	now, err := s.Job(t.Context(), far)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"EligibleTime", "StartTime", "TimeLimit", "JobState", "Comment", "Priority"} {
		if now[field] != before[field] {
			t.Errorf("%s of the job was %q, and is %q", field, before[field], now[field])
		}
	}
	mustRun(t, s, "alice", "scancel", strconv.FormatInt(far, 10))

	// The sample survives a crash.
	if err := s.KillVarqd(); err != nil {
		t.Fatal(err)
	}
	if err := s.StartVarqd(t.Context()); err != nil {
		t.Fatal(err)
	}
	if read(); report.Jobs != watched {
		t.Errorf("after a crash: %+v", report)
	}
}
