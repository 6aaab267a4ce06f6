// Package e2e tests varq end to end: with sbatch, srun and salloc on a real Slurm of eight
// nodes. varq is installed by `make install`, and varqd learns from a real accounting
// database. The tests share one site and run in parallel. Tests that stop daemons have a
// site of their own.
package e2e

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
)

// patient is how late work may start on a slow machine. It is still held then, and
// not stuck.
const patient = 5 * time.Minute

// lead is how far ahead these tests set their deadlines, if the machine is not
// slow: near enough to wait for, far enough for Slurm to start a job.
const lead = 75 * time.Second

// script writes a job script that notes when it starts, as "work <epoch>", and
// then does what body says. Its output goes to NAME.out.
func script(t *testing.T, s *site.Site, name, head, body string) (file, output string) {
	t.Helper()
	file = filepath.Join(s.JobDir(), name+".sh")
	output = filepath.Join(s.JobDir(), name+".out")
	text := "#!/bin/bash\n#SBATCH --output=" + output + "\n" + head + "\necho work $(date +%s.%N)\n" + body + "\n"
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return file, output
}

// stamps returns the times that follow a word in a job's output, one for each
// line that begins with it.
func stamps(t *testing.T, output, word string) []float64 {
	t.Helper()
	text, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	var times []float64
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), word+" ")
		if !ok {
			continue
		}
		at, err := strconv.ParseFloat(rest, 64)
		if err != nil {
			t.Fatalf("%s: %q: %v", output, line, err)
		}
		times = append(times, at)
	}
	return times
}

// wantStart checks that the work started once, at the time: not before it, and as
// soon afterwards as the machine can.
func wantStart(t *testing.T, output string, at int64) {
	t.Helper()
	got := stamps(t, output, "work")
	if len(got) != 1 {
		t.Fatalf("the work started %d times: %v", len(got), got)
	}
	late := got[0] - float64(at)
	t.Logf("the work started %+.3f s from its time", late)
	if late < 0 || late > patient.Seconds() {
		t.Errorf("the work started %+.3f s from its time", late)
	}
}

// wantPrompt checks that work which nothing held started with its job, as soon as
// the machine can.
func wantPrompt(t *testing.T, output string, start int64) {
	t.Helper()
	if got := stamps(t, output, "work"); len(got) != 1 || got[0] < float64(start) || got[0] > float64(start)+patient.Seconds() {
		t.Errorf("the job started at %d, its work at %v", start, got)
	}
}

// reserve submits a job and returns its number and its reservation.
func reserve(t *testing.T, s *site.Site, user string, args ...string) (int64, api.Reservation) {
	t.Helper()
	run := mustRun(t, s, user, "sbatch", append([]string{"--parsable"}, args...)...)
	id, err := strconv.ParseInt(strings.TrimSpace(run.Stdout), 10, 64)
	if err != nil {
		t.Fatalf("sbatch --parsable printed %q", run.Stdout)
	}
	if !strings.Contains(run.Stderr, "varq: ") {
		t.Errorf("sbatch told nothing of the promise: %q", run.Stderr)
	}
	var r api.Reservation
	eventually(t, "varqd knows the job", func() bool { // at once, or with the queue
		r, err = s.Reservation(t.Context(), user, id)
		return err == nil
	})
	return id, r
}

// settled waits for the reservation's outcome.
func settled(t *testing.T, s *site.Site, user string, id int64, state string) api.Reservation {
	t.Helper()
	r, err := s.WaitSettled(t.Context(), user, id, state)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// eventually waits for something to come true.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(cluster.Patience); !so(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

// deadline returns a --begin-by option for the usual lead, and its time.
func deadline(s *site.Site) (option string, at int64) {
	at = time.Now().Add(s.Paced(lead)).Unix()
	return "--begin-by=" + time.Unix(at, 0).Format("2006-01-02T15:04:05"), at
}

func minutes(n int64) string { return fmt.Sprintf("%02d:%02d:00", n/60, n%60) }

// jobs returns the numbers of a user's jobs that carry a name.
func jobs(t *testing.T, s *site.Site, user, name string) []string {
	t.Helper()
	r, err := s.Run(t.Context(), "root", "squeue", "--noheader", "--user="+user, "--name="+name, "--format=%i")
	if err != nil || r.Code != 0 {
		t.Fatalf("squeue: %v %s", err, r.Stderr)
	}
	return strings.Fields(r.Stdout)
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return v
}

// mustRun runs a command that succeeds: in the end, as varq promises nothing while
// a slow machine starts no job at all.
func mustRun(t *testing.T, s *site.Site, user, name string, args ...string) (r site.Run) {
	t.Helper()
	eventually(t, "what is asked for is promised", func() bool {
		var err error
		if r, err = s.Run(context.WithoutCancel(t.Context()), user, name, args...); err != nil {
			t.Fatal(err)
		}
		refused := strings.Contains(r.Stderr, "varq: no promise") || name == "varq" && r.Code == 1 && r.Stderr == ""
		return !refused
	})
	if r.Code != 0 {
		t.Fatalf("%s %s: exit code %d: %s", name, strings.Join(args, " "), r.Code, r.Stderr)
	}
	return r
}

// TestMain lets all reservations wait for their deadlines at the same time,
// whatever the number of processors.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "64"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
