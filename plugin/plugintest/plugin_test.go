package plugintest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/slurmtime"
)

// TestPlugin runs every kind of reservation at the same time on one Slurm.
func TestPlugin(t *testing.T) {
	l := startLab(t)
	for name, test := range map[string]func(*testing.T, *lab){
		"strict":            strict,
		"four nodes":        fourNodes,
		"window":            window,
		"best effort":       bestEffort,
		"longer limit":      longerLimit,
		"sbatch lines":      sbatchLines,
		"export none":       exportNone,
		"export file":       exportFile,
		"srun":              srun,
		"salloc":            salloc,
		"signals":           signals,
		"cancel while held": cancelWhileHeld,
		"kill while held":   killWhileHeld,
		"requeue":           requeue,
		"on miss":           onMiss,
		"bad ticket":        badTicket,
		"nested":            nested,
		"refused":           refused,
		"conflicts":         conflicts,
		"variables":         conflictingVariables,
		"quiet":             quiet,
		"tools":             tools,
		"refused by Slurm":  refusedBySlurm,
		"heterogeneous":     heterogeneous,
		"clusters":          clusters,
		"killed":            killed,
		"output kept":       outputKept,
		"test only":         testOnly,
		"hostile":           hostile,
		"environment":       environment,
		"varqd is down":     varqdIsDown,
		"valgrind":          valgrind,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, l)
		})
	}
}

// strict: the job is exactly as planned, its script starts at the deadline with
// everything in place, and its limit is the work's from then on.
func strict(t *testing.T, l *lab) {
	file, output := l.script(t, "", `echo "args $# $1"; env | grep -c SPANK; echo stdin $(wc -c); sleep 3; exit 7`)
	l.InTime(t, 15*time.Second, func(lead time.Duration) bool { return strictly(t, l, file, output, lead) })
}

// strictly is a round of strict. It returns false if the job started too late.
func strictly(t *testing.T, l *lab, file, output string, lead time.Duration) bool {
	at, text := in(lead)
	job, plan := l.submit(t, "--begin-by="+text, "--prob=80%", "--time=5", "--comment=mine and yours", file, "an argument")
	if plan.BeginBy != at || plan.Prob != .8 || plan.WorkLimit != 300 {
		t.Errorf("asked for %+v", plan)
	}
	// If the begin time has passed when the job arrives, Slurm takes the present.
	eligible, err := slurmtime.Parse(l.field(t, job, "EligibleTime"), plan.BeginTime, time.Local)
	if err != nil || eligible < plan.BeginTime || eligible > plan.BeginTime+int64(patient.Seconds()) {
		t.Errorf("eligible %s, planned %s: %v", slurmtime.Format(eligible, time.Local), slurmtime.Format(plan.BeginTime, time.Local), err)
	}
	if got, want := l.field(t, job, "TimeLimit"), slurmtime.FormatDuration(plan.TimeLimit); got != want {
		t.Errorf("limit %s, planned %s", got, want)
	}
	if comment := "Comment=mine and yours " + plan.Comment; !strings.Contains(l.show(t, job), comment) {
		t.Errorf("no %s", comment)
	}
	l.await(t, job, "FAILED")
	if got := l.field(t, job, "ExitCode"); got != "7:0" {
		t.Errorf("exit code %s", got)
	}
	if got := strconv.FormatInt(l.varqd.bound(plan.ID), 10); got != job {
		t.Errorf("job %s: the plan is bound to %s", job, got)
	}
	text = read(t, output)
	if strings.Contains(text, tooLate) {
		return false
	}
	wantStart(t, times(t, text, "work"), 1, at)
	if _, rest, _ := strings.Cut(text, "\n"); rest != "args 1 an argument\n0\nstdin 0\n" {
		t.Errorf("the script printed %q", text)
	}
	return true
}

