package e2e

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/site"
)

// TestSite has what one ordinary site does for its users. Every kind of reservation runs beside the
// others, and what needs the nodes or varqd for itself comes after them.
func TestSite(t *testing.T) {
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{
		History: calmAndDoomed(),
		// MaxTime equals the limit of the longest past jobs. A job with this limit leaves no
		// time for a hold.
		SlurmConf: "PartitionName=main Nodes=ALL Default=YES MaxTime=1-00:00:00 DefaultTime=01:00:00 State=UP\n" +
			"PartitionName=" + doomed + " Nodes=ALL State=UP",
	})
	t.Run("kinds", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T, *site.Site){
			"strict":            strict,
			"four nodes":        fourNodes,
			"window":            window,
			"best effort":       bestEffort,
			"export none":       exportNone,
			"sbatch lines":      sbatchLines,
			"srun":              srun,
			"salloc":            salloc,
			"interactive":       interactive,
			"signal":            signal,
			"on miss":           onMiss,
			"requeue":           requeue,
			"scontrol update":   userUpdate,
			"cancel":            cancel,
			"refused":           refused,
			"conflicts":         conflicts,
			"output kept":       outputKept,
			"test only":         testOnly,
			"private":           private,
			"without an option": plain,
			"other host":        otherHost,
			"impostor":          impostor,
			"quote and predict": quoteAndPredict,
			"size":              sizeFromPast,
			"sizes":             sizes,
			"every":             every,
			"every flow":        everyFlow,
			"accounts":          accounts,
			"array":             array,
			"dependencies":      dependencies,
			"flows":             flows,
			"engines":           engines,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, s)
			})
		}
	})
	t.Run("report", func(t *testing.T) { report(t, s) })
	for _, c := range []struct {
		name string
		test func(*testing.T, *site.Site)
	}{
		{"every among others", everyAmongOthers},
		{"when", whenWaiting},
		{"faults", faults},
		{"policy", policy},
		{"shadow", shadow},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.Tidy(t)
			c.test(t, s)
		})
	}
}

// strict: the script starts at its deadline. The job in the queue is exactly as planned, and
// from the deadline on its time limit is that of the work alone.
func strict(t *testing.T, s *site.Site) {
	// some seconds of work for report
	file, out := script(t, s, "strict", "", "until [ -e seen ]; do sleep .1; done; sleep 2")
	s.InTime(t, lead, func(lead time.Duration) bool { return strictly(t, s, lead, file, out) })
}

