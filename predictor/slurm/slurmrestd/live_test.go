package slurmrestd_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/live/ingest"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/sacct"
	"github.com/varq-project/varq/predictor/slurm/scontrol"
	"github.com/varq-project/varq/predictor/slurm/slurmrestd"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/cluster"
)

// TestLive calls every method on a real Slurm, the one that VARQ_SLURM names.
func TestLive(t *testing.T) {
	c := cluster.ForTest(t, cluster.Options{Nodes: 2, SlurmConf: "AccountingStorageEnforce=associations,limits,qos"})
	ctx := t.Context()
	lab := live{t, c}
	root, alice := lab.client("root"), lab.client("alice")
	if err := root.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	began := time.Now().Unix()

	t.Run("clock", lab.clock)
	t.Run("trial", lab.trial)
	t.Run("configuration", lab.configuration)
	t.Run("repeating", lab.repeating)
	finished := lab.submit("alice", "--time=10", "--ntasks=2", "--comment=mine varq:abcdefghijkl", "--wrap=true")
	pending := lab.submit("alice", "--time=30", "--begin=now+1hour", "--wrap=true")
	t.Run("queue", func(t *testing.T) {
		job, err := root.Job(ctx, pending)
		if err != nil {
			t.Fatal(err)
		}
		if job.User != "alice" || job.State != workload.Pending || job.Limit != 1800 || job.Start != 0 || job.Reason != "BeginTime" ||
			len(job.On) != 0 || job.Nodes != 1 || job.CPUs != 1 || job.Held || job.Eligible < began+3500 {
			t.Errorf("%+v", job)
		}
		queue, err := root.Queue(ctx)
		if err != nil || !slices.ContainsFunc(queue, func(e slurm.QueueEntry) bool { return e.ID == pending }) {
			t.Errorf("%+v, %v", queue, err)
		}
		nodes, err := root.Nodes(ctx)
		if err != nil || len(nodes) != 2 || !nodes[0].Up || nodes[0].Drained || nodes[0].CPUs != 4 {
			t.Errorf("%+v, %v", nodes, err)
		}
	})
	t.Run("exclusive", lab.exclusive)
	t.Run("resize", lab.resize)
	t.Run("update", func(t *testing.T) {
		begin, comment := began+7200, "moved varq:abcdefghijkl"
		if err := root.Update(ctx, slurm.Update{Job: pending, BeginTime: begin, TimeLimit: 2700, Comment: &comment}); err != nil {
			t.Fatal(err)
		}
		if job, err := root.Job(ctx, pending); err != nil || job.Eligible != begin || job.Limit != 2700 || job.Comment != comment {
			t.Errorf("%+v, %v", job, err)
		}
		if err := alice.Update(ctx, slurm.Update{Job: pending, TimeLimit: 1800}); err != nil {
			t.Errorf("the owner's update: %v", err)
		}
		bob := lab.client("bob")
		if err := bob.Update(ctx, slurm.Update{Job: pending, TimeLimit: 60}); !errors.Is(err, slurm.ErrPermission) {
			t.Errorf("another user's update: %v", err)
		}
		if err := bob.Cancel(ctx, pending); !errors.Is(err, slurm.ErrPermission) {
			t.Errorf("another user's cancellation: %v", err)
		}
		if err := root.Update(ctx, slurm.Update{Job: 999999, TimeLimit: 60}); !errors.Is(err, slurm.ErrNotFound) {
			t.Errorf("update of no job: %v", err)
		}
		if err := root.Cancel(ctx, 999999); !errors.Is(err, slurm.ErrNotFound) {
			t.Errorf("cancellation of no job: %v", err)
		}
		if err := alice.Cancel(ctx, pending); err != nil {
			t.Fatal(err)
		}
		if _, err := root.Job(ctx, pending); !errors.Is(err, slurm.ErrNotFound) {
			t.Errorf("after its cancellation: %v", err)
		}
		if j, err := root.Ended(ctx, pending); err != nil || j.ID != pending || j.State != workload.Cancelled || j.Start != 0 || j.End == 0 {
			t.Errorf("after its cancellation: %+v, %v", j, err)
		}
		if j, err := root.Ended(ctx, 999999); !errors.Is(err, slurm.ErrNotFound) {
			t.Errorf("of no job: %+v, %v", j, err)
		}
	})
	t.Run("history", func(t *testing.T) {
		job := lab.settled(root, finished)
		if job.User != "alice" || job.State != workload.Completed || job.Limit != 600 || job.CPUs != 2 || job.Nodes != 1 ||
			job.Start < job.Submit || job.End < job.Start || job.Comment != "mine varq:abcdefghijkl" {
			t.Errorf("%+v", job)
		}
		cancelled := lab.settled(root, pending)
		if cancelled.State != workload.Cancelled || cancelled.Start != 0 {
			t.Errorf("%+v", cancelled)
		}
		if jobs, err := root.Accounted(ctx, 999999); len(jobs) != 0 || err != nil {
			t.Errorf("of no job: %+v, %v", jobs, err)
		}
		history := collect(t, root, began-86400, time.Now().Unix()+1)
		if i := slices.IndexFunc(history, func(j workload.Job) bool { return j.ID == finished }); i < 0 || !reflect.DeepEqual(history[i], job) {
			t.Errorf("%+v has no %+v", history, job)
		}
		job.Comment, job.Series, job.Needs = "", "", nil // which sacct is not asked for
		history = lab.sacct(began-86400, time.Now().Unix()+1)
		if i := slices.IndexFunc(history, func(j workload.Job) bool { return j.ID == finished }); i < 0 || !reflect.DeepEqual(history[i], job) {
			t.Errorf("sacct: %+v has no %+v", history, job)
		}
	})
	t.Run("window", lab.window)
	t.Run("runs", lab.runs)
	t.Run("at a limit", lab.atLimit)
	t.Run("slurmctld down", func(t *testing.T) {
		if err := c.StopDaemon(cluster.Slurmctld); err != nil {
			t.Fatal(err)
		}
		if _, err := root.Queue(ctx); !errors.Is(err, slurm.ErrUnavailable) {
			t.Errorf("queue: %v", err)
		}
	})
}