// fourNodes: the steps of a held script start without a hold of their own. The
// limit is trimmed by the time the work runs, without a word.
func fourNodes(t *testing.T, l *lab) {
	step := "srun bash -c 'echo step $(date +%s.%N)'\n"
	file, output := l.script(t, "#SBATCH -N4 -c1", step+step+`squeue --noheader --jobs=$SLURM_JOB_ID --format="limit %l"`)
	l.InTime(t, 20*time.Second, func(lead time.Duration) bool {
		at, text := in(lead)
		job, _ := l.submit(t, "--begin-by="+text, "--time=10", file)
		l.await(t, job, "COMPLETED")
		text = read(t, output)
		if strings.Contains(text, tooLate) {
			return false
		}
		wantStart(t, times(t, text, "work"), 1, at)
		wantStart(t, times(t, text, "step"), 8, at)
		wantLimit(t, text, lead)
		if strings.Contains(text, "varq") {
			t.Errorf("the script printed %q", text)
		}
		return true
	})
}

// window: the work is held only until --begin-after.
func window(t *testing.T, l *lab) {
	file, output := l.script(t, "", "")
	after, text := l.in(12)
	_, by := l.in(7200)
	job, plan := l.submit(t, "--begin-by="+by, "--begin-after="+text, "--time=10", file)
	if plan.HoldUntil != after {
		t.Errorf("asked for %+v", plan)
	}
	l.await(t, job, "COMPLETED")
	wantStart(t, times(t, read(t, output), "work"), 1, after)
}

// bestEffort: the work starts with the job, and the limit is trimmed then.
func bestEffort(t *testing.T, l *lab) {
	file, output := l.script(t, "", `sleep 4; squeue --noheader --jobs=$SLURM_JOB_ID --format="limit %l"`)
	submitted := time.Now().Unix()
	job, _ := l.submit(t, "--begin-by=now+2hours", "--best-effort", "--time=10", file)
	l.await(t, job, "COMPLETED")
	text := read(t, output)
	wantStart(t, times(t, text, "work"), 1, submitted)
	if !strings.Contains(text, "limit 10:00\n") && !strings.Contains(text, "limit 11:00\n") {
		t.Errorf("the script printed %q", text)
	}
}

// longerLimit: if the user has raised the limit, varq leaves it alone.
func longerLimit(t *testing.T, l *lab) {
	file, output := l.script(t, "", `sleep 4; squeue --noheader --jobs=$SLURM_JOB_ID --format="limit %l"`)
	job, _ := l.submit(t, "--prob=.99", "--begin-by=now+2hours", "--best-effort", "--time=10", file)
	l.ok(t, "scontrol", "update", "JobId="+job, "TimeLimit=60")
	l.ok(t, "scontrol", "update", "JobId="+job, "StartTime=now")
	l.await(t, job, "COMPLETED")
	if text := read(t, output); !strings.Contains(text, "limit 1:00:00\n") {
		t.Errorf("the script printed %q", text)
	}
}

// sbatchLines: #SBATCH lines count, but options on the command line come first. The work
// has no time limit of its own, so it gets the default.
func sbatchLines(t *testing.T, l *lab) {
	file, output := l.script(t, "#SBATCH --begin-by=now+6hours --prob=70%\n#SBATCH --on-miss=cancel", "")
	at, text := l.in(15)
	job, plan := l.submit(t, "--begin-by="+text, file)
	if plan.BeginBy != at || plan.Prob != .7 || plan.OnMiss != "cancel" || plan.WorkLimit != workLimit {
		t.Errorf("asked for %+v", plan)
	}
	l.await(t, job, "COMPLETED")
	wantStart(t, times(t, read(t, output), "work"), 1, at)
}

// exportNone: the deadline reaches the node although no variable does.
func exportNone(t *testing.T, l *lab) {
	file, output := l.script(t, "#SBATCH --export=NONE", "echo home $HOME; srun --export=ALL true && echo a step, too")
	at, text := l.in(15)
	job, _ := l.submit(t, "--begin-by="+text, "--time=5", file)
	l.await(t, job, "COMPLETED")
	text = read(t, output)
	wantStart(t, times(t, text, "work"), 1, at)
	if !strings.Contains(text, "a step, too") {
		t.Errorf("the script printed %q", text)
	}
}

