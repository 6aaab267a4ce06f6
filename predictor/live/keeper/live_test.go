package keeper

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/desk"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/live/premises"
	"github.com/varq-project/varq/predictor/live/records"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/slurmrestd"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/thorough"
)

// lab is a keeper on a real Slurm, with a desktest.Outlook.
type lab struct {
	*cluster.Cluster
	*Keeper
	t        *testing.T
	desk     *desk.Desk
	premises *premises.Premises
	records  *records.Records
	slurm    *slurmrestd.Client
	outlook  *desktest.Outlook
}

// newLab returns a keeper that has the rights of a Slurm user.
func newLab(t *testing.T, c *cluster.Cluster, user string) *lab {
	l := &lab{Cluster: c, t: t, outlook: &desktest.Outlook{Delay: 600, Asked: map[int64]int{}}}
	token, err := c.Token(t.Context(), user, time.Hour)
	l.must(err)
	l.slurm, err = slurmrestd.New(slurmrestd.Options{URL: c.RestURL(), User: user, Token: func() (string, error) { return token, nil }})
	l.must(err)
	t.Cleanup(l.slurm.Close)
	file, err := statefile.Open(filepath.Join(t.TempDir(), "ledger.db"))
	l.must(err)
	t.Cleanup(func() { file.Close() })
	book, now, log, registry := ledger.New(file), func() int64 { return time.Now().Unix() }, slog.New(slog.DiscardHandler), prometheus.NewRegistry()
	l.premises = premises.New(premises.Options{
		Slurm: l.slurm, Observe: l.outlook.ObserveCluster, Loaded: l.outlook.Ready, Now: now, Zone: time.UTC, Stale: 900,
	})
	l.desk = desk.New(desk.Options{
		Premises: l.premises, Ledger: book, Outlook: l.outlook, Job: l.slurm.Job, Now: now, Zone: time.UTC,
		Prob: .9, Confidence: .95, Horizon: 86400, Log: log,
	})
	l.Keeper = New(Options{
		Desk: l.desk, Ledger: book, Slurm: l.slurm, Outlook: l.outlook, Now: now, Zone: time.UTC, Grace: 300, Settle: 1, Log: log, Metrics: NewMetrics(registry),
	})
	l.records = &records.Records{Ledger: book, Premises: l.premises, Describe: l.Describe, Now: now, Zone: time.UTC}
	l.must(l.premises.Refresh(t.Context()))
	return l
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// run runs a command of Slurm as a user.
func (l *lab) run(user, name string, args ...string) string {
	l.t.Helper()
	out, err := l.Command(l.t.Context(), user, name, args...).CombinedOutput()
	if err != nil {
		l.t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// promise promises alice a job of 3 minutes by some time from now on. It asks again if the promise
// was refused, because by the keeper's clock the deadline may have been nearer than the wait.
func (l *lab) promise(ahead time.Duration, onMiss string) *api.Plan {
	l.t.Helper()
	for end := time.Now().Add(cluster.Patience); ; {
		answer, err := l.desk.Plan(l.t.Context(), "alice", &api.PlanRequest{
			Job: workload.Request{Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 180}, BeginBy: time.Now().Add(ahead).Unix(), OnMiss: onMiss,
		}, true)
		l.must(err)
		if answer.Plan != nil {
			return answer.Plan
		}
		if time.Now().After(end) {
			l.t.Fatalf("refused: %+v", answer.Refusal)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// reserveAtOnce reserves a job that is eligible at once. So the job is held from its start until
// the deadline.
func (l *lab) reserveAtOnce(ahead time.Duration, onMiss string) (job int64, p *api.Plan) {
	l.t.Helper()
	l.outlook.Delay = int64(ahead / time.Second)
	return l.reserve(ahead, onMiss)
}

// passed reports whether a time has passed, by the clock of the keeper and of Slurm.
func passed(at int64) bool { return time.Now().Unix() >= at }

// cancel cancels a job, whoever owns it and whatever its state.
func (l *lab) cancel(job int64) {
	l.t.Helper()
	l.run("root", "scancel", strconv.FormatInt(job, 10))
}

func (l *lab) reserve(ahead time.Duration, onMiss string, options ...string) (job int64, p *api.Plan) {
	l.t.Helper()
	p = l.promise(ahead, onMiss)
	options = append([]string{
		"--parsable", "--time=" + strconv.FormatInt(p.TimeLimit/60, 10), "--comment=" + p.Comment, "--output=/dev/null",
		"--begin=" + time.Unix(p.BeginTime, 0).Format("2006-01-02T15:04:05"),
	}, options...)
	job, err := strconv.ParseInt(l.run("alice", "sbatch", append(options, "--wrap=sleep 600")...), 10, 64)
	l.must(err)
	return job, p
}

// look reads the queue and calls Watch. It returns the job and its reservation.
func (l *lab) look(job int64) (j slurm.QueueEntry, r api.Reservation) {
	l.t.Helper()
	ctx, at := l.t.Context(), time.Now().Unix()
	queue, err := l.slurm.Queue(ctx)
	l.must(err)
	l.must(l.Watch(ctx, look.New(queue, at)))
	if j, err = l.slurm.Job(ctx, job); err != nil {
		j = slurm.QueueEntry{}
	}
	list, err := l.records.Reservations(ctx, "alice", api.ReservationsQuery{Job: job})
	l.must(err)
	if len(list) != 1 {
		l.t.Fatalf("job %d has the reservations %+v", job, list)
	}
	return j, list[0]
}

// lookUntil looks until ok returns true for the job and its reservation.
func (l *lab) lookUntil(job int64, ok func(slurm.QueueEntry, api.Reservation) bool) (slurm.QueueEntry, api.Reservation) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), cluster.Patience)
	defer cancel()
	for {
		j, r := l.look(job)
		switch {
		case ok(j, r):
			return j, r
		case ctx.Err() != nil:
			l.t.Fatalf("job %+v, reservation %+v", j, r)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// TestLive runs a keeper for each of its subtests on one Slurm. Subtests that change only their own
// jobs run concurrently. The others run after them, one after another.
func TestLive(t *testing.T) {
	dir := t.TempDir()
	c := limited(t, dir)
	t.Run("beside", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T, *cluster.Cluster){
			"limits hold": liveLimitsHold, "interactive": liveInteractive, "start now": liveStartNow, "status": liveStatus,
			"suspended": liveSuspended, "verdicts": liveVerdicts, "lost start": liveLostStart, "ceiling": liveCeiling,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, c)
			})
		}
	})
	for name, test := range map[string]func(*testing.T, *cluster.Cluster){
		"deadline": liveDeadline, "released": liveReleased, "many gone": liveManyGone, "tightened": liveTightened, "changes": liveChanges,
		"requeue": liveRequeue, "ended in hold": liveEndedInHold, "forgotten requeue": liveForgottenRequeue,
		"launch fails": func(t *testing.T, c *cluster.Cluster) { liveLaunchFails(t, c, filepath.Join(dir, broken)) },
	} {
		t.Run(name, func(t *testing.T) {
			thorough.Only(t)
			c.Tidy(t)
			test(t, c)
		})
	}
}

// broken is the name of a file in the prolog's folder. The prolog fails while the file exists.
const broken = "broken"

// limited is a cluster that enforces limits, and has a partition and a QOS with limits shorter than
// the job of reserve. Its prolog is in dir.
func limited(t *testing.T, dir string) *cluster.Cluster {
	t.Helper()
	prolog := filepath.Join(dir, "prolog")
	// closed to others by t.TempDir
	for name := dir; name != os.TempDir(); name = filepath.Dir(name) {
		if err := os.Chmod(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(prolog, []byte("#!/bin/sh\n[ ! -e "+filepath.Join(dir, broken)+" ]\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := cluster.ForTest(t, cluster.Options{Nodes: 2, CPUs: 32, Bind: []string{dir}, SlurmConf: `AccountingStorageEnforce=associations,limits,qos
Licenses=matlab:5
PartitionName=tiny Nodes=ALL MaxTime=2 State=UP
Prolog=` + prolog})
	for _, args := range [][]string{{"add", "qos", "fast", "MaxWall=1"}, {"modify", "user", "alice", "set", "qos+=fast"}} {
		if out, err := c.Command(t.Context(), "root", "sacctmgr", append([]string{"-i"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("sacctmgr: %v: %s", err, out)
		}
	}
	return c
}

// A time limit that the keeper has changed is subject to Slurm's limits like any other, also after
// the user has moved the job to a partition or a QOS with shorter limits.
func liveLimitsHold(t *testing.T, c *cluster.Cluster) {
	// SlurmUser may act as alice, an operator may not
	for _, user := range []string{"slurm", "varq"} {
		t.Run(user, func(t *testing.T) {
			l := newLab(t, c, user)
			onQOS, p := l.reserve(time.Hour, "")
			onPartition, _ := l.reserve(time.Hour, "")
			l.look(onPartition)
			l.outlook.Delay = 120
			for _, job := range []int64{onQOS, onPartition} {
				j, _ := l.lookUntil(job, func(j slurm.QueueEntry, r api.Reservation) bool { return j.Eligible == r.BeginBy-120 })
				want := p.TimeLimit
				if user == "slurm" {
					want = 180 + 120
				}
				if j.Limit != want {
					t.Errorf("as %s: the limit of job %d is %d s, want %d", user, job, j.Limit, want)
				}
			}
			l.run("alice", "scontrol", "update", fmt.Sprintf("job=%d", onQOS), "qos=fast")
			l.run("alice", "scontrol", "update", fmt.Sprintf("job=%d", onPartition), "partition=tiny")
			for _, job := range []int64{onQOS, onPartition} {
				l.run("alice", "scontrol", "update", fmt.Sprintf("job=%d", job), "StartTime=now")
				l.lookUntil(job, func(j slurm.QueueEntry, r api.Reservation) bool {
					return j.Start != 0 || strings.Contains(j.Reason, "Limit") && strings.Contains(r.Note, "leaves the job alone")
				})
			}
			// Slurm starts a job that is within the limits, and not these.
			l.run("alice", "srun", "--time=1", "--partition=tiny", "true")
			for _, job := range []int64{onQOS, onPartition} {
				if j, r := l.look(job); j.Start != 0 || r.State != api.StatePending {
					t.Errorf("job %d has started with %d s: %+v", job, j.Limit, j)
				}
				l.run("alice", "scancel", strconv.FormatInt(job, 10))
			}
		})
	}
}

// If limits are tightened after the promise so that they forbid the job, its user is told which
// limit it is: once the limits are read again, or as soon as Slurm says so.
func liveTightened(t *testing.T, c *cluster.Cluster) {
	l := newLab(t, c, "slurm")
	tighten := func(partition, qos string) {
		l.run("root", "scontrol", "update", "PartitionName=main", "MaxTime="+partition)
		l.run("root", "sacctmgr", "-i", "modify", "qos", "normal", "set", "MaxWall="+qos)
	}
	defer tighten("UNLIMITED", "-1")
	obstacle := func(job int64, text string) {
		t.Helper()
		l.lookUntil(job, func(_ slurm.QueueEntry, r api.Reservation) bool {
			return forecastOf(&r) == 0 && strings.Contains(r.Obstacle, text)
		})
	}
	later, _ := l.reserve(time.Hour, "")
	l.lookUntil(later, func(_ slurm.QueueEntry, r api.Reservation) bool { return forecastOf(&r) >= r.Prob && r.Obstacle == "" })
	tighten("2", "-1")
	l.must(l.premises.Refresh(t.Context()))
	obstacle(later, "partition main allows 00:02:00 (MaxTime)")
	tighten("600", "2")
	l.must(l.premises.Refresh(t.Context()))
	obstacle(later, "QOS normal allows 00:02:00 (MaxWall)")
	tighten("600", "-1")
	l.must(l.premises.Refresh(t.Context()))
	l.lookUntil(later, func(_ slurm.QueueEntry, r api.Reservation) bool { return forecastOf(&r) >= r.Prob && r.Obstacle == "" })
	l.run("alice", "scancel", strconv.FormatInt(later, 10))

	tighten("2", "-1") // the keeper does not read it any more
	l.outlook.Delay = 3590
	soon, _ := l.reserve(time.Hour, "")
	obstacle(soon, "Slurm does not start it: PartitionTimeLimit")
	says := course.NotStarted + ": Slurm does not start it: PartitionTimeLimit"
	var missed int64
	l.InTime(t, 15*time.Second, func(lead time.Duration) bool {
		var p *api.Plan
		missed, p = l.reserveAtOnce(lead, "")
		for reason := ""; reason != "PartitionTimeLimit"; time.Sleep(100 * time.Millisecond) {
			j, err := l.slurm.Job(t.Context(), missed)
			l.must(err)
			reason = j.Reason
		}
		if l.look(missed); passed(p.BeginBy) {
			l.cancel(missed)
			return false
		}
		l.lookUntil(missed, func(_ slurm.QueueEntry, r api.Reservation) bool { return r.Note == says })
		return true
	})
	l.run("alice", "scancel", strconv.FormatInt(missed, 10))
	if r := l.settled(missed); r.State != api.StateMissed || r.Note != says {
		t.Errorf("settled as %+v", r)
	}
}

// A user's change of her job is noted, and the job is not cancelled at its deadline. Nor is a job
// cancelled that Slurm has requeued while its nodes idled. A list of licences that Slurm completes
// is not a change.
func liveChanges(t *testing.T, c *cluster.Cluster) {
	l := newLab(t, c, "slurm")
	l.outlook.Delay = 2
	// no node is free
	filler := l.run("alice", "sbatch", "--parsable", "--nodes=2", "--exclusive", "--output=/dev/null", "--wrap=sleep 3600")
	// Slurm completes a list of licences when it reads its configuration.
	var plain int64
	l.InTime(t, 10*time.Second, func(lead time.Duration) bool {
		var p *api.Plan
		plain, p = l.reserve(lead, api.OnMissCancel, "--licenses=matlab")
		l.look(plain)
		l.run("root", "scontrol", "reconfigure")
		if _, r := l.look(plain); passed(p.BeginBy) {
			l.cancel(plain)
			return false
		} else if r.Note != "" {
			t.Errorf("after Slurm has completed the licences: %+v", r)
		}
		return true
	})
	l.run("root", "scontrol", "update", "NodeName=node[1-2]", "AvailableFeatures=fast", "ActiveFeatures=fast")
	changes := map[int64]string{}
	last := int64(0) // of the deadlines
	changed := func(user, change string, refused bool) {
		l.InTime(t, 10*time.Second, func(lead time.Duration) bool {
			job, p := l.reserve(lead, api.OnMissCancel)
			l.look(job)
			err := l.Command(t.Context(), user, "scontrol", "update", fmt.Sprintf("job=%d", job), change).Run()
			if passed(p.BeginBy) {
				l.cancel(job)
				return false
			}
			if err != nil && !refused {
				t.Fatalf("%s: %v", change, err)
			}
			l.lookUntil(job, func(_ slurm.QueueEntry, r api.Reservation) bool {
				return strings.Contains(r.Note, "not by varq") && strings.Contains(r.Note, "leaves the job alone")
			})
			t.Logf("%s is noted", change)
			changes[job], last = change, p.BeginBy
			return true
		})
	}
	for _, change := range []string{
		"NumNodes=2", "Dependency=afterany:" + filler, "Partition=short", "QOS=fast", "ReqNodeList=node1", "Features=fast", "Licenses=matlab:3", "Nice=10000",
	} {
		changed("alice", change, false)
	}
	for _, change := range []string{"Contiguous=yes", "Deadline=now+1hour"} { // by an operator
		changed("root", change, false)
	}
	// Slurm refuses the number of nodes, but accepts the number of CPUs
	changed("alice", "NumNodes=99", true)

	l.lookUntil(plain, func(j slurm.QueueEntry, r api.Reservation) bool {
		return j.ID == 0 && r.State == api.StateMissed && passed(last+2*course.Skew)
	})
	for job, change := range changes {
		if j, r := l.look(job); j.ID == 0 || r.State != api.StatePending {
			t.Errorf("after %s: job %+v, reservation %+v", change, j, r)
		}
	}
}

// A job that Slurm requeues while its nodes idle has started in time: it is not cancelled.
func liveRequeue(t *testing.T, c *cluster.Cluster) {
	l := newLab(t, c, "slurm")
	var job int64
	var p *api.Plan
	l.InTime(t, 15*time.Second, func(lead time.Duration) bool {
		job, p = l.reserveAtOnce(lead, api.OnMissCancel)
		if !l.seenHolding(job, p) {
			return false
		}
		l.run("root", "scontrol", "requeue", strconv.FormatInt(job, 10))
		if passed(p.BeginBy) {
			l.cancel(job)
			return false
		}
		return true
	})
	l.run("root", "scontrol", "update", "NodeName=node[1-2]", "State=DRAIN", "Reason=test")
	j, r := l.lookUntil(job, func(slurm.QueueEntry, api.Reservation) bool { return passed(p.BeginBy + 2*course.Skew) })
	if j.ID == 0 || j.Start != 0 || r.State != api.StatePending {
		t.Errorf("job %+v, reservation %+v", j, r)
	}
	runs, err := l.slurm.Accounted(t.Context(), job)
	l.must(err)
	if held := runs[0].End - runs[0].Start; r.HeldBefore == 0 || r.HeldBefore > held+1 || r.HeldBefore < held-1 {
		t.Errorf("the nodes idled for %d s before the job was requeued, its runs are %+v; %+v", r.HeldBefore, runs, r)
	}
}

// seenHolding looks until the job has been held for a second at least. If its deadline passes
// first, seenHolding cancels the job and returns false.
func (l *lab) seenHolding(job int64, p *api.Plan) bool {
	l.t.Helper()
	_, r := l.lookUntil(job, func(_ slurm.QueueEntry, r api.Reservation) bool {
		return r.State == api.StateHolding && passed(r.Start+1) || passed(p.BeginBy)
	})
	if r.State == api.StateHolding && !passed(p.BeginBy) {
		return true
	}
	l.cancel(job)
	return false
}

// A job that was cancelled while its nodes idled has not begun its work. This holds even if a node
// that does not answer keeps it in the queue beyond its deadline.
func liveEndedInHold(t *testing.T, c *cluster.Cluster) {
	l := newLab(t, c, "slurm")
	var job int64
	var p *api.Plan
	l.InTime(t, 20*time.Second, func(lead time.Duration) bool {
		job, p = l.reserveAtOnce(lead, "")
		if !l.seenHolding(job, p) {
			return false
		}
		l.signalNodes(syscall.SIGSTOP)
		l.run("alice", "scancel", strconv.FormatInt(job, 10))
		if passed(p.BeginBy) {
			l.signalNodes(syscall.SIGCONT)
			return false
		}
		return true
	})
	l.lookUntil(job, func(j slurm.QueueEntry, _ api.Reservation) bool {
		if j.ID == 0 {
			t.Fatal("the job is not in the queue any more")
		}
		return time.Now().Unix() > p.BeginBy+course.Skew
	})
	l.signalNodes(syscall.SIGCONT)
	_, r := l.lookUntil(job, func(j slurm.QueueEntry, r api.Reservation) bool {
		return j.ID == 0 && r.State != api.StateHolding && r.State != api.StateRunning
	})
	if r.State != api.StateCancelled || r.WorkStart != 0 {
		t.Errorf("cancelled during its hold, and settled as %+v", r)
	}
}

// signalNodes sends a signal to every slurmd.
func (l *lab) signalNodes(signal syscall.Signal) {
	l.t.Helper()
	for _, node := range l.NodeNames() {
		text, err := os.ReadFile(l.Path("run", string(cluster.Slurmd(node))+".pid"))
		l.must(err)
		var pid int
		_, err = fmt.Sscan(string(text), &pid)
		l.must(err)
		l.must(syscall.Kill(pid, signal))
	}
}

// If slurmctld is killed before it has saved a requeue, it forgets the requeue, and goes on with
// the earlier submission. The job is still the one that was promised, and its promise is settled.
func liveForgottenRequeue(t *testing.T, c *cluster.Cluster) {
	l := newLab(t, c, "slurm")
	ctx := t.Context()
	partition := func(state string) { l.run("root", "scontrol", "update", "PartitionName=main", "State="+state) }
	partition("DOWN") // the job must not start until its state is copied
	job, _ := l.reserveAtOnce(time.Hour, "")
	l.must(l.StopDaemon(cluster.Slurmctld))
	names, err := filepath.Glob(l.Path("state", "job_state*"))
	l.must(err)
	saved := map[string][]byte{}
	for _, name := range names {
		saved[name], err = os.ReadFile(name)
		l.must(err)
	}
	l.must(l.StartDaemon(ctx, cluster.Slurmctld))
	partition("UP")
	before, _ := l.lookUntil(job, func(_ slurm.QueueEntry, r api.Reservation) bool { return r.State == api.StateHolding })
	partition("DOWN") // nor must it start again before the requeue was seen
	l.run("root", "scontrol", "requeue", strconv.FormatInt(job, 10))
	l.lookUntil(job, func(j slurm.QueueEntry, r api.Reservation) bool {
		return j.Submit > before.Submit && r.State == api.StatePending
	})
	l.must(l.KillDaemon(cluster.Slurmctld))
	for name, text := range saved { // in place, which keeps the owner
		l.must(os.WriteFile(name, text, 0o600))
	}
	l.must(l.StartDaemon(ctx, cluster.Slurmctld))
	partition("UP")
	again, _ := l.lookUntil(job, func(j slurm.QueueEntry, r api.Reservation) bool { return j.Start != 0 && r.State != api.StatePending })
	if again.Submit != before.Submit {
		t.Fatalf("slurmctld has not forgotten the requeue: %+v, before %+v", again, before)
	}
	l.run("root", "scancel", strconv.FormatInt(job, 10))
	l.lookUntil(job, func(_ slurm.QueueEntry, r api.Reservation) bool {
		return slices.Contains(api.SettledStates, r.State)
	})
}

// A promise is not settled while accounting does not say when its job ended. If accounting changes
// its data later, the settlement is corrected.
func liveVerdicts(t *testing.T, c *cluster.Cluster) {
	l := newLab(t, c, "slurm")
	ctx := t.Context()
	job, p := l.startedInTime()
	wait(p.BeginBy)
	l.run("alice", "scancel", strconv.FormatInt(job, 10))
	var run workload.Job
	for run.End == 0 {
		runs, err := l.slurm.Accounted(ctx, job)
		l.must(err)
		for _, run = range runs {
		}
	}
	account := func(state, start, end int64) {
		t.Helper()
		_, err := l.Query(ctx, "UPDATE lab_job_table SET state = %d, time_start = %d, time_end = %d WHERE id_job = %d", state, start, end, job)
		l.must(err)
	}
	const completed = 3
	account(completed, 0, 0) // as after an outage
	if _, r := l.look(job); r.State == api.StateMissed || r.State == api.StateKept {
		t.Errorf("settled without an end: %+v", r)
	}
	account(completed, p.BeginBy+60, p.BeginBy+90)
	l.lookUntil(job, func(_ slurm.QueueEntry, r api.Reservation) bool { return r.State == api.StateMissed })
	account(completed, run.Start, run.End)
	runs, err := l.slurm.Accounted(ctx, job)
	l.must(err)
	l.must(l.ObserveAccounting(ctx, runs))
	_, r := l.look(job)
	if r.State != api.StateKept || r.Start != run.Start || r.End != run.End || !strings.Contains(r.Note, "KEPT, not MISSED") {
		t.Errorf("corrected to %+v", r)
	}
}

// startedInTime reserves a job, and waits until it has started by its deadline.
func (l *lab) startedInTime() (job int64, p *api.Plan) {
	l.t.Helper()
	l.InTime(l.t, 5*time.Second, func(lead time.Duration) bool {
		job, p = l.reserveAtOnce(lead, "")
		_, r := l.lookUntil(job, func(_ slurm.QueueEntry, r api.Reservation) bool { return r.Start != 0 })
		if r.Start > p.BeginBy {
			l.cancel(job)
			return false
		}
		return true
	})
	return job, p
}

// If the database was down when a job started, it may never learn of the start. But the queue has
// shown that the work had begun in time.
func liveLostStart(t *testing.T, c *cluster.Cluster) {
	l := newLab(t, c, "slurm")
	job, p := l.startedInTime()
	l.lookUntil(job, func(_ slurm.QueueEntry, r api.Reservation) bool { return r.State == api.StateRunning })
	l.run("alice", "scancel", strconv.FormatInt(job, 10))
	for end := int64(0); end == 0; {
		runs, err := l.slurm.Accounted(t.Context(), job)
		l.must(err)
		for _, run := range runs {
			end = run.End
		}
	}
	const completed = 3
	_, err := l.Query(t.Context(), "UPDATE lab_job_table SET state = %d, time_start = 0 WHERE id_job = %d", completed, job)
	l.must(err)
	if r := l.settled(job); r.State != api.StateKept || r.Start == 0 || r.WorkStart != p.BeginBy {
		t.Errorf("%+v", r)
	}
}

// A job in Slurm's queue is never made eligible so early that its nodes idle for longer than was
// quoted, unless its user agrees.
func liveCeiling(t *testing.T, c *cluster.Cluster) {
	l := newLab(t, c, "slurm")
	job, p := l.reserve(2*time.Hour, "")
	l.look(job)
	l.outlook.Delay = 1800
	j, r := l.lookUntil(job, func(_ slurm.QueueEntry, r api.Reservation) bool { return r.Rescue != nil })
	if j.Eligible != p.BeginTime || j.Limit != p.TimeLimit || r.Ceiling != p.Worst || r.Rescue.Worst.NodeSeconds != 1800 {
		t.Errorf("quoted %+v; the job is now eligible at %d with %d s, the reservation %+v", p, j.Eligible, j.Limit, r)
	}
	accepted, err := l.Accept(t.Context(), "alice", api.Acceptance{Job: job})
	l.must(err)
	j, err = l.slurm.Job(t.Context(), job) // without another look
	l.must(err)
	if !accepted.Moved || accepted.Set.BeginTime != p.BeginBy-1800 || j.Eligible != p.BeginBy-1800 || j.Limit != 180+1800 {
		t.Errorf("accepted %+v; the job is eligible at %d with %d s", accepted, j.Eligible, j.Limit)
	}
	l.lookUntil(job, func(j slurm.QueueEntry, r api.Reservation) bool {
		return j.Eligible == p.BeginBy-1800 && j.Limit == 180+1800 && forecastOf(&r) >= p.Prob && r.Rescue == nil
	})

	l.outlook.Delay += 30 // less than the amount by which varqd moves a job by itself
	l.lookUntil(job, func(_ slurm.QueueEntry, r api.Reservation) bool { return r.Rescue != nil })
	accepted, err = l.Accept(t.Context(), "alice", api.Acceptance{Job: job})
	l.must(err)
	if j, err = l.slurm.Job(t.Context(), job); err != nil || !accepted.Moved || j.Eligible != p.BeginBy-1830 || forecastOf(&accepted.Reservation) < p.Prob {
		t.Errorf("accepted %+v; the job is eligible at %d, %v", accepted, j.Eligible, err)
	}
	l.outlook.Full = true // now longer idle times would not help
	l.outlook.Delay += 600
	if _, r := l.lookUntil(job, func(_ slurm.QueueEntry, r api.Reservation) bool { return forecastOf(&r) < p.Prob }); r.Rescue != nil {
		t.Errorf("without room: %+v", r)
	}
	if a, err := l.Accept(t.Context(), "alice", api.Acceptance{Job: job}); err == nil {
		t.Errorf("accepted %+v", a)
	}
}
