package e2e

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
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

// seriesOf returns varq every for alice, to which the exit code is told that it is to have, and the
// folder of her series.
func seriesOf(t *testing.T, s *site.Site) (every func(code int, args ...string) site.Run, state string) {
	t.Helper()
	alice, err := user.Lookup("alice")
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(alice.Uid)
	if state, err = os.MkdirTemp(s.JobDir(), "every-"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(state, uid, -1); err != nil {
		t.Fatal(err)
	}
	varq := filepath.Join(filepath.Dir(s.Wrapper()), "varq")
	return func(code int, args ...string) site.Run {
		t.Helper()
		args = append([]string{"XDG_STATE_HOME=" + state, "VARQ_CONFIG=" + s.Config(), varq, "every"}, args...)
		if code == 0 {
			return mustRun(t, s, "alice", "env", args...)
		}
		r, err := s.Run(t.Context(), "alice", "env", args...)
		if err != nil || r.Code != code {
			t.Fatalf("%s: %+v, %v", strings.Join(args, " "), r, err)
		}
		return r
	}, state
}

// every: a job that recurs is reserved with a promise, followed until that is settled, and reserved
// again by a job as scrontab makes of varq every run. It ends with the job that waits.
func every(t *testing.T, s *site.Site) {
	every, state := seriesOf(t, s)
	varq := filepath.Join(filepath.Dir(s.Wrapper()), "varq")
	read := func(id string) series {
		t.Helper()
		return decode[series](t, every(0, "show", id, "--json").Stdout)
	}
	file, output := script(t, s, "every", "", "echo order ${VARQ_RESERVE-none}; sleep 1")
	var at time.Time
	// What is refused stays as a series of its own: each attempt begins without.
	out := mustRunBy(t, s, "alice", "sh", func() []string {
		at = time.Now().Add(lead).Truncate(time.Minute).Add(time.Minute)
		return []string{"-c", `rm -rf "$0/varq" && XDG_STATE_HOME=$0 exec "$@"`, state,
			varq, "every", at.Format("15:04") + " daily", "--prob=0.6", "--", "sbatch", "--time=5", "--chdir=" + s.JobDir(), file}
	}).Stdout
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
	var text []byte
	eventually(t, "the work has begun", func() bool {
		text, err = os.ReadFile(output)
		return strings.Contains(string(text), "order ")
	})
	if !strings.Contains(string(text), "order none\n") {
		t.Errorf("the job has what is for its sbatch alone: %s, %v", text, err)
	}
	run := filepath.Join(s.JobDir(), "every-run.sh")
	if err := os.WriteFile(run, []byte("#!/bin/bash\n#SBATCH --output="+run+".out\nexport XDG_STATE_HOME="+state+" VARQ_CONFIG="+s.Config()+"\n"+varq+" every run\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if ran, err := s.Run(t.Context(), "alice", "sbatch", "--time=5", "--wait", run); err != nil || ran.Code != 0 {
		text, _ := os.ReadFile(run + ".out")
		t.Fatalf("%v: exit code %d, %s: %s", err, ran.Code, ran.Stderr, text)
	}
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
	if list := every(0, "list").Stdout; !strings.Contains(list, id) {
		t.Errorf("%q", list)
	}
	if out := every(0, "cancel", id).Stdout; !strings.Contains(out, "series "+id+" is over; 1 of its jobs are cancelled") {
		t.Errorf("%q", out)
	}
	if err := s.WaitState(t.Context(), next, "CANCELLED"); err != nil {
		t.Error(err)
	}
}

// everyFlow: a flow that recurs is promised for its time, and followed until that is settled. The
// jobs of a varq flow that is killed while it holds them are cancelled, and then submitted anew.
func everyFlow(t *testing.T, s *site.Site) {
	every, _ := seriesOf(t, s)
	varq := filepath.Join(filepath.Dir(s.Wrapper()), "varq")
	path := flowFile(t, s, "weekly", "name: weekly1, "+work("true"), `name: weekly2, afterok: weekly1, sbatch: "$(kill -9 $PPID)"`)
	at := time.Now().Add(71 * time.Hour).Truncate(time.Minute)
	out := every(1, at.Format("Mon 15:04"), "--prob=0.2", "--ahead=3-0", "--", varq, "flow", path).Stdout
	id, _, _ := strings.Cut(strings.TrimPrefix(out, "series "), ":")
	read := func(state string) series {
		t.Helper()
		read := decode[series](t, every(0, "show", id, "--json").Stdout)
		if n := len(read.Occurrences); n != 1 || read.Occurrences[0].At != at.Unix() || read.Occurrences[0].State != state {
			t.Fatalf("%+v", read)
		}
		return read
	}
	read("SUBMITTING")
	held := jobs(t, s, "alice", "weekly1")
	flowFile(t, s, "weekly", "name: weekly1, "+work("true"), "name: weekly2, afterok: weekly1, "+work("true"))
	every(0, "run")
	if next := read(api.StatePending).Occurrences[0].Job; len(held) != 1 || strconv.FormatInt(next, 10) == held[0] {
		t.Errorf("job %d, and before it %v", next, held)
	}
	if id, err := strconv.ParseInt(held[0], 10, 64); err != nil {
		t.Error(err)
	} else if err := s.WaitState(t.Context(), id, "CANCELLED"); err != nil {
		t.Error(err)
	}
	eventually(t, "the flow is settled", func() bool {
		every(0, "run")
		return decode[series](t, every(0, "show", id, "--json").Stdout).Occurrences[0].State == api.StateKept
	})
	every(0, "cancel", id)
}

// killedSbatch submits the job, or not as the file before is beside it, and is killed before it can
// tell. It reads a job as any sbatch.
const killedSbatch = `#!/bin/sh
case $VARQ_RESERVE in *describe*) exec sbatch "$@" ;; esac
[ -e "$(dirname "$0")/before" ] || sbatch "$@" >/dev/null
kill -9 $$
`

// everyAmongOthers: of several jobs of a user for one hour a series takes, and cancels, that which
// its own sbatch has submitted, also if that was killed. What sbatch would submit no job with makes
// no series.
func everyAmongOthers(t *testing.T, s *site.Site) {
	thorough.Only(t)
	every, _ := seriesOf(t, s)
	at := time.Now().Add(3 * time.Hour).Truncate(time.Minute)
	hour := at.Format("15:04") + " daily"
	file, _ := script(t, s, "every", "", "sleep 1")
	job := []string{"--time=5", "--chdir=" + s.JobDir(), file}

	for option, want := range map[string]string{
		"--help": "(--help, --usage, --version)", "--usage": "(--help, --usage, --version)", "-V": "(--help, --usage, --version)",
		"-W": "--wait does not go together", "-Q": "--quiet does not go together", "--test-only": "--test-only does not go together",
		"--prob=.6": "give it before --", "--begin-b=17:00": "what the schedule says", "--begin=17:00": "--begin does not go together",
	} {
		if r := every(2, append([]string{hour, "--prob=.5", "--", "sbatch", option}, job...)...); !strings.Contains(r.Stderr, want) {
			t.Errorf("%s: %q, want %q", option, r.Stderr, want)
		}
	}
	if list := every(0, "list", "--json").Stdout; list != "[]\n" {
		t.Errorf("%s", list)
	}

	bin := filepath.Join(s.JobDir(), "killed")
	before := filepath.Join(bin, "before")
	if err := errors.Join(os.Mkdir(bin, 0o755), os.WriteFile(filepath.Join(bin, "sbatch"), []byte(killedSbatch), 0o755),
		os.WriteFile(filepath.Join(bin, "scancel"), []byte("#!/bin/sh\nexec scancel \"$@\"\n"), 0o755), os.WriteFile(before, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	byHand := func() int64 {
		t.Helper()
		r := mustRun(t, s, "alice", "sbatch", append([]string{"--parsable", "--begin-by=uts" + strconv.FormatInt(at.Unix(), 10), "--prob=.5"}, job...)...)
		id, err := strconv.ParseInt(strings.TrimSpace(r.Stdout), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "varqd knows the job", func() bool {
			r, err := s.Reservation(t.Context(), "alice", id)
			return err == nil && r.State == api.StatePending
		})
		return id
	}
	start := func() string {
		t.Helper()
		out := every(1, append([]string{hour, "--prob=.5", "--", filepath.Join(bin, "sbatch")}, job...)...).Stdout
		id, _, _ := strings.Cut(strings.TrimPrefix(out, "series "), ":")
		return id
	}
	nothing := start()
	jobs := []int64{byHand()}
	if out := every(0, "cancel", nothing).Stdout; !strings.Contains(out, "; 0 of its jobs are cancelled") {
		t.Errorf("%q", out)
	}
	if err := os.Remove(before); err != nil {
		t.Fatal(err)
	}
	ids := []string{start(), start()}
	jobs = append(jobs, byHand())
	for _, id := range ids {
		var found series
		eventually(t, "the job of a killed sbatch is found", func() bool {
			every(0, "run")
			found = decode[series](t, every(0, "show", id, "--json").Stdout)
			return len(found.Occurrences) == 1 && found.Occurrences[0].State == api.StatePending
		})
		jobs = append(jobs, found.Occurrences[0].Job)
	}
	slices.Sort(jobs)
	if len(slices.Compact(slices.Clone(jobs))) != 4 {
		t.Fatalf("jobs %v", jobs)
	}
	its := decode[series](t, every(0, "show", ids[0], "--json").Stdout).Occurrences[0].Job
	if out := every(0, "cancel", ids[0]).Stdout; !strings.Contains(out, "; 1 of its jobs are cancelled") {
		t.Errorf("%q", out)
	}
	if err := s.WaitState(t.Context(), its, "CANCELLED"); err != nil {
		t.Error(err)
	}
	r := mustRun(t, s, "alice", "squeue", "--me", "--noheader", "--states=PENDING", "--format=%i")
	var pending []int64
	for _, word := range strings.Fields(r.Stdout) {
		id, _ := strconv.ParseInt(word, 10, 64)
		pending = append(pending, id)
	}
	slices.Sort(pending)
	if want := slices.DeleteFunc(jobs, func(id int64) bool { return id == its }); !slices.Equal(pending, want) {
		t.Errorf("jobs %v wait, want %v", pending, want)
	}
}