// exportFile: the deadline reaches the node although the job's environment is read from a
// file, of which the script has what that of a job without varq has (with Slurm 26.05 nothing).
func exportFile(t *testing.T, l *lab) {
	variables := filepath.Join(l.JobDir(), "export-file")
	if err := os.WriteFile(variables, []byte("PATH=/usr/bin:/bin\x00ONLY=this\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
	file, output := l.script(t, "#SBATCH --export-file="+variables, "echo only $ONLY")
	only := func() string {
		_, rest, _ := strings.Cut(read(t, output), "only")
		return rest
	}
	l.await(t, l.ok(t, "sbatch", "--parsable", "--time=5", file), "COMPLETED")
	want := only()
	at, text := l.in(15)
	job, _ := l.submit(t, "--begin-by="+text, "--time=5", file)
	l.await(t, job, "COMPLETED")
	wantStart(t, times(t, read(t, output), "work"), 1, at)
	if got := only(); got != want {
		t.Errorf("the script has %q of the file, and without varq %q", got, want)
	}
}

// environment: what waits before the work has nothing of slurmd's environment that it does not
// need, as the job's user reads it.
func environment(t *testing.T, l *lab) {
	file, _ := l.script(t, "", "true")
	job, _ := l.submit(t, "--begin-by=now+1hour", "--time=5", file)
	defer l.run(t, "scancel", job)
	pid, ok := l.held(t, job, time.Now().Add(time.Hour).Unix())
	variables := strings.FieldsFunc(read(t, fmt.Sprintf("/proc/%d/environ", pid)), func(r rune) bool { return r == 0 })
	if !ok || len(variables) == 0 {
		t.Fatalf("process %d has %q", pid, variables)
	}
	for _, variable := range variables {
		name, _, _ := strings.Cut(variable, "=")
		if !slices.Contains([]string{"PATH", "LD_LIBRARY_PATH", "TZ", "LANG", "LC_ALL", "SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_SACK_SOCKET", "MUNGE_SOCKET", "VARQ_CONFIG", "VARQ_ENDPOINT"}, name) {
			t.Errorf("it has %s", name)
		}
	}
}

// srun: each task of a job of one step is held.
func srun(t *testing.T, l *lab) {
	at, text := l.in(15)
	r := l.run(t, "srun", "--begin-by="+text, "--time=5", "-N2", "--export=NONE",
		"/bin/bash", "-c", "echo work $(/bin/date +%s.%N); env | /bin/grep SPANK; exit 5")
	wantStart(t, times(t, r.stdout, "work"), 2, at)
	if r.code != 5 || strings.Contains(r.stdout, "SPANK") {
		t.Errorf("exit code %d, printed %q", r.code, r.stdout)
	}
	if strings.Count(r.stderr, "varq: promised: ") != 1 {
		t.Errorf("said %q", r.stderr)
	}
}

// salloc: the steps are held, and so is a command that varq-wrapper runs on this host.
func salloc(t *testing.T, l *lab) {
	const script = `echo shell $(date +%s.%N); srun bash -c 'echo step $(date +%s.%N)' & "$0" -- bash -c 'echo work $(date +%s.%N)'; wait
squeue --noheader --jobs=$SLURM_JOB_ID --format="limit %l"`
	l.InTime(t, 15*time.Second, func(lead time.Duration) bool {
		at, text := in(lead)
		r := l.run(t, "salloc", "--begin-by="+text, "--time=10", "bash", "-c", script, l.bin+"/varq-wrapper")
		got := times(t, r.stdout, "shell")
		if len(got) != 1 {
			t.Fatalf("salloc's own command started at %v: exit code %d, said %q", got, r.code, r.stderr)
		}
		if got[0] > float64(at) {
			return false
		}
		wantStart(t, times(t, r.stdout, "step"), 1, at)
		wantStart(t, times(t, r.stdout, "work"), 1, at)
		wantLimit(t, r.stdout, lead)
		return true
	})
}

// signals: a signal before the work starts does not end the job. A later signal reaches
// the script.
func signals(t *testing.T, l *lab) {
	file, output := l.script(t, "trap 'echo trapped $SECONDS; exit 0' USR1", "for i in {1..10000}; do sleep .2; done")
	var at int64
	var job string
	l.InTime(t, 20*time.Second, func(lead time.Duration) bool {
		var text string
		at, text = in(lead)
		job, _ = l.submit(t, "--begin-by="+text, "--time=60", file)
		if _, ok := l.held(t, job, at); ok {
			for _, how := range [][]string{{"--batch", "--signal=USR1"}, {"--full", "--signal=USR2"}, {"--batch", "--signal=HUP"}} {
				if r := l.run(t, "scancel", append(how, job)...); r.code != 0 && time.Now().Unix() < at {
					t.Fatalf("scancel %v: exit code %d: %s", how, r.code, r.stderr)
				}
			}
			if time.Now().Unix() < at {
				return true
			}
		}
		l.asRoot(t, "scancel", job)
		l.gone(t, job)
		return false
	})
	l.awaitWork(t, output)
	l.ok(t, "scancel", "--batch", "--signal=USR1", job)
	l.await(t, job, "COMPLETED")
	text := read(t, output)
	wantStart(t, times(t, text, "work"), 1, at)
	if !strings.Contains(text, "\ntrapped") {
		t.Errorf("the script printed %q", text)
	}
}

// killWhileHeld: Slurm kills a job with SIGKILL, which may reach the wrapper before anything else.
// The job's work does not run in the moment that it has left.
func killWhileHeld(t *testing.T, l *lab) {
	file, output := l.script(t, "", "")
	job, plan := l.submit(t, "--begin-by=now+1hour", "--time=5", "--no-requeue", file)
	pid, ok := l.held(t, job, plan.BeginBy)
	if !ok {
		t.Fatal("the job is not held")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	l.await(t, job, "FAILED")
	if text := read(t, output); strings.Contains(text, "work") {
		t.Errorf("the script printed %q", text)
	}
}

// cancelWhileHeld: cancelling a held job ends it at once, and its work never runs.
func cancelWhileHeld(t *testing.T, l *lab) {
	file, output := l.script(t, "", "")
	job, plan := l.submit(t, "--begin-by=now+1hour", "--time=5", file)
	if _, ok := l.held(t, job, plan.BeginBy); !ok {
		t.Fatal("the job is not held")
	}
	l.ok(t, "scancel", job)
	l.await(t, job, "CANCELLED")
	if text := read(t, output); strings.Contains(text, "work") {
		t.Errorf("the script printed %q", text)
	}
}

// requeue: a job that is requeued while held is held again; one requeued after
// its deadline starts at once.
func requeue(t *testing.T, l *lab) {
	file, output := l.script(t, "#SBATCH --requeue --open-mode=append", "echo restarts $SLURM_RESTART_COUNT; [ $SLURM_RESTART_COUNT = 2 ] || sleep 10000")
	var at int64
	var job string
	again := func() {
		l.asRoot(t, "scontrol", "requeue", job)
		l.await(t, job, "PENDING")
		l.gone(t, job)
		l.asRoot(t, "scontrol", "update", "JobId="+job, "StartTime=now")
	}
	l.InTime(t, 25*time.Second, func(lead time.Duration) bool {
		var text string
		at, text = in(lead)
		job, _ = l.submit(t, "--begin-by="+text, "--time=60", "--on-miss=cancel", file)
		if _, ok := l.held(t, job, at); ok {
			again()
			if _, ok := l.held(t, job, at); ok {
				return true
			}
		}
		l.asRoot(t, "scancel", job)
		l.gone(t, job)
		_ = os.Remove(output) // if there is any
		return false
	})
	l.awaitWork(t, output)
	time.Sleep(time.Until(time.Unix(at+1, 0))) // the next run is to begin after the deadline
	again()
	l.await(t, job, "COMPLETED")
	text := read(t, output)
	got := times(t, text, "work")
	if len(got) != 2 {
		t.Fatalf("the script printed %q", text)
	}
	wantStart(t, got[:1], 1, at)
	if !strings.Contains(text, "varq: requeued, and started again after the deadline") {
		t.Errorf("the script printed %q", text)
	}
}

// onMiss: work that starts after its deadline runs, and says so, whatever --on-miss is: here it
// is not varq's doing that the job starts late, but that of whoever has moved or held it.
func onMiss(t *testing.T, l *lab) {
	for name, test := range map[string]struct {
		onMiss string
		held   bool
	}{"run": {"run", false}, "moved": {"cancel", false}, "held": {"cancel", true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, output := l.script(t, "", "")
			at, text := l.in(20)
			job, _ := l.submit(t, "--prob=.99", "--begin-by="+text, "--on-miss="+test.onMiss, "--time=5", file)
			if test.held {
				l.ok(t, "scontrol", "hold", job)
			}
			time.Sleep(time.Until(time.Unix(at+3, 0)))
			l.ok(t, "scontrol", "update", "JobId="+job, "StartTime=now")
			if test.held {
				l.ok(t, "scontrol", "release", job)
			}
			l.await(t, job, "COMPLETED")
			if text := read(t, output); len(times(t, text, "work")) != 1 || !strings.Contains(text, "after the deadline") {
				t.Errorf("the script printed %q", text)
			}
		})
	}
}

// badTicket: if a node cannot read the ticket, the work runs and a message says why.
func badTicket(t *testing.T, l *lab) {
	for _, ticket := range []string{"", "garbage", "1:2:3", "99999999999999999999:1:1:", strings.Repeat("1", 300)} {
		r := l.run(t, "srun", "--time=1", "--export=ALL,SLURM_SPANK_VARQ_TICKET="+ticket, "bash", "-c", "env | grep SPANK; echo ran")
		if r.code != 0 || r.stdout != "ran\n" || !strings.Contains(r.stderr, "the work starts at once") {
			t.Errorf("ticket %.20q: exit code %d, printed %q, said %q", ticket, r.code, r.stdout, r.stderr)
		}
	}
}

// nested: a job that a reservation's job submits is not a reservation, and neither is one from
// salloc's shell.
func nested(t *testing.T, l *lab) {
	inner, output := l.script(t, "", "env | grep SPANK; true")
	_, text := l.in(60)
	l.run(t, "salloc", "--begin-by="+text, "--time=5", "sbatch", "--wait", "--time=1", inner)
	text = read(t, output)
	if len(times(t, text, "work")) != 1 || strings.Contains(text, "SPANK") {
		t.Errorf("the inner job printed %q", text)
	}
	r := l.run(t, "salloc", "--time=1", "srun", "--begin-by=now+1hour", "true")
	if r.code == 0 || !strings.Contains(r.stderr, "allocation") {
		t.Errorf("srun --begin-by in an allocation: exit code %d, %q", r.code, r.stderr)
	}
}

// refused: no job is submitted, and the message has the reason and what is possible.
func refused(t *testing.T, l *lab) {
	file, _ := l.script(t, "", "")
	for _, command := range [][]string{{"sbatch", file}, {"srun", "true"}, {"salloc", "true"}} {
		r := l.run(t, command[0], "--begin-by=now+1hour", "-N5", "--job-name=refused", command[1])
		if r.code == 0 || r.stdout != "" {
			t.Errorf("%s: exit code %d, printed %q", command[0], r.code, r.stdout)
		}
		for _, said := range []string{"varq: no promise: no more than 4 nodes are ever promised\n", "varq: possible: --nodes=4   (probability 0.93, "} {
			if !strings.Contains(r.stderr, said) {
				t.Errorf("%s said %q, not %q", command[0], r.stderr, said)
			}
		}
	}
	l.wantNoJob(t, "refused")
}

// conflicts: for each, no job is submitted, and one line names what is wrong.
func conflicts(t *testing.T, l *lab) {
	file, _ := l.script(t, "", "")
	const by = "--begin-by=now+1hour"
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{by, "--begin=now+2hours"}, "--begin does not go together with --begin-by"},
		{[]string{by, "--deadline=now+5hours"}, "--deadline does not go together"},
		{[]string{by, "--hold"}, "--hold does not go together with --begin-by: a job that is held does not start"},
		{[]string{by, "--contiguous"}, "--contiguous does not go together"},
		{[]string{by, "--switches=1"}, "--switches does not go together"},
		{[]string{by, "--array=1-3%2", "--tasks=3"}, "--tasks: 3 cannot run at the same time"},
		{[]string{by, "--tasks=3"}, "--tasks: it says how many tasks of a job array are to run"},
		{[]string{by, "--time-min=1"}, "--time-min does not go together"},
		{[]string{by, "-N1", ":", "-N1"}, "heterogeneous"},
		{[]string{"-N1", ":", "-N1", by}, "heterogeneous"},
		{[]string{"--begin-by=2001-01-01T00:00:00"}, "--begin-by: 2001-01-01T00:00:00 is in the past"},
		{[]string{"--begin-by=yesterweek"}, "yesterweek"},
		{[]string{"--begin-by=%s%n$(reboot)"}, "%s%n$(reboot)"},
		{[]string{by, "--prob=1.5"}, "--prob: "},
		{[]string{by, "--prob=0"}, "--prob: "},
		{[]string{by, "--prob=often"}, "--prob: "},
		{[]string{by, "--begin-after=now+2hours"}, "--begin-after: "},
		{[]string{by, "--begin-after=now", "--best-effort"}, "--begin-after does not go together with --best-effort"},
		{[]string{by, "--on-miss=weep"}, `--on-miss: "weep"`},
		{[]string{"--prob=0.9"}, "--prob needs --begin-by"},
		{[]string{"--begin-after=now"}, "--begin-after needs --begin-by"},
		{[]string{"--best-effort"}, "--best-effort needs --begin-by"},
		{[]string{"--on-miss=run"}, "--on-miss needs --begin-by"},
	} {
		args := append([]string{"--time=5", "--job-name=conflict"}, c.args...)
		r := l.run(t, "sbatch", append(args, file)...)
		if r.code == 0 || !strings.Contains(r.stderr, "varq: ") || !strings.Contains(r.stderr, c.says) || strings.Contains(r.stderr, "promised") {
			t.Errorf("%v: exit code %d, said %q, not %q", c.args, r.code, r.stderr, c.says)
		}
	}
	l.wantNoJob(t, "conflict")
}

