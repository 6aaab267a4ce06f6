package alone_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/engine"
	"github.com/varq-project/varq/predictor/slurm/program"
	"github.com/varq-project/varq/predictor/slurm/slurmrestd"
	"github.com/varq-project/varq/predictor/varqd/alone"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/golden"
	"github.com/varq-project/varq/test/synthetic"
	"github.com/varq-project/varq/test/thorough"
)

// live is a real Slurm, with a folder that every user may enter, also in its chroot.
type live struct {
	t      *testing.T
	c      *cluster.Cluster
	folder string
}

// TestLive: on a real Slurm, the one that VARQ_SLURM names, a user without any right learns from
// Slurm's commands what slurmrestd tells an operator, and forecasts with nothing but the program.
func TestLive(t *testing.T) {
	thorough.Only(t)
	folder := openFolder(t)
	c := cluster.ForTest(t, cluster.Options{
		Nodes: 4, Bind: []string{folder}, NodeConf: "Features=fast TmpDisk=1000",
		SlurmConf: "PriorityType=priority/multifactor\nPriorityWeightAge=1000\nLicenses=matlab:2\n",
	})
	l := live{t, c, folder}
	l.build()
	past := synthetic.History(synthetic.Config{Seed: 1, Nodes: 4, CPUs: 4, ShortNodes: 2, Jobs: 3000, Days: 20, End: time.Now().Unix() - 60, Utilisation: .85})
	if n, err := c.LoadHistory(t.Context(), past); err != nil || n < 1000 {
		t.Fatal(n, err)
	}
	waits := l.submitAll()
	t.Run("same", l.same)
	t.Run("binary", func(t *testing.T) { l.binary(t, waits) })
}

// openFolder returns a folder that every user may enter.
func openFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "alone")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestLivePrivate: where Slurm shows users nothing but their own, that is said, and their own past
// has to do.
func TestLivePrivate(t *testing.T) {
	thorough.Only(t)
	const private = "jobs,nodes,reservations,usage,users,accounts"
	c := cluster.ForTest(t, cluster.Options{Nodes: 2, SlurmConf: "PrivateData=" + private + "\n"})
	l := live{t, c, t.TempDir()}
	l.submit("bob", "--ntasks=4", "--time=60", "--wrap=sleep 3600")
	own := l.submit("alice", "--ntasks=4", "--time=60", "--wrap=sleep 3600")
	slurm := alone.NewCommands(program.Sparing{Folder: t.TempDir(), Now: time.Now, Run: l.as("alice")})
	queue, _, err := slurm.Queue(t.Context())
	if err != nil || len(queue) != 1 || queue[0].ID != own {
		t.Error(queue, err)
	}
	is, err := slurm.Cluster(t.Context())
	if err != nil || !is.PrivateJobs || !is.PrivateNodes || !is.Partitions["main"].Up {
		t.Errorf("%+v, %v", is, err)
	}
	if nodes, err := slurm.Nodes(t.Context()); err != nil || nodes != nil {
		t.Error(nodes, err)
	}
}

// build builds the program as a user may have it: alone, and without any library.
func (l live) build() {
	l.t.Helper()
	build := exec.CommandContext(l.t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", l.folder, "github.com/varq-project/varq/predictor/cmd/varq-alone")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		l.t.Fatalf("%v\n%s", err, out)
	}
}