// strictly is a round of strict. It returns false if the job did not start in time, or was moved
// before it was looked at.
func strictly(t *testing.T, s *site.Site, lead time.Duration, file, out string) bool {
	seen := filepath.Join(s.JobDir(), "seen")
	_ = os.Remove(seen) // of a round before
	id, r, at := reserveIn(t, s, lead, "alice", "--prob=0.6", "--time=5", "--comment=mine and yours", file, "an argument")
	if r.BeginBy != at || r.HoldUntil != at || r.Prob != .6 || r.Estimate < .6 {
		t.Errorf("promised %+v", r.Plan)
	}
	job, err := s.Job(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if now, err := s.Reservation(t.Context(), "alice", id); err != nil || now.Set.BeginTime != r.BeginTime || time.Now().Unix() >= r.BeginTime {
		drop(t, s, id)
		return false
	}
	if got, want := job["EligibleTime"], time.Unix(r.BeginTime, 0).Format("2006-01-02T15:04:05"); got != want {
		t.Errorf("eligible at %s, planned %s", got, want)
	}
	if got, want := job["TimeLimit"], minutes(r.TimeLimit/60); got != want {
		t.Errorf("time limit %s, planned %s", got, want)
	}
	if want := (at - r.BeginTime + 5*60 + 59) / 60 * 60; r.TimeLimit != want {
		t.Errorf("planned a limit of %d s, not %d", r.TimeLimit, want)
	}
	if job["Comment"] != "mine" { // s.Job returns only the first word
		t.Errorf("the user's comment became %q", job["Comment"])
	}
	if err := s.WaitState(t.Context(), id, "RUNNING"); err != nil {
		t.Fatal(err)
	}
	if job, err = s.Job(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if start, err := time.ParseInLocation("2006-01-02T15:04:05", job["StartTime"], time.Local); err != nil || start.Unix() > at {
		t.Logf("started at %s, %v", job["StartTime"], err)
		drop(t, s, id)
		return false
	}
	time.Sleep(time.Until(time.Unix(at, 0)))
	var left int64
	eventually(t, "the work has no more than the 300 s asked for, in whole minutes", func() bool {
		if job, err = s.Job(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		end, err := time.ParseInLocation("2006-01-02T15:04:05", job["EndTime"], time.Local)
		if err != nil {
			t.Fatal(err)
		}
		left = end.Unix() - at
		return left <= 6*60
	})
	if left < 5*60 || job["JobState"] != "RUNNING" {
		t.Errorf("%s with the work started, %d s of the 300 s asked for are left to it", job["JobState"], left)
	}
	if err := os.WriteFile(seen, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if r = settled(t, s, "alice", id, api.StateKept, api.StateMissed); r.State == api.StateMissed {
		return false
	}
	wantStart(t, out, at)
	if r.WorkStart != at || r.Start > at || r.Start < r.BeginTime {
		t.Errorf("settled as begun %d, started %d, work started %d; deadline %d", r.BeginTime, r.Start, r.WorkStart, at)
	}
	return true
}

// fourNodes: steps on other nodes run as soon as the script starts them. They have no hold
// of their own.
func fourNodes(t *testing.T, s *site.Site) {
	file, out := script(t, s, "four", "#SBATCH --nodes=4 --ntasks-per-node=1",
		"srun bash -c 'echo step $(date +%s.%N)'; srun bash -c 'echo step $(date +%s.%N)'")
	_, at := kept(t, s, "alice", "--prob=0.6", "--time=5", file)
	wantStart(t, out, at)
	steps := stamps(t, out, "step")
	if len(steps) != 8 {
		t.Fatalf("%d tasks ran, not 8", len(steps))
	}
	for _, step := range steps {
		if after := step - float64(at); after < 0 || after > patient.Seconds() {
			t.Errorf("a step ran %+.3f s from the deadline", after)
		}
	}
}

// window: the work may start from --begin-after on.
func window(t *testing.T, s *site.Site) {
	file, out := script(t, s, "window", "", "")
	s.InTime(t, lead, func(lead time.Duration) bool { return inWindow(t, s, lead, file, out) })
}

// inWindow is a round of window. It returns false if the job did not start in time.
func inWindow(t *testing.T, s *site.Site, lead time.Duration, file, out string) bool {
	var after int64
	id, r := reserveBy(t, s, "alice", func() []string {
		option, at := deadlineIn(lead)
		after = at - int64(lead.Seconds()*.4)
		return []string{option, fmt.Sprintf("--begin-after=uts%d", after), "--prob=0.6", "--time=5", file}
	})
	if r.HoldUntil != after {
		t.Errorf("held until %d, not %d", r.HoldUntil, after)
	}
	if want := (300 + max(0, after-r.BeginTime) + 59) / 60 * 60; r.TimeLimit != want {
		t.Errorf("planned a limit of %d s, not %d", r.TimeLimit, want)
	}
	if r = settled(t, s, "alice", id, api.StateKept, api.StateMissed); r.State == api.StateMissed {
		return false
	}
	if r.Start < after {
		wantStart(t, out, after)
	} else {
		wantPrompt(t, out, r.Start)
	}
	return true
}

// bestEffort: the work starts with the job.
func bestEffort(t *testing.T, s *site.Site) {
	file, out := script(t, s, "besteffort", "", "")
	r, _ := kept(t, s, "alice", "--best-effort", "--prob=0.6", "--time=5", file)
	if r.HoldUntil != 0 || r.TimeLimit != 300 || r.BeginTime > r.Promised+1 {
		t.Errorf("held until %d, limit %d, promised at %d to be eligible at %d", r.HoldUntil, r.TimeLimit, r.Promised, r.BeginTime)
	}
	wantPrompt(t, out, r.Start)
}

// exportNone: the work is held although --export=NONE exports no environment variable.
func exportNone(t *testing.T, s *site.Site) {
	file, out := script(t, s, "exportnone", "#SBATCH --export=NONE", "")
	_, at := kept(t, s, "bob", "--prob=0.6", "--time=5", file)
	wantStart(t, out, at)
}

// sbatchLines: options in #SBATCH lines apply, but those on the command line have
// precedence.
func sbatchLines(t *testing.T, s *site.Site) {
	file, out := script(t, s, "lines", "#SBATCH --begin-by=now+6hours --prob=70% --time=5", "")
	r, at := kept(t, s, "bob", file)
	if r.BeginBy != at || r.Prob != .7 || r.WorkLimit != 300 {
		t.Errorf("promised %+v", r.Plan)
	}
	wantStart(t, out, at)
}

// srun: a job of one step is held like a script.
func srun(t *testing.T, s *site.Site) {
	var at int64
	r := mustRunBy(t, s, "alice", "srun", func() []string {
		var option string
		option, at = deadline(s)
		return []string{option, "--prob=0.6", "--time=5", "--nodes=2", "bash", "-c", "echo work $(date +%s.%N)"}
	})
	lines := strings.Fields(r.Stdout)
	if len(lines) != 4 {
		t.Fatalf("srun printed %q", r.Stdout)
	}
	for _, word := range []string{lines[1], lines[3]} {
		started, err := strconv.ParseFloat(word, 64)
		if late := started - float64(at); err != nil || late < 0 || late > patient.Seconds() {
			t.Errorf("a task started %+.3f s from the deadline (%v)", late, err)
		}
	}
}

// interactive: who waits before the terminal of an srun or salloc reads, once and before the
// work starts, until when it is held. No sbatch writes that anywhere.
func interactive(t *testing.T, s *site.Site) {
	for name, command := range map[string]string{
		"srun":   `srun "$@" --nodes=2 true`,
		"salloc": `salloc "$@" srun --nodes=2 true`,
		"sbatch": `sbatch --wait --output="$0" "$@" --wrap="srun --nodes=2 true"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.InTime(t, lead, func(lead time.Duration) bool { return told(t, s, lead, name, command) })
		})
	}
}

// told is a round of interactive. It returns false if the job started only at its deadline.
func told(t *testing.T, s *site.Site, lead time.Duration, name, command string) bool {
	output := filepath.Join(s.JobDir(), "interactive-"+name+".out")
	var at int64
	r := mustRunBy(t, s, "alice", "bash", func() []string {
		var option string
		option, at = deadlineIn(lead)
		return []string{"-c", "set -o pipefail; " + command + ` 2>&1 | while read -r line; do echo "$(date +%s) $line"; done >&2`,
			output, option, "--prob=0.6", "--time=5", "--nodes=2", "--job-name=interactive-" + name}
	})
	t.Logf("%s took %v and said\n%s", name, r.Took, r.Stderr)
	said := ""
	for line := range strings.Lines(r.Stderr) {
		if strings.Contains(line, "holding until") || strings.Contains(line, "is held until") {
			said += line
		}
	}
	if name == "sbatch" {
		if text, err := os.ReadFile(output); err != nil || strings.Contains(string(text), "holding") || said != "" {
			t.Errorf("sbatch said %q, its output file has %q (%v)", said, text, err)
		}
		return true
	}
	start := int64(0)
	eventually(t, "varqd knows when the job started", func() bool {
		listed := mustRun(t, s, "alice", "varq", "status", "--json")
		for _, reservation := range decode[[]api.Reservation](t, listed.Stdout) {
			if reservation.BeginBy == at && reservation.Name == "interactive-"+name {
				start = reservation.Start
			}
		}
		return start != 0
	})
	if start >= at-1 {
		return false
	}
	stamp, text, _ := strings.Cut(said, " ")
	saidAt, err := strconv.ParseInt(stamp, 10, 64)
	begin, want := "varq: holding until ", time.Unix(at, 0).Format("2006-01-02T15:04:05")
	if name == "salloc" { // Slurm may have accepted the job only
		begin = "varq: once job "
	}
	if err != nil || !strings.HasPrefix(text, begin) || !strings.Contains(text, want) || strings.Count(text, "\n") != 1 || saidAt >= at {
		t.Errorf("%s said %q, wanted one line with %q and %q before %d", name, said, begin, want, at)
	}
	return true
}

// salloc: the command starts at the deadline, and so do its steps.
func salloc(t *testing.T, s *site.Site) {
	var at int64
	r := mustRunBy(t, s, "alice", "salloc", func() []string {
		var option string
		option, at = deadline(s)
		return []string{option, "--prob=0.6", "--time=5", "srun", "bash", "-c", "echo work $(date +%s.%N)"}
	})
	started, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(r.Stdout), "work "), 64)
	if late := started - float64(at); err != nil || late < 0 || late > patient.Seconds() {
		t.Errorf("the step started %+.3f s from the deadline (%v)", late, err)
	}
}

// signal: a signal during the hold does not end the job.
func signal(t *testing.T, s *site.Site) {
	file, out := script(t, s, "signal", "", "")
	s.InTime(t, lead, func(lead time.Duration) bool {
		id, _, at := reserveIn(t, s, lead, "alice", "--prob=0.6", "--time=5", file)
		job := strconv.FormatInt(id, 10)
		held := false
		eventually(t, "the hold begins, or is over", func() bool {
			found, err := s.JobProcesses(job)
			if err != nil {
				t.Fatal(err)
			}
			for _, words := range found {
				held = held || words[0] == s.Wrapper()
			}
			return held || time.Now().Unix() >= at
		})
		if held {
			signalled, err := s.Run(t.Context(), "alice", "scancel", "--batch", "--signal=USR1", job)
			if held = time.Now().Unix() < at; err != nil || held && signalled.Code != 0 {
				t.Fatalf("%v %+v", err, signalled)
			}
		}
		if !held || settled(t, s, "alice", id, api.StateKept, api.StateMissed).State == api.StateMissed {
			drop(t, s, id)
			return false
		}
		wantStart(t, out, at)
		return true
	})
}

// onMiss: with --on-miss=cancel, a job that has not started by its deadline is cancelled. Its
// partition goes down after the promise.
func onMiss(t *testing.T, s *site.Site) {
	file, out := script(t, s, "miss", "", "")
	partition := func(state string) {
		mustRun(t, s, "root", "scontrol", "update", "PartitionName="+doomed, "State="+state)
	}
	var id int64
	s.InTime(t, lead, func(lead time.Duration) bool {
		var r api.Reservation
		id, r, _ = reserveIn(t, s, lead, "alice", "--partition="+doomed, "--on-miss=cancel", "--prob=0.6", "--time=5", file)
		partition("DOWN")
		if time.Now().Unix() < r.BeginTime {
			return true
		}
		drop(t, s, id)
		_ = os.Remove(out) // if it ran
		partition("UP")
		return false
	})
	settled(t, s, "alice", id, api.StateMissed)
	if err := s.WaitState(t.Context(), id, "CANCELLED"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("the work ran")
	}
}

// doomed is a partition that goes down in the test onMiss.
const doomed = "doomed"

// calmAndDoomed is the past of site.Calm, with its small jobs in the partition doomed too.
func calmAndDoomed() iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		for j, err := range site.Calm(time.Now().Unix()) {
			if !yield(j, err) {
				return
			}
			if j.Limit > 3600 {
				continue
			}
			j.ID += 1_000_000
			j.Partition, j.Size = doomed, workload.Size{Nodes: 1, CPUs: 1}
			if !yield(j, err) {
				return
			}
		}
	}
}

// requeue: a job that Slurm starts a second time, after its deadline, is not held again.
func requeue(t *testing.T, s *site.Site) {
	file, out := script(t, s, "requeue", "#SBATCH --requeue --open-mode=append", "echo restarts ${SLURM_RESTART_COUNT:-0}; [ -n \"$SLURM_RESTART_COUNT\" ] || sleep 10000")
	var id, at int64
	s.InTime(t, lead, func(lead time.Duration) bool {
		id, _, at = reserveIn(t, s, lead, "bob", "--prob=0.6", "--time=60", file)
		time.Sleep(time.Until(time.Unix(at+3, 0)))
		if err := s.WaitState(t.Context(), id, "RUNNING"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the work has begun", func() bool { _, err := os.Stat(out); return err == nil && len(stamps(t, out, "work")) == 1 })
		if r, err := s.Reservation(t.Context(), "bob", id); err != nil || r.Start > at {
			t.Logf("%+v, %v", r, err)
			drop(t, s, id)
			_ = os.Remove(out)
			return false
		}
		return true
	})
	job := strconv.FormatInt(id, 10)
	mustRun(t, s, "root", "scontrol", "requeue", job)
	if err := s.WaitState(t.Context(), id, "PENDING"); err != nil {
		t.Fatal(err)
	}
	gone(t, s, job)
	// Slurm delays a requeued job by two minutes.
	mustRun(t, s, "root", "scontrol", "update", "JobId="+job, "StartTime=now")
	if err := s.WaitState(t.Context(), id, "COMPLETED"); err != nil {
		t.Fatal(err)
	}
	if got := stamps(t, out, "work"); len(got) != 2 || got[0]-float64(at) > patient.Seconds() {
		t.Errorf("the work started at %v, the deadline was %d", got, at)
	}
	if got := stamps(t, out, "restarts"); len(got) != 2 || got[1] != 1 {
		t.Errorf("SLURM_RESTART_COUNT was %v", got)
	}
	settled(t, s, "bob", id, api.StateKept)
}

// userUpdate: varq does not undo changes that the user makes to the job.
func userUpdate(t *testing.T, s *site.Site) {
	file, _ := script(t, s, "update", "", "")
	id, _ := reserve(t, s, "alice", "--begin-by=now+2hours", "--prob=0.6", "--time=5", file)
	job := strconv.FormatInt(id, 10)
	begin := time.Now().Add(90 * time.Minute).Unix()
	mustRun(t, s, "alice", "scontrol", "update", "JobId="+job, "StartTime="+time.Unix(begin, 0).Format("2006-01-02T15:04:05"), "TimeLimit=44")
	eventually(t, "varq notes the update", func() bool {
		r, err := s.Reservation(t.Context(), "alice", id)
		if err != nil {
			t.Fatal(err)
		}
		return r.Note != ""
	})
	awaitLook(t, s)
	got, err := s.Job(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if got["EligibleTime"] != time.Unix(begin, 0).Format("2006-01-02T15:04:05") || got["TimeLimit"] != minutes(44) {
		t.Errorf("eligible at %s, limit %s: not what the user set", got["EligibleTime"], got["TimeLimit"])
	}
	mustRun(t, s, "alice", "scancel", job)
	settled(t, s, "alice", id, api.StateCancelled)
}

// cancel: the reservation of a cancelled job counts as cancelled, not as missed.
func cancel(t *testing.T, s *site.Site) {
	file, out := script(t, s, "cancel", "", "")
	id, _ := reserve(t, s, "alice", "--begin-by=now+2hours", "--prob=0.6", "--time=5", file)
	mustRun(t, s, "alice", "scancel", strconv.FormatInt(id, 10))
	settled(t, s, "alice", id, api.StateCancelled)
	if _, err := os.Stat(out); err == nil {
		t.Error("the work ran")
	}
}

// report: varq report counts the reservations of all tests above. A user's report shows no
// other users.
func report(t *testing.T, s *site.Site) {
	r := mustRun(t, s, "oper", "varq", "report", "--json", "--by=user", "--all")
	rep := decode[api.Report](t, r.Stdout)
	byUser := map[string]api.ReportRow{}
	for _, row := range rep.Rows {
		byUser[row.Group] = row
	}
	if a, b := byUser["alice"], byUser["bob"]; a.Kept < 5 || a.Missed < 1 || a.Cancelled < 2 || b.Kept < 3 {
		t.Errorf("report: %s", r.Stdout)
	} else if a.Ratio < 1 || a.Required <= 0 {
		t.Errorf("cost ratio %v of %v node-seconds", a.Ratio, a.Required)
	}
	text := mustRun(t, s, "oper", "varq", "report", "--by=user", "--all")
	t.Logf("varq report --by=user\n%s", text.Stdout)
	lines := strings.Split(mustRun(t, s, "alice", "varq", "report", "--parsable2", "--by=user").Stdout, "\n")
	if len(lines) < 2 || strings.Contains(strings.Join(lines, "\n"), "bob") {
		t.Errorf("alice's report: %q", lines)
	}
}