// conflictingVariables: an option that Slurm takes from the environment is refused as one of the
// command line is, and the variable is named.
func conflictingVariables(t *testing.T, l *lab) {
	file, _ := l.script(t, "", "")
	for _, c := range []struct{ command, variable, says string }{
		{"sbatch", "SBATCH_REQ_SWITCH=1", "--switches (SBATCH_REQ_SWITCH in the environment) does not go together"},
		{"sbatch", "SBATCH_SPREAD_JOB=", "--spread-job (SBATCH_SPREAD_JOB in the environment) does not go together"},
		{"srun", "SLURM_REQ_SWITCH=1", "--switches (SLURM_REQ_SWITCH in the environment) does not go together"},
		{"salloc", "SALLOC_REQ_SWITCH=1", "--switches (SALLOC_REQ_SWITCH in the environment) does not go together"},
		{"salloc", "SALLOC_IMMEDIATE=60", "--immediate (SALLOC_IMMEDIATE in the environment) does not go together"},
	} {
		work := "true"
		if c.command == "sbatch" {
			work = file
		}
		r := l.runEnv(t, []string{c.variable}, c.command, "--begin-by=now+1hour", "--time=5", "--job-name=variable", work)
		if r.code == 0 || !strings.Contains(r.stderr, "varq: "+c.says) || strings.Contains(r.stderr, "promised") {
			t.Errorf("%s with %s: exit code %d, said %q, not %q", c.command, c.variable, r.code, r.stderr, c.says)
		}
	}
	l.wantNoJob(t, "variable")
}

