package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
)

// TestShadow: in shadow mode varqd promises nothing and changes no job, and reports what it would
// have promised and kept.
func TestShadow(t *testing.T) {
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{History: site.Calm(time.Now().Unix()), VarqConf: "plan:\n  mode: shadow\n"})
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
	var shadow api.Shadow
	read := func() {
		shadow = decode[api.Shadow](t, mustRun(t, s, "bob", "varq", "report", "--shadow", "--json").Stdout)
	}
	find := func(prob float64) (row api.ShadowRow) {
		for _, r := range shadow.Rows {
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
	if !shadow.Watching || shadow.Jobs != watched {
		t.Errorf("%+v", shadow)
	}
	page := mustRun(t, s, "bob", "varq", "report", "--shadow").Stdout
	if !strings.Contains(page, fmt.Sprintf("%d jobs that began to wait between ", watched)) {
		t.Errorf("%s", page)
	}
	t.Logf("the page:\n%s", page)
	// The ledger is as empty as the user's list, and the job that waits is as it was.
	if list := reservations(t, s); len(list) != 0 {
		t.Errorf("%+v", list)
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
	if read(); shadow.Jobs != watched {
		t.Errorf("after a crash: %+v", shadow)
	}
}