// submitAll submits jobs of many kinds, and returns the number of one of alice's that waits.
func (l live) submitAll() (waits int64) {
	for i := range 4 {
		l.submit([]string{"alice", "bob"}[i%2], "--ntasks=4", "--time=60", "--wrap=sleep 3600")
	}
	l.eventually("jobs run", func() bool { return len(l.lines("alice", "squeue", "-h", "-t", "R")) == 4 })
	waits = l.submit("alice", "--ntasks=4", "--time=30", "--job-name=a|b c", "--wrap=true")
	l.submit("bob", "--nodes=2", "--ntasks-per-node=2", "--mem=1000M", "--time=1-0", "--nice=5", "--wrap=true")
	l.submit("alice", "--cpus-per-task=2", "--mem-per-cpu=300M", "--tmp=1", "--licenses=matlab:1", "--time=10", "--wrap=true")
	l.submit("bob", "--array=1-10%2", "--time=10", "--wrap=true")
	l.submit("alice", "--begin=now+2hours", "--time=10", "--wrap=true")
	l.submit("alice", "--hold", "--time=10", "--wrap=true")
	l.submit("bob", "--dependency=afterok:"+strconv.FormatInt(waits, 10), "--time=10", "--wrap=true")
	l.submit("bob", "--exclude=node1,node2", "--exclusive", "--time=10", "--chdir=/work/3f/9a2c4e6b8d0f1a3c5e7b9d1f2a4c6e", "--wrap=true")
	l.submit("alice", "--nodelist=node3", "--time=10", "--job-name=0c1f7a52-9be4-4d0e-8f6d-3a2b1c0d9e8f", "--comment=rule_align", "--wrap=true")
	return waits
}

func (l live) submit(user string, args ...string) int64 {
	l.t.Helper()
	out, err := l.c.Command(l.t.Context(), user, "sbatch", append([]string{"--parsable", "--output=/dev/null"}, args...)...).Output()
	if err != nil {
		l.t.Fatal(args, err)
	}
	id, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		l.t.Fatal(err)
	}
	return id
}

