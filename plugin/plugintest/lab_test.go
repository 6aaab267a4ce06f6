// Package plugintest tests the SPANK plugin, the filter and the wrapper together on a real
// Slurm, with a fake varqd whose answers are known.
package plugintest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/cluster"
)

// lab is a Slurm with varq's plugin and filter.
type lab struct {
	*cluster.Cluster
	varqd *varqd
	bin   string

	deadlines atomic.Int64 // the last one that wantTakenBack gave
}

// startLab builds what is tested and starts the chosen Slurm, which uses it.
func startLab(t *testing.T) *lab {
	t.Helper()
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("starts a real Slurm: needs root, and not in short mode")
	}
	version := cluster.Chosen()
	if err := cluster.Install(t.Context(), version, os.Stderr); errors.Is(err, cluster.ErrNoSlurm) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	bin, err := os.MkdirTemp("", "varq-plugin-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(bin) })
	if err := os.Chmod(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	build(t, "make", "-C", "../spank", "OUT="+bin, "SLURM_CFLAGS=-I"+cluster.IncludeDir(version))
	build(t, "go", "build", "-o", bin+"/", "../cmd/varq-filter", "../../wrapper/cmd/varq-wrapper")

	l := &lab{bin: bin, varqd: startVarqd(t, bin)}
	l.deadlines.Store(time.Now().Unix() + 86400)
	l.Cluster = cluster.ForTest(t, cluster.Options{
		Version: version, Bind: []string{bin},
		PlugStack: fmt.Sprintf("optional %[1]s/spank_varq.so wrapper=%[1]s/varq-wrapper filter=%[1]s/varq-filter\n", bin),
		CliFilter: l.cliFilter(t),
	})
	return l
}

// cliFilter returns the cli_filter that is delivered, with the path of varq.lua changed to that
// of a copy.
func (l *lab) cliFilter(t *testing.T) string {
	t.Helper()
	const file, installed = "../lua/cli_filter.lua", "/usr/share/varq/varq.lua"
	copied := filepath.Join(l.bin, "varq.lua")
	if err := os.WriteFile(copied, []byte(read(t, "../lua/varq.lua")), 0o644); err != nil {
		t.Fatal(err)
	}
	text := read(t, file)
	if !strings.Contains(text, strconv.Quote(installed)) {
		t.Fatalf("%s does not name %s", file, installed)
	}
	return strings.Replace(text, strconv.Quote(installed), strconv.Quote(copied), 1)
}

func build(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

// result is the result of a command.
type result struct {
	stdout, stderr string
	code           int
}

// run runs a command as alice. It runs the command again if the answer of a busy varqd came
// too late.
func (l *lab) run(t *testing.T, name string, args ...string) result {
	t.Helper()
	for {
		if r := l.runEnv(t, nil, name, args...); r.code == 0 || !strings.Contains(r.stderr, ": no answer within ") {
			return r
		}
	}
}

func (l *lab) runEnv(t *testing.T, env []string, name string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), cluster.Patience)
	defer cancel()
	cmd := l.Command(ctx, "alice", name, args...)
	cmd.Env = append(append(cmd.Env, "VARQ_ENDPOINT=unix://"+l.varqd.socket), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	r := result{stdout: stdout.String(), stderr: stderr.String()}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		r.code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return r
}

// ok runs a command that must succeed and returns what it prints.
func (l *lab) ok(t *testing.T, name string, args ...string) string {
	t.Helper()
	r := l.run(t, name, args...)
	if r.code != 0 {
		t.Fatalf("%s %v: exit code %d: %s", name, args, r.code, r.stderr)
	}
	return strings.TrimSpace(r.stdout)
}

// script writes a job script with the name of the test. The work begins with
// the line "work EPOCH" on its standard output.
func (l *lab) script(t *testing.T, directives, body string) (file, output string) {
	t.Helper()
	name := strings.ReplaceAll(filepath.Base(t.Name()), " ", "_")
	file, output = filepath.Join(l.JobDir(), name+".sh"), filepath.Join(l.JobDir(), name+".out")
	text := "#!/bin/bash\n#SBATCH --output=" + output + "\n" + directives + "\necho work $(date +%s.%N)\n" + body + "\n"
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return file, output
}

// submit submits a reservation and returns the job and its plan.
func (l *lab) submit(t *testing.T, args ...string) (job string, plan api.Plan) {
	t.Helper()
	job = l.ok(t, "sbatch", append([]string{"--parsable"}, args...)...)
	comment := regexp.MustCompile(`(?m)^   Comment=(.*)$`).FindStringSubmatch(l.show(t, job))
	if comment == nil {
		t.Fatalf("job %s has no comment", job)
	}
	id, _ := api.PlanInComment(comment[1])
	plan, ok := l.varqd.promised(id)
	if !ok {
		t.Fatalf("job %s has the comment %q: no such promise", job, comment[1])
	}
	return job, plan
}

func (l *lab) show(t *testing.T, job string) string {
	t.Helper()
	return l.ok(t, "scontrol", "show", "job", job) + "\n"
}

// field returns a field that scontrol show job prints for a job.
func (l *lab) field(t *testing.T, job, name string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)(?:^|\s)` + name + `=(\S*)`).FindStringSubmatch(l.show(t, job))
	if m == nil {
		t.Fatalf("job %s: no %s", job, name)
	}
	return m[1]
}

// await waits until the job is in a state.
func (l *lab) await(t *testing.T, job, state string) {
	t.Helper()
	var last string
	for deadline := time.Now().Add(cluster.Patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if last = l.field(t, job, "JobState"); last == state {
			return
		}
	}
	t.Fatalf("job %s is %s, not %s", job, last, state)
}

// held waits until varq-wrapper holds a job, and returns its process. It reports false if that is
// not so before the job's deadline.
func (l *lab) held(t *testing.T, job string, at int64) (pid int, ok bool) {
	t.Helper()
	l.processes(t, job, "varq-wrapper holds it", func(found map[int][]string) bool {
		for id, words := range found {
			if words[0] == l.bin+"/varq-wrapper" {
				pid, ok = id, true
			}
		}
		return ok || time.Now().Unix() >= at
	})
	return pid, ok && time.Now().Unix() < at
}

// gone waits until nothing of a job's last run is left on its nodes, and the job can start again: a
// node has revoked all credentials of a job that were made in the second in which it ended, or
// before.
func (l *lab) gone(t *testing.T, job string) {
	t.Helper()
	l.processes(t, job, "its last run is gone", func(found map[int][]string) bool { return len(found) == 0 })
	time.Sleep(time.Until(time.Unix(time.Now().Unix()+1, 0)))
}

// processes waits until a job's processes are as they ought to be.
func (l *lab) processes(t *testing.T, job, what string, ok func(map[int][]string) bool) {
	t.Helper()
	for deadline := time.Now().Add(cluster.Patience); ; time.Sleep(100 * time.Millisecond) {
		found, err := l.JobProcesses(job)
		if err != nil {
			t.Fatal(err)
		}
		if ok(found) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("job %s, never: %s; it has the processes %v", job, what, found)
		}
	}
}

// tooLate is what a job whose hold began after its deadline prints.
const tooLate = "after the deadline"

// awaitWork waits until the script's work has begun.
func (l *lab) awaitWork(t *testing.T, output string) {
	t.Helper()
	for deadline := time.Now().Add(cluster.Patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if text, err := os.ReadFile(output); err == nil && len(times(t, string(text), "work")) > 0 {
			return
		}
	}
	t.Fatal("the work never begins")
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// times returns the number in each line that begins with a word.
func times(t *testing.T, text, word string) []float64 {
	t.Helper()
	var found []float64
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), word+" "); ok {
			at, err := strconv.ParseFloat(rest, 64)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			found = append(found, at)
		}
	}
	return found
}

// patient is how late work may start on a slow machine. Work that starts later counts as
// stuck.
const patient = 5 * time.Minute

// wantStart checks that something started n times, each time not before a given time, and
// at most patient after it.
func wantStart(t *testing.T, got []float64, n int, at int64) {
	t.Helper()
	if len(got) != n {
		t.Fatalf("started at %v, wanted %d starts", got, n)
	}
	for _, start := range got {
		late := start - float64(at)
		t.Logf("started %+.3f s from its time", late)
		if late < 0 || late > patient.Seconds() {
			t.Errorf("started %+.3f s from its time", late)
		}
	}
}

// in returns a time some seconds ahead, or more on a slow machine, and the same time as the
// value of an option.
func (l *lab) in(seconds int64) (at int64, text string) {
	return in(l.Paced(time.Duration(seconds) * time.Second))
}

// in returns the time after a lead, and the same time as the value of an option.
func in(lead time.Duration) (at int64, text string) {
	at = time.Now().Add(lead).Unix()
	return at, "uts" + strconv.FormatInt(at, 10)
}

// wantLimit checks that a job printed "limit" and its time limit in whole minutes. The limit
// must be at least that of the work, ten minutes, and at most that and the hold, which is no longer
// than the lead.
func wantLimit(t *testing.T, text string, lead time.Duration) {
	t.Helper()
	hold := int(math.Ceil(lead.Minutes()))
	for minutes := 11; minutes <= 10+hold; minutes++ {
		if strings.Contains(text, fmt.Sprintf("limit %d:00\n", minutes)) {
			return
		}
	}
	t.Errorf("printed %q", text)
}

// asRoot runs a command as the administrator.
func (l *lab) asRoot(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := l.Command(context.Background(), "root", name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}

// wantNoJob checks that no job of a name has been submitted.
func (l *lab) wantNoJob(t *testing.T, name string) {
	t.Helper()
	if got := l.ok(t, "squeue", "--noheader", "--states=all", "--name="+name, "--format=%i"); got != "" {
		t.Errorf("jobs named %s: %s", name, got)
	}
}

// wantTakenBack runs a command with --begin-by, which must fail after varqd has promised, and
// waits until the promise is taken back. The user must not read of it.
func (l *lab) wantTakenBack(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	var r result
	var at int64
	for attempt := int64(1); attempt == 1 || strings.Contains(r.stderr, ": no answer within "); attempt++ {
		at = l.deadlines.Add(1) // each promise has one of its own
		r = l.runEnv(t, env, name, append([]string{fmt.Sprintf("--begin-by=uts%d", at)}, args...)...)
	}
	if r.code == 0 || strings.Contains(r.stderr, "promised") {
		t.Errorf("%s %v: exit code %d, said %q", name, args, r.code, r.stderr)
	}
	made, left := 0, 0
	for end := time.Now().Add(cluster.Patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if made, left = l.varqd.phantoms(at); made > 0 && left == 0 {
			return
		}
	}
	t.Fatalf("%s %v: %d promises were made, and %d of them not taken back", name, args, made, left)
}

// listenOnly listens on a socket and never answers.
func listenOnly(t *testing.T, socket string) {
	t.Helper()
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	if err := os.Chmod(socket, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestMain lets all tests run at the same time, however few cores there are, because they
// mostly wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "64"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
