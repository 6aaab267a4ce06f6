package e2e

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
)

// series is what varq every show --json tells.
type series struct {
	ID          string `json:"id"`
	Occurrences []struct {
		At    int64  `json:"at"`
		State string `json:"state"`
		Job   int64  `json:"job"`
	} `json:"occurrences"`
}

// TestEvery: a job that recurs is reserved with a promise, followed until that is settled, and reserved again by a job as scrontab makes of
// varq every run. It ends with the job that waits.
func TestEvery(t *testing.T) {
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{History: site.Calm(time.Now().Unix())})
	alice, err := user.Lookup("alice")
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(alice.Uid)
	state := filepath.Join(s.JobDir(), "every")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(state, uid, -1); err != nil {
		t.Fatal(err)
	}
	varq := filepath.Join(filepath.Dir(s.Wrapper()), "varq")
	every := func(args ...string) string {
		t.Helper()
		return mustRun(t, s, "alice", "env", append([]string{"XDG_STATE_HOME=" + state, "VARQ_CONFIG=" + s.Config(), varq, "every"}, args...)...).Stdout
	}
	read := func(id string) series {
		t.Helper()
		return decode[series](t, every("show", id, "--json"))
	}
	file, _ := script(t, s, "every", "", "sleep 1")
	at := time.Now().Add(lead).Truncate(time.Minute).Add(time.Minute)
	out := every(at.Format("15:04")+" daily", "--prob=0.6", "--", "sbatch", "--time=5", "--chdir="+s.JobDir(), file)
	id, _, _ := strings.Cut(strings.TrimPrefix(out, "series "), ":")
	first := read(id)
	if len(first.Occurrences) != 1 || first.Occurrences[0].At != at.Unix() || first.Occurrences[0].Job == 0 {
		t.Fatalf("%q, %+v", out, first)
	}
	job := first.Occurrences[0].Job
	r, err := s.WaitSettled(t.Context(), "alice", job, api.StateKept, api.StateMissed)
	if err != nil || r.BeginBy != at.Unix() {
		t.Fatal(r, err)
	}
	run := filepath.Join(s.JobDir(), "every-run.sh")
	if err := os.WriteFile(run, []byte("#!/bin/bash\n#SBATCH --output="+run+".out\nexport XDG_STATE_HOME="+state+" VARQ_CONFIG="+s.Config()+"\n"+varq+" every run\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	mustRun(t, s, "alice", "sbatch", "--time=5", "--wait", run)
	both := read(id)
	if len(both.Occurrences) != 2 || both.Occurrences[0].State != r.State || both.Occurrences[1].At-at.Unix() < 23*3600 || both.Occurrences[1].Job == 0 {
		text, _ := os.ReadFile(run + ".out")
		t.Fatalf("%+v: %s", both, text)
	}
	next := both.Occurrences[1].Job
	eventually(t, "varqd knows the next job", func() bool {
		r, err := s.Reservation(t.Context(), "alice", next)
		return err == nil && r.BeginBy == both.Occurrences[1].At
	})
	if list := every("list"); !strings.Contains(list, id) {
		t.Errorf("%q", list)
	}
	if out := every("cancel", id); !strings.Contains(out, "series "+id+" is over; 1 of its jobs are cancelled") {
		t.Errorf("%q", out)
	}
	if err := s.WaitState(t.Context(), next, "CANCELLED"); err != nil {
		t.Error(err)
	}
}