// live is a test on one cluster.
type live struct {
	t *testing.T
	c *cluster.Cluster
}

func (l live) client(user string) *slurmrestd.Client {
	l.t.Helper()
	return l.clientWithClock(user, time.Now)
}

func (l live) clientWithClock(user string, now func() time.Time) *slurmrestd.Client {
	l.t.Helper()
	token, err := l.c.TokenFile(l.t.Context(), user)
	if err != nil {
		l.t.Fatal(err)
	}
	client, err := slurmrestd.New(slurmrestd.Options{URL: l.c.RestURL(), User: user, Token: slurmrestd.TokenFile(token), Now: now})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(client.Close)
	return client
}

// program returns the path of one of Slurm's programs.
func (l live) program(name string) string {
	if l.c.Root() == "/" {
		return name
	}
	path := filepath.Join(l.t.TempDir(), name)
	script := fmt.Sprintf("#!/bin/sh\nexec chroot %s %s \"$@\"\n", l.c.Root(), name)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		l.t.Fatal(err)
	}
	return path
}

// run runs a command as root.
func (l live) run(name string, args ...string) {
	l.t.Helper()
	if out, err := l.c.Command(l.t.Context(), "root", name, args...).CombinedOutput(); err != nil {
		l.t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}

// sacct returns the past jobs that Slurm's own command shows.
func (l live) sacct(begin, end int64) []workload.Job {
	l.t.Helper()
	out, err := l.c.Command(l.t.Context(), "root", "env", "SLURM_TIME_FORMAT=%s", "sacct", "-aXDP", "-o", strings.Join(sacct.Fields, ","),
		fmt.Sprintf("-Suts%d", begin), fmt.Sprintf("-Euts%d", end)).Output()
	if err != nil {
		l.t.Fatal(err)
	}
	var jobs []workload.Job
	for record, err := range sacct.Records("sacct", bytes.NewReader(out), time.UTC) {
		if err != nil {
			l.t.Fatal(err)
		}
		jobs = append(jobs, record.Job)
	}
	return jobs
}

func (l live) submit(user string, args ...string) int64 {
	l.t.Helper()
	out, err := l.c.Command(l.t.Context(), user, "sbatch", append([]string{"--parsable", "--output=/dev/null"}, args...)...).Output()
	if err != nil {
		l.t.Fatalf("sbatch %v: %v", args, err)
	}
	id, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		l.t.Fatal(err)
	}
	return id
}