// lines returns the lines that a command prints.
func (l live) lines(user, name string, args ...string) []string {
	l.t.Helper()
	out, err := l.c.Command(l.t.Context(), user, name, args...).Output()
	if err != nil {
		l.t.Fatal(name, args, err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
}

func (l live) eventually(what string, is func() bool) {
	l.t.Helper()
	for end := time.Now().Add(5 * time.Minute); !is(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			l.t.Fatalf("not in five minutes: %s", what)
		}
	}
}

// as returns a program.Runner that runs commands as a user.
func (l live) as(user string) program.Runner {
	return func(ctx context.Context, path string, env []string, args ...string) ([]byte, error) {
		cmd := l.c.Command(ctx, user, path, args...)
		cmd.Env = append(cmd.Env, env...)
		out, err := cmd.Output()
		if failed, is := errors.AsType[*exec.ExitError](err); is {
			err = fmt.Errorf("%s %v: %w: %s", path, args, err, failed.Stderr)
		}
		return out, err
	}
}

// kept writes what squeue prints into the examples of package squeue, if tests update theirs.
func (l live) kept(run program.Runner) program.Runner {
	return func(ctx context.Context, path string, env []string, args ...string) ([]byte, error) {
		out, err := run(ctx, path, env, args...)
		if path == "squeue" && err == nil && golden.Update() {
			err = os.WriteFile(filepath.Join("../../slurm/squeue/testdata", string(l.c.Version)+".txt"), out, 0o666)
		}
		return out, err
	}
}

// same compares what commands tell alice with what slurmrestd tells root.
func (l live) same(t *testing.T) {
	ctx := t.Context()
	token, err := l.c.TokenFile(ctx, "root")
	if err != nil {
		t.Fatal(err)
	}
	rest, err := slurmrestd.New(slurmrestd.Options{URL: l.c.RestURL(), User: "root", Token: slurmrestd.TokenFile(token)})
	if err != nil {
		t.Fatal(err)
	}
	defer rest.Close()
	fresh := func() *alone.Commands {
		return alone.NewCommands(program.Sparing{Folder: t.TempDir(), Now: time.Now, Run: l.kept(l.as("alice"))})
	}

	// Slurm goes on while it is read, so that both may have to be read again. Of shapes squeue tells
	// little, and priorities grow.
	unread := cmp.Options{
		cmpopts.IgnoreFields(slurm.QueueEntry{}, "Shape", "Expected", "SuspendTime", "RanBefore"), cmpopts.IgnoreFields(workload.Job{}, "Comment", "Priority"), cmpopts.EquateEmpty(),
		cmp.Transformer("TRES", func(n *workload.Needs) *workload.Needs {
			if n == nil || len(n.Gres) > 0 {
				return n
			}
			needs := *n
			needs.Gres = nil
			return &needs
		}),
	}
	var diff string
	var queue []slurm.QueueEntry
	for range 10 {
		want, err := rest.Queue(ctx)
		if err != nil {
			t.Fatal(err)
		}
		got, at, err := fresh().Queue(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if age := time.Now().Unix() - at; age < 0 || age > 60 {
			t.Errorf("the queue is %d s old", age)
		}
		l.untold(want)
		l.untold(got)
		queue = got
		if diff = cmp.Diff(want, got, unread); diff == "" {
			break
		}
		time.Sleep(time.Second)
	}
	if diff != "" {
		t.Errorf("queue (-slurmrestd +squeue):\n%s", diff)
	}
	for _, of := range []engine.Job{{Name: engine.Nextflow, Run: "/work"}, {Name: engine.Snakemake, Run: "0c1f7a52-9be4-4d0e-8f6d-3a2b1c0d9e8f", Task: "align"}} {
		if !slices.ContainsFunc(queue, func(j slurm.QueueEntry) bool { return j.Engine == of }) {
			t.Errorf("no job is %+v", of)
		}
	}

	wantNodes, err := rest.Nodes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	gotNodes, err := fresh().Nodes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantNodes, gotNodes, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(slurm.Node{}, "State", "BootTime", "ReasonBy", "ReasonAt")); diff != "" {
		t.Errorf("nodes (-slurmrestd +scontrol):\n%s", diff)
	}

	if out, err := l.c.Command(ctx, "root", "scontrol", "create", "reservation", "reservationname=night", "starttime=now+1hour", "duration=60", "nodes=node4", "users=bob", "flags=maint,daily").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	wantCluster, err := rest.Layout(ctx)
	if err != nil {
		t.Fatal(err)
	}
	gotCluster, err := fresh().Cluster(ctx)
	if err != nil {
		t.Fatal(err)
	}
	told := cmp.Options{
		cmpopts.EquateEmpty(), cmpopts.IgnoreFields(limits.Partition{}, "Default", "Tier", "WholeNodes", "UserNodes", "Segments", "Overcommits", "ConsumableMemory", "Memory", "Resume", "Up"),
		cmpopts.IgnoreFields(limits.Reservation{}, "Cores"),
	}
	if diff := cmp.Diff(wantCluster.Partitions, gotCluster.Partitions, told); diff != "" {
		t.Errorf("partitions (-slurmrestd +scontrol):\n%s", diff)
	}
	if diff := cmp.Diff(wantCluster.Reservations, gotCluster.Reservations, told); diff != "" {
		t.Errorf("reservations (-slurmrestd +scontrol):\n%s", diff)
	}
	if diff := cmp.Diff(wantCluster.Licenses, gotCluster.Licenses); diff != "" {
		t.Errorf("licences (-slurmrestd +scontrol):\n%s", diff)
	}
	if gotCluster.Name != "lab" || gotCluster.Aging.Weight != 1000 || !gotCluster.Partitions["main"].Default || !gotCluster.Partitions["main"].Up {
		t.Errorf("%+v", gotCluster)
	}

	// Accounting may not have heard yet of jobs that have just come.
	const first = 1_000_000 // of those that LoadHistory has loaded
	to := time.Now().Unix()
	jobs := func(each func(func(workload.Job, error) bool)) map[workload.Submission]workload.Job {
		all := map[workload.Submission]workload.Job{}
		for j, err := range each {
			if err != nil {
				t.Fatal(err)
			}
			if j.ID >= first {
				all[j.Submission()] = j
			}
		}
		return all
	}
	want := jobs(rest.History(ctx, to-20*86400, to, nil))
	got := jobs(fresh().History(ctx, to-20*86400, to, nil))
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(workload.Job{}, "On", "Comment", "Series", "Needs", "Array")); diff != "" || len(got) < 1000 {
		t.Errorf("%d past jobs (-slurmrestd +sacct):\n%.4000s", len(got), diff)
	}
}