// refusedBySlurm: if Slurm refuses a job that varqd has promised, the user reads nothing of a
// promise, and the promise is taken back. So it is for a heterogeneous job whose script sbatch
// reads from standard input, as its first part does not show that there are others.
func refusedBySlurm(t *testing.T, l *lab) {
	file, _ := l.script(t, "", "")
	piped := filepath.Join(l.JobDir(), "piped")
	if err := os.WriteFile(piped, []byte("#!/bin/sh\nprintf '#!/bin/sh\\n#SBATCH hetjob\\n' | sbatch \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"sbatch", "--account=nosuch", file},
		{"srun", "--account=nosuch", "true"},
		{"salloc", "--account=nosuch", "true"},
		{piped},
	} {
		l.wantTakenBack(t, nil, command[0], append([]string{"--time=5", "--job-name=nosuch"}, command[1:]...)...)
	}
	l.wantNoJob(t, "nosuch")
}

// heterogeneous: of several components nothing is promised, not even of the first.
func heterogeneous(t *testing.T, l *lab) {
	file, _ := l.script(t, "", "")
	parts, _ := l.script(t, "#SBATCH -N1\n#SBATCH hetjob\n#SBATCH -N1", "")
	for _, command := range [][]string{
		{"sbatch", "-N1", ":", "-N1", file},
		{"sbatch", parts},
		{"srun", "-N1", "true", ":", "-N1", "true"},
		{"salloc", "-N1", ":", "-N1", "true"},
	} {
		at := l.deadlines.Add(1)
		r := l.run(t, command[0], append([]string{fmt.Sprintf("--begin-by=uts%d", at), "--time=5", "--job-name=parts"}, command[1:]...)...)
		made, _ := l.varqd.phantoms(at)
		if r.code == 0 || made > 0 || !strings.Contains(r.stderr, "a reservation is of one job, and not of the components of a heterogeneous one") {
			t.Errorf("%v: exit code %d, %d promises made, said %q", command, r.code, made, r.stderr)
		}
	}
	l.wantNoJob(t, "parts")
}

// clusters: a job of another cluster is refused, in whichever way that is named, and the own
// cluster's name changes nothing.
func clusters(t *testing.T, l *lab) {
	file, _ := l.script(t, "", "")
	other, _ := l.script(t, "#SBATCH --cluster=beta", "")
	refusal := "varq: --clusters%s does not go together with --begin-by: varqd tells, and promises, of its own cluster alone"
	try := func(variable string, command ...string) result {
		return l.runEnv(t, strings.Fields(variable), command[0], append([]string{"--begin-by=now+1hour", "--time=5", "--job-name=clusters"}, command[1:]...)...)
	}
	for _, c := range []struct {
		variable string
		command  []string
	}{
		{"", []string{"sbatch", "--cluster=beta", file}},
		{"", []string{"sbatch", "--cluster", "beta", file}},
		{"", []string{"sbatch", "--clusters=beta,lab", file}},
		{"", []string{"sbatch", "-Mbeta", file}},
		{"", []string{"sbatch", other}},
		{"", []string{"srun", "--cluster=beta", "true"}},
		{"", []string{"salloc", "--cluster=beta", "true"}},
		{"SBATCH_CLUSTERS=beta", []string{"sbatch", file}},
		{"SLURM_CLUSTERS=beta", []string{"sbatch", file}},
		{"SLURM_CLUSTERS=beta", []string{"srun", "true"}},
		{"SALLOC_CLUSTERS=beta", []string{"salloc", "true"}},
		{"SLURM_CLUSTERS=beta", []string{"salloc", "true"}},
	} {
		variable := ""
		if name, _, found := strings.Cut(c.variable, "="); found {
			variable = " (" + name + " in the environment)"
		}
		if r := try(c.variable, c.command...); r.code == 0 || !strings.Contains(r.stderr, fmt.Sprintf(refusal, variable)) {
			t.Errorf("%s %v: exit code %d, said %q", c.variable, c.command, r.code, r.stderr)
		}
	}
	l.wantNoJob(t, "clusters")
	for variable, option := range map[string]string{"": "-Mlab", "A=": "--cluster=lab", "SBATCH_CLUSTERS=lab": "--parsable"} {
		if r := try(variable, "sbatch", option, file); r.code != 0 || !strings.Contains(r.stderr, "varq: promised") {
			t.Errorf("%s %s: exit code %d, said %q", variable, option, r.code, r.stderr)
		}
	}
	l.ok(t, "scancel", "--name=clusters")
}

// killed: a promise is taken back when its sbatch is killed before Slurm has the job.
func killed(t *testing.T, l *lab) {
	// This cli_filter promises, and is killed before it returns.
	folder := filepath.Join(l.bin, "killed")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	suicide := strings.Replace(read(t, l.Path("etc", "cli_filter.lua")), "return found and varq.pre_submit(options, offset) or slurm.SUCCESS",
		`varq.pre_submit(options, offset) os.execute("kill -9 $PPID")`, 1)
	for name, text := range map[string]string{"slurm.conf": read(t, l.Conf()), "cli_filter.lua": suicide, "cgroup.conf": ""} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, _ := l.script(t, "", "")
	l.wantTakenBack(t, []string{"SLURM_CONF=" + filepath.Join(folder, "slurm.conf")}, "sbatch", "--job-name=killed", file)
	l.wantNoJob(t, "killed")
}

// outputKept: --parsable and --quiet print what they always print. varq prints three lines
// on standard error.
func outputKept(t *testing.T, l *lab) {
	file, _ := l.script(t, "", "")
	for flag, lines := range map[string]int{"--parsable": 3, "--quiet": 0, "--verbose": 3} {
		r := l.run(t, "sbatch", flag, "--time=10", "--prob=.99", "--begin-by=now+1hour", "--job-name=kept", file)
		if r.code != 0 {
			t.Fatalf("%s: exit code %d: %s", flag, r.code, r.stderr)
		}
		if got := strings.Count("\n"+r.stderr, "\nvarq: "); got != lines {
			t.Errorf("%s: %d lines of varq's in %q", flag, got, r.stderr)
		}
		if flag == "--parsable" {
			if _, err := strconv.Atoi(strings.TrimSpace(r.stdout)); err != nil {
				t.Errorf("--parsable printed %q", r.stdout)
			}
		}
		if flag == "--quiet" && r.stdout+r.stderr != "" {
			t.Errorf("--quiet printed %q and %q", r.stdout, r.stderr)
		}
	}
	l.ok(t, "scancel", "--name=kept")
}

// testOnly: --test-only prints a quote, and submits nothing.
func testOnly(t *testing.T, l *lab) {
	file, _ := l.script(t, "", "")
	r := l.run(t, "sbatch", "--test-only", "--begin-by=now+1hour", "--job-name=testonly", file)
	if r.code != 0 || !strings.Contains(r.stderr, "varq: quoted, not promised: running by ") {
		t.Errorf("exit code %d, said %q", r.code, r.stderr)
	}
	l.wantNoJob(t, "testonly")
}

// hostile: text in an option's value is never taken for a command or for another option.
func hostile(t *testing.T, l *lab) {
	file, _ := l.script(t, "", "")
	mark := filepath.Join(l.JobDir(), "hostile-mark")
	for i, text := range []string{
		`it's "quoted" \ and \\`, "$(touch " + mark + ")", "`touch " + mark + "`", "'; touch " + mark + "; '",
		"two\nlines\tand a tab", "end\nbegin uts1\nend", "%s%n %d", "é ☃", strings.Repeat("long ", 190),
	} {
		name := fmt.Sprintf("hostile %d '$(touch %s)'", i, mark)
		r := l.run(t, "sbatch", "--parsable", "--prob=.99", "--begin-by=now+1hour", "--comment="+text, "--job-name="+name, file, text)
		if r.code != 0 {
			t.Errorf("%.40q: exit code %d: %s", text, r.code, r.stderr)
			continue
		}
		job := strings.TrimSpace(r.stdout)
		if shown := l.show(t, job); !strings.Contains(shown, "Comment="+text+" varq:") {
			t.Errorf("%.40q: the job is %s", text, shown)
		}
		l.ok(t, "scancel", job)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("an option's text was run as a command")
	}
}

// varqdIsDown: a reservation is soon refused, in one sentence. Other jobs are submitted as
// always.
func varqdIsDown(t *testing.T, l *lab) {
	file, output := l.script(t, "", "env | grep SPANK; true")
	deaf := filepath.Join(l.bin, "deaf.sock")
	listenOnly(t, deaf)
	for i, endpoint := range []string{"unix:///nowhere/varqd.sock", "tcp://127.0.0.1:1", "unix://" + deaf} {
		config := filepath.Join(l.bin, fmt.Sprintf("down%d.yaml", i))
		text := fmt.Sprintf("client:\n  endpoint: %s\n  munge_socket: %s\n", endpoint, l.MungeSocket())
		if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		env := []string{"VARQ_ENDPOINT=", "VARQ_CONFIG=" + config}
		r := l.runEnv(t, env, "sbatch", "--begin-by=now+1hour", "--job-name=down", file)
		if r.code == 0 || strings.Count(r.stderr, "varqd is not reachable") != 1 || strings.Count(r.stderr, "varq: ") != 1 {
			t.Errorf("%s: exit code %d, said %q", endpoint, r.code, r.stderr)
		}
		if strings.HasSuffix(endpoint, deaf) && !strings.Contains(r.stderr, "no answer within 2s") {
			t.Errorf("%s: said %q", endpoint, r.stderr)
		}
		r = l.runEnv(t, env, "sbatch", "--wait", "--parsable", "--time=1", file)
		if r.code != 0 || r.stderr != "" {
			t.Errorf("without an option: exit code %d, said %q", r.code, r.stderr)
		}
	}
	l.wantNoJob(t, "down")
	if text := read(t, output); len(times(t, text, "work")) != 1 || strings.Contains(text, "SPANK") {
		t.Errorf("the script printed %q", text)
	}
}