// settled waits until accounting has the end of a job.
func (l live) settled(client *slurmrestd.Client, id int64) workload.Job {
	l.t.Helper()
	for end := time.Now().Add(cluster.Patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		jobs, err := client.Accounted(l.t.Context(), id)
		if err != nil {
			l.t.Fatal(err)
		}
		if len(jobs) == 1 && jobs[0].State.Finished() {
			return jobs[0]
		}
	}
	l.t.Fatalf("accounting does not know the end of job %d", id)
	panic("unreachable")
}

// runs are all runs of a job that was requeued, in its history too, and those of many jobs at once.
func (l live) runs(t *testing.T) {
	root, began := l.client("root"), time.Now().Unix()
	job := l.submit("alice", "--time=10", "--requeue", "--wrap=sleep 600")
	other := l.submit("alice", "--time=10", "--hold", "--wrap=true")
	until := func(what string, is func(slurm.QueueEntry) bool) (j slurm.QueueEntry) {
		for end := time.Now().Add(cluster.Patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			var err error
			if j, err = root.Job(t.Context(), job); err == nil && is(j) {
				return j
			}
		}
		t.Fatalf("job %d is not %s: %+v", job, what, j)
		panic("unreachable")
	}
	first := until("running", func(j slurm.QueueEntry) bool { return j.Start != 0 && time.Now().Unix() > j.Start+2 })
	l.run("scontrol", "requeue", strconv.FormatInt(job, 10))
	until("back in the queue", func(j slurm.QueueEntry) bool { return j.Submit > first.Submit && !j.Completing && j.Start == 0 })
	for _, id := range []int64{job, other} {
		l.run("scancel", strconv.FormatInt(id, 10))
	}
	ids := []int64{99_999_999, job, other}
	for id := range int64(997) {
		ids = append(ids, 10_000_000+id)
	}
	var all map[int64][]workload.Job
	ended := func(runs []workload.Job, n int) bool {
		return len(runs) == n && !slices.ContainsFunc(runs, func(j workload.Job) bool { return !j.State.Finished() })
	}
	for end := time.Now().Add(cluster.Patience); ; time.Sleep(200 * time.Millisecond) {
		var err error
		if all, err = root.AccountedAll(t.Context(), ids); err != nil {
			t.Fatal(err)
		}
		if ended(all[job], 2) && ended(all[other], 1) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%+v", all)
		}
	}
	if len(all) != 2 {
		t.Errorf("asked for %d and %d, got %+v", job, other, all)
	}
	for _, id := range []int64{job, other} {
		one, err := root.Accounted(t.Context(), id)
		if err != nil || !reflect.DeepEqual(one, all[id]) {
			t.Errorf("asked for job %d alone: %+v, %v; for many: %+v", id, one, err, all[id])
		}
	}
	// The last run was cancelled before it was eligible, and so is in no window.
	if part := collect(t, root, first.Start+1, first.Start+2); !slices.ContainsFunc(part, func(j workload.Job) bool { return reflect.DeepEqual(j, all[job][0]) }) {
		t.Errorf("in a window within its run: %+v, and by itself: %+v", part, all[job][0])
	}
	if history := collect(t, root, began-1, time.Now().Unix()+300); !slices.ContainsFunc(history, func(j workload.Job) bool { return reflect.DeepEqual(j, all[job][0]) }) {
		t.Errorf("the history %+v has no %+v", history, all[job][0])
	}
	if none, err := root.AccountedAll(t.Context(), []int64{99_999_998, 99_999_999}); len(none) != 0 || err != nil {
		t.Errorf("of no jobs: %+v, %v", none, err)
	}
}