// untold removes what squeue does not tell: the memory that a job had asked for that runs, where
// jobs do not have it for themselves; and, of Slurm 22.05, the nodes that a job must not have.
func (l live) untold(queue []slurm.QueueEntry) {
	for i := range queue {
		e := &queue[i]
		if e.Start != 0 {
			e.Memory = 0
		}
		if e.Needs != nil && l.c.Version == cluster.Slurm2205 {
			needs := *e.Needs
			needs.Exclude, e.Excluded = workload.NamedNodes{}, ""
			e.Needs = &needs
		}
	}
}

// binary runs varq as alice, who has nothing else.
func (l live) binary(t *testing.T, waits int64) {
	alice, err := l.c.Lookup("alice")
	if err != nil {
		t.Fatal(err)
	}
	home, run := filepath.Join(l.folder, "home"), filepath.Join(l.folder, "run")
	for _, dir := range []string{home, run} {
		if err := errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, alice, alice)); err != nil {
			t.Fatal(err)
		}
	}
	varq := func(args ...string) string {
		t.Helper()
		began := time.Now()
		cmd := l.c.Command(t.Context(), "alice", filepath.Join(l.folder, "varq-alone"), args...)
		cmd.Env = append(cmd.Env, "HOME="+home, "XDG_RUNTIME_DIR="+run, "VARQ_CONFIG="+filepath.Join(home, "none.yaml"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("varq %v: %v\n%s", args, err, out)
		}
		t.Logf("varq %s, after %v:\n%s", strings.Join(args, " "), time.Since(began).Round(10*time.Millisecond), out)
		return string(out)
	}
	pid := func() int {
		files, _ := filepath.Glob(filepath.Join(home, ".cache/varq/*/pid"))
		if len(files) != 1 {
			return 0
		}
		text, err := os.ReadFile(files[0])
		if errors.Is(err, fs.ErrNotExist) {
			return 0
		}
		id, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Error(err)
		}
		return id
	}
	stop := func() {
		for id := pid(); id != 0 && syscall.Kill(id, syscall.SIGTERM) == nil; {
			time.Sleep(10 * time.Millisecond)
		}
	}
	defer stop()
	controller, database := l.asked("sdiag"), l.asked("sacctmgr", "show", "stats")
	if out := varq("when"); !strings.Contains(out, strconv.FormatInt(waits, 10)) || !strings.Contains(out, "nothing is promised") {
		t.Error("alice's job is missing")
	}
	if out := varq("when", strconv.FormatInt(waits, 10)); !regexp.MustCompile(`Start +as likely as not by`).MatchString(out) {
		t.Error("nothing is forecast")
	}
	if out := varq("when", "--all", "--json"); !strings.Contains(out, `"user": "bob"`) {
		t.Error("bob's jobs are missing")
	}
	if out := varq("quote", "--advisory", "-n2", "-t", "20", "--begin-by=now+3days", "--prob=.5"); !strings.Contains(out, "Likely: ") {
		t.Error("nothing is likely")
	}
	varq("predict", "-n2", "-t", "20")
	if out := varq("shadow", "--mine"); !strings.Contains(out, "of yours") {
		t.Error("no shadow")
	}
	stop()
	varq("when")
	if id := pid(); id == 0 {
		t.Error("no process forecasts")
	} else if is, err := os.Stat(fmt.Sprintf("/proc/%d", id)); err != nil || int(is.Sys().(*syscall.Stat_t).Uid) != alice {
		t.Errorf("the process is not alice's: %v", err)
	}
	controller, database = l.asked("sdiag")-controller, l.asked("sacctmgr", "show", "stats")-database
	t.Logf("slurmctld was asked %d times, slurmdbd %d times", controller, database)
	if controller > mostAsked || database > mostAsked {
		t.Errorf("more than %d times", mostAsked)
	}
}

// mostAsked is how often Slurm's daemons may be asked by one user within some minutes. To run one
// of Slurm's commands is to ask them once or a few times.
const mostAsked = 40

// asked returns how often alice has asked a daemon, as a command of Slurm's tells.
func (l live) asked(name string, args ...string) int {
	for _, line := range l.lines("root", name, args...) {
		if who, rest, is := strings.Cut(line, "count:"); is && slices.Contains(strings.Fields(who), "alice") {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				l.t.Fatal(err)
			}
			return n
		}
	}
	return 0
}
