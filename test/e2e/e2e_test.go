// Package e2e tests varq end to end: with sbatch, srun and salloc on a real Slurm of eight nodes.
// varq is installed by `make install`, and varqd learns from a real accounting database. TestSite
// has the tests of one site, and TestPair those of two sites that know each other. A test that
// needs another or a broken site starts a site of its own. These sites take turns.
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

// patient is by how much the work may start late: a slow machine may take so long to start
// work after its hold. Work that is later counts as stuck.
const patient = 5 * time.Minute

// lead is how far ahead these tests set their deadlines, if the machine is not
// slow: near enough to wait for, far enough for Slurm to start a job.
const lead = 75 * time.Second

// script writes a job script that prints when it starts, as "work <epoch>", and then runs
// body. head has lines for sbatch. The script's output goes to NAME.out.
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

// wantStart checks that the work started once, not before at, and not later than patient
// after it.
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

// wantPrompt checks that the work started once, not before its job, and not later than
// patient after it.
func wantPrompt(t *testing.T, output string, start int64) {
	t.Helper()
	if got := stamps(t, output, "work"); len(got) != 1 || got[0] < float64(start) || got[0] > float64(start)+patient.Seconds() {
		t.Errorf("the job started at %d, its work at %v", start, got)
	}
}

// reserve submits a job and returns its ID and its reservation.
func reserve(t *testing.T, s *site.Site, user string, args ...string) (int64, api.Reservation) {
	t.Helper()
	return reserveBy(t, s, user, func() []string { return args })
}

// reserveBy submits a job as reserve does, with options that are made for each attempt.
func reserveBy(t *testing.T, s *site.Site, user string, args func() []string) (int64, api.Reservation) {
	t.Helper()
	run := mustRunBy(t, s, user, "sbatch", func() []string { return append([]string{"--parsable"}, args()...) })
	// a federation names the cluster behind it
	number, _, _ := strings.Cut(strings.TrimSpace(run.Stdout), ";")
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		t.Fatalf("sbatch --parsable printed %q", run.Stdout)
	}
	if !strings.Contains(run.Stderr, "varq: ") {
		t.Errorf("sbatch told nothing of the promise: %q", run.Stderr)
	}
	var r api.Reservation
	// varqd gets the job's ID from varq-filter, or reads it in the queue.
	eventually(t, "varqd knows the job", func() bool {
		r, err = s.Reservation(t.Context(), user, id)
		return err == nil
	})
	return id, r
}

// reserveIn submits a job that is promised by a lead from now, which is Unix time at.
func reserveIn(t *testing.T, s *site.Site, lead time.Duration, user string, args ...string) (id int64, r api.Reservation, at int64) {
	t.Helper()
	id, r = reserveBy(t, s, user, func() []string {
		var option string
		option, at = deadlineIn(lead)
		return append([]string{option}, args...)
	})
	return id, r, at
}

// kept submits a job as reserveIn does, and waits until its promise is kept.
func kept(t *testing.T, s *site.Site, user string, args ...string) (r api.Reservation, at int64) {
	t.Helper()
	s.InTime(t, lead, func(lead time.Duration) bool {
		var id int64
		id, _, at = reserveIn(t, s, lead, user, args...)
		r = settled(t, s, user, id, api.StateKept, api.StateMissed)
		return r.State == api.StateKept
	})
	return r, at
}

// drop cancels a job of a round that was not in time.
func drop(t *testing.T, s *site.Site, id int64) {
	t.Helper()
	job := strconv.FormatInt(id, 10)
	mustRun(t, s, "root", "scancel", job)
	gone(t, s, job)
}

// gone waits until nothing of a job's last run is left on its nodes, and the job can start again: a
// node has revoked all credentials of a job that were made in the second in which it ended, or
// before.
func gone(t *testing.T, s *site.Site, job string) {
	t.Helper()
	eventually(t, "the last run of job "+job+" is gone", func() bool {
		found, err := s.JobProcesses(job)
		return err == nil && len(found) == 0
	})
	time.Sleep(time.Until(time.Unix(time.Now().Unix()+1, 0)))
}

// awaitLook waits until varqd has taken in a queue that was read from now on.
func awaitLook(t *testing.T, s *site.Site) {
	t.Helper()
	from := float64(time.Now().UnixMilli()) / 1000
	eventually(t, "varqd looks at the queue", func() bool { return looked(t, s) > from })
}

// settled waits until the reservation is in one of these states.
func settled(t *testing.T, s *site.Site, user string, id int64, states ...string) api.Reservation {
	t.Helper()
	r, err := s.WaitSettled(t.Context(), user, id, states...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// eventually waits until so returns true. After cluster.Patience it fails the test.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(cluster.Patience); !so(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

// deadline returns a deadline at the usual lead from now, as a --begin-by option and in Unix
// seconds.
func deadline(s *site.Site) (option string, at int64) { return deadlineIn(s.Paced(lead)) }

// deadlineIn returns a deadline at a lead from now.
func deadlineIn(lead time.Duration) (option string, at int64) {
	at = time.Now().Add(lead).Unix()
	return "--begin-by=" + time.Unix(at, 0).Format("2006-01-02T15:04:05"), at
}

// reported returns how many promises varq report counts for alice, and of them those kept and open.
func reported(t *testing.T, s *site.Site) (sum api.ReportRow) {
	t.Helper()
	for _, row := range decode[api.Report](t, mustRun(t, s, "alice", "varq", "report", "--json").Stdout).Rows {
		sum.Promises, sum.Kept, sum.Open = sum.Promises+row.Promises, sum.Kept+row.Kept, sum.Open+row.Open
	}
	return sum
}

func minutes(n int64) string { return fmt.Sprintf("%02d:%02d:00", n/60, n%60) }

// jobs returns the IDs of a user's jobs in the queue that have this name.
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

// mustRun runs a command that must succeed. It repeats the command while varq refuses a
// promise, because varq promises nothing while a slow machine starts no jobs.
func mustRun(t *testing.T, s *site.Site, user, name string, args ...string) (r site.Run) {
	t.Helper()
	return mustRunBy(t, s, user, name, func() []string { return args })
}

// mustRunBy runs a command as mustRun does, with arguments that are made for each attempt: a
// deadline may have passed before a busy machine has read it.
func mustRunBy(t *testing.T, s *site.Site, user, name string, make func() []string) (r site.Run) {
	t.Helper()
	var args []string
	for end := time.Now().Add(cluster.Patience); ; time.Sleep(100 * time.Millisecond) {
		args = make()
		var err error
		if r, err = s.Run(context.WithoutCancel(t.Context()), user, name, args...); err != nil {
			t.Fatal(err)
		}
		refused := strings.Contains(r.Stderr, "varq: no promise") || strings.Contains(r.Stderr, " is in the past") || name == "varq" && r.Code == 1 && r.Stderr == ""
		if !refused {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%s %s is never promised: %s%s", name, strings.Join(args, " "), r.Stdout, r.Stderr)
		}
	}
	if r.Code != 0 {
		t.Fatalf("%s %s: exit code %d: %s", name, strings.Join(args, " "), r.Code, r.Stderr)
	}
	return r
}

// TestMain allows 64 parallel tests, so that all reservations of a site wait for their deadlines at
// the same time. How many sites there are at a time, inTurn says.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "64"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