// clock measures slurmctld's clock, which is this host's, by clocks that go wrong.
func (l live) clock(t *testing.T) {
	for _, wrong := range []time.Duration{0, 30 * time.Second, -47 * time.Minute} {
		for _, user := range []string{"varq", "alice"} {
			c := l.clientWithClock(user, func() time.Time { return time.Now().Add(wrong) })
			ahead, uncertainty, err := c.Clock(t.Context())
			if err != nil || uncertainty < time.Second/2 || (ahead+wrong).Abs() > uncertainty {
				t.Errorf("%s, with a clock wrong by %v: %v +- %v, %v", user, wrong, ahead, uncertainty, err)
			}
		}
	}
}

// trial is what shows who is an operator: varq is one, alice none.
func (l live) trial(t *testing.T) {
	for _, user := range []string{"varq", "alice"} {
		c := l.client(user)
		about, err := c.About(t.Context())
		if err != nil || !strings.HasPrefix(about.Release, string(l.c.Version)) || !strings.HasPrefix(about.API, "v0.0.") {
			t.Errorf("%+v, %v", about, err)
		}
		if expires, err := c.TokenExpires(); err != nil || time.Until(expires) < 24*time.Hour {
			t.Errorf("the token expires at %v, %v", expires, err)
		}
		id, err := c.SubmitHeld(t.Context(), "trial")
		if err != nil {
			t.Fatal(err)
		}
		job, err := c.Job(t.Context(), id)
		if err != nil || job.User != user || job.Name != "trial" || !job.Held || job.Limit != 60 {
			t.Errorf("%+v, %v", job, err)
		}
		if err := c.Favour(t.Context(), id); (err == nil) != (user == "varq") || err != nil && !errors.Is(err, slurm.ErrPermission) {
			t.Errorf("%s: %v", user, err)
		}
		if err := c.Cancel(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
}

// atLimit lets a job wait for its user's limit on running jobs.
func (l live) atLimit(t *testing.T) {
	l.run("sacctmgr", "-i", "modify", "user", "bob", "set", "MaxJobs=1")
	root := l.client("root")
	until := func(id int64, what string, is func(slurm.QueueEntry) bool) {
		t.Helper()
		var job slurm.QueueEntry
		var err error
		for end := time.Now().Add(cluster.Patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
			if job, err = root.Job(t.Context(), id); err == nil && is(job) {
				return
			}
		}
		t.Fatalf("job %d is not %s: %+v, %v", id, what, job, err)
	}
	first := l.submit("bob", "--wrap=sleep 3600")
	until(first, "running", func(e slurm.QueueEntry) bool { return e.Start != 0 && !e.AtLimit })
	second := l.submit("bob", "--wrap=true")
	until(second, "at a limit", func(e slurm.QueueEntry) bool { return e.AtLimit && e.Start == 0 && e.Eligible != 0 })
	if err := root.Cancel(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if job := l.settled(root, second); !job.AtLimit || job.Start == 0 {
		t.Errorf("in accounting: %+v", job)
	}
	if job := l.settled(root, first); job.AtLimit {
		t.Errorf("in accounting: %+v", job)
	}
}

// exclusive: the queue tells which jobs share their nodes with no others, or with few.
func (l live) exclusive(t *testing.T) {
	for option, want := range map[string]bool{"--exclusive": true, "--exclusive=user": true, "--nodes=1": false} {
		id := l.submit("alice", option, "--time=10", "--begin=now+1hour", "--wrap=true")
		if job, err := l.client("root").Job(t.Context(), id); err != nil || job.Exclusive != want {
			t.Errorf("%s: %+v, %v", option, job, err)
		}
		l.run("scancel", strconv.FormatInt(id, 10))
	}
}

func (l live) configuration(t *testing.T) {
	l.run("sacctmgr", "-i", "add", "qos", "varqtest", "set", "MaxWall=7-00:00:00", "GrpTRESMins=cpu=900000", "MaxTRESMinsPerJob=cpu=1000", "GrpTRESRunMins=cpu=70", "MaxTRESPerNode=cpu=3")
	l.run("sacctmgr", "-i", "modify", "user", "alice", "set", "MaxWall=2-00:00:00", "GrpTRESMins=cpu=600000", "GrpTRESRunMins=cpu=80", "MaxTRESPerNode=cpu=4")
	l.run("scontrol", "create", "reservation", "reservationname=service", "starttime=now+2days", "duration=120", "flags=maint,ignore_jobs", "nodes=ALL", "users=root")
	l.run("scontrol", "create", "reservation", "reservationname=cores", "starttime=now+1day", "duration=60", "corecnt=5", "users=root")
	client := l.client("root")
	command := scontrol.Command{Path: l.program("scontrol"), Env: l.c.Env()}
	read := func() limits.Cluster {
		got, err := client.Cluster(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Complete(t.Context(), &got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	for name, option := range map[string]string{"alone": "oversubscribe=exclusive", "users": "exclusiveuser=yes"} {
		l.run("scontrol", "create", "partitionname="+name, "nodes=ALL", option)
	}
	got := read()
	for deadline := time.Now().Add(cluster.Patience); got.Reservations[0].Cores == nil && time.Now().Before(deadline); time.Sleep(time.Second) {
		got = read() // Slurm 22.05 tells a few seconds later which cores they are
	}
	config, err := command.Config(t.Context())
	if err != nil || config.SlurmUser != "slurm" || !config.LimitsEnforced {
		t.Errorf("%+v, %v", config, err)
	}
	if q := got.QOS["varqtest"]; q.MaxWall != 7*86400 || q.GrpTRESMins["cpu"] != 900000 || q.MaxTRESMins["cpu"] != 1000 ||
		q.GrpTRESRunMins["cpu"] != 70 || q.MaxTRESPerNode["cpu"] != 3 {
		t.Errorf("QOS %+v", q)
	}
	i := slices.IndexFunc(got.Associations, func(a limits.Association) bool { return a.User == "alice" })
	if i < 0 || got.Associations[i].MaxWall != 2*86400 || got.Associations[i].GrpTRESMins["cpu"] != 600000 || !got.Associations[i].Default ||
		got.Associations[i].GrpTRESRunMins["cpu"] != 80 || got.Associations[i].MaxTRESPerNode["cpu"] != 4 {
		t.Errorf("associations %+v", got.Associations)
	}
	p := got.Partitions["main"]
	if !p.Up || !p.Default || p.MaxTime <= 0 || p.DefaultTime <= 0 || len(p.Nodes) != 2 || p.TotalCPUs != 8 {
		t.Errorf("partition %+v", p)
	}
	for name, p := range got.Partitions {
		if p.WholeNodes != (name == "alone") || p.UserNodes != (name == "users") || p.Segments {
			t.Errorf("partition %+v", p)
		}
	}
	if len(got.Reservations) != 2 || !maps.Equal(got.Reservations[0].Cores, map[string]int64{"node1": 4, "node2": 1}) || got.Reservations[1].Cores != nil ||
		!got.Reservations[1].Maintenance || len(got.Reservations[1].Nodes) != 2 || got.Reservations[1].End-got.Reservations[1].Start != 7200 {
		t.Errorf("reservations %+v", got.Reservations)
	}
	if operators, err := client.Operators(t.Context()); err != nil || !slices.Contains(operators, "oper") {
		t.Errorf("operators %v, %v", operators, err)
	}
	l.run("scontrol", "delete", "partitionname=alone")
	l.run("scontrol", "delete", "partitionname=users")
	l.run("scontrol", "delete", "reservationname=service")
	l.run("scontrol", "delete", "reservationname=cores")
}

// repeating compares when reservations come again with the times to which Slurm moves them. Slurm
// goes by the weekday on which it does that, which must be that of their ends.
func (l live) repeating(t *testing.T) {
	flags := map[string]limits.Repeats{"daily": limits.Daily, "hourly": limits.Hourly, "weekday": limits.Weekdays, "weekend": limits.Weekends, "weekly": limits.Weekly}
	for flag := range flags {
		l.run("scontrol", "create", "reservation", "reservationname="+flag, "starttime=now+10minutes", "duration=1", "flags=overlap,"+flag, "nodes=ALL", "users=root")
	}
	read := func() []limits.Reservation {
		got, err := l.client("root").Cluster(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return got.Reservations
	}
	before := limits.Cluster{Reservations: read()}
	before.Repeat(time.Now().Unix(), time.Local)
	today := time.Now().Weekday()
	for flag := range flags {
		l.run("scontrol", "update", "reservationname="+flag, "skip")
	}
	sameDay := time.Now().Weekday() == today
	for i, now := range read() {
		was := before.Reservations[i]
		if was.Name != now.Name || was.Repeats != flags[was.Name] {
			t.Fatalf("reservation %+v, and then %+v", was, now)
		}
		if next := was.Again[0]; sameDay && time.Unix(was.End, 0).Weekday() == today && (now.Start != next.Start || now.End != next.End) {
			t.Errorf("%s: Slurm moves it from %d to %d, not to %d", was.Name, was.Start, now.Start, next.Start)
		}
		l.run("scontrol", "delete", "reservationname="+was.Name)
	}
}

// window compares the history with what Slurm's own command tells, but for jobs that wait, which
// are not in it.
func (l live) window(t *testing.T) {
	root, began := l.client("root"), time.Now().Unix()
	queued := func() int64 { return l.submit("alice", "--time=10", "--nodes=2", "--exclusive", "--wrap=sleep 1d") }
	running, cancelled, pending := queued(), queued(), queued()
	var got, want []workload.Job
	on := map[int64]int{} // nodes by job
	// sacct is not asked for comments, reasons and nodes
	plain := func(jobs []workload.Job) []workload.Job {
		for i := range jobs {
			if nodes := len(jobs[i].On); nodes > 0 {
				on[jobs[i].ID] = nodes
			}
			jobs[i].Comment, jobs[i].Series, jobs[i].AtLimit, jobs[i].On, jobs[i].Needs = "", "", false, nil, nil
		}
		slices.SortFunc(jobs, func(a, b workload.Job) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Submit, b.Submit)) })
		return jobs
	}
	state := func(id int64) workload.State {
		i := slices.IndexFunc(got, func(j workload.Job) bool { return j.ID == id })
		if i < 0 {
			return workload.Unknown
		}
		return got[i].State
	}
	for end := time.Now().Add(cluster.Patience); time.Now().Before(end); time.Sleep(time.Second) {
		if time.Now().Unix() > began+2 { // it has been eligible for some time
			l.run("scancel", strconv.FormatInt(cancelled, 10))
		}
		until := time.Now().Unix() + 1
		waits := func(j workload.Job) bool { return j.State == workload.Pending }
		got, want = plain(collect(t, root, began-86400, until)), plain(slices.DeleteFunc(l.sacct(began-86400, until), waits))
		if reflect.DeepEqual(got, want) && state(running) == workload.Running && state(cancelled) == workload.Cancelled {
			break
		}
	}
	if !reflect.DeepEqual(got, want) || state(running) != workload.Running || state(cancelled) != workload.Cancelled || state(pending) != workload.Unknown {
		t.Errorf("running %d, cancelled %d, pending %d: history\n%+v\nsacct\n%+v", running, cancelled, pending, got, want)
	}
	if on[running] != 2 || on[cancelled] != 0 {
		t.Errorf("accounting tells on how many nodes jobs are: %v; %d has 2, %d has none", on, running, cancelled)
	}
	for _, id := range []int64{running, pending} {
		l.run("scancel", strconv.FormatInt(id, 10))
	}
}

func collect(t *testing.T, from ingest.Source, begin, end int64) []workload.Job {
	t.Helper()
	var jobs []workload.Job
	for job, err := range from.History(t.Context(), begin, end, nil) {
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, job)
	}
	return jobs
}
