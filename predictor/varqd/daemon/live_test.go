package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/live/health"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/selfscore"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/slurm/sacctmgr"
	"github.com/varq-project/varq/predictor/slurm/scontrol"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/thorough"
)

// calm is a past in which one-node jobs of a few minutes wait for two times pace, in
// seconds.
func calm(now, pace int64) iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		const jobs, days = 2000, 5
		for i := range int64(jobs) {
			at := now - (days+1)*86400 + i*days*86400/jobs
			j := workload.Job{
				ID: 500_000 + i, Request: workload.Request{User: "bob", Account: "chem", Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 60 * (1 + i%10)},
				Submit: at, Eligible: at, Start: at + i%5*pace, End: at + 60, State: workload.Completed,
			}
			if !yield(j, nil) {
				return
			}
		}
	}
}

// live is a daemon on a real Slurm.
type live struct {
	*cluster.Cluster
	t        *testing.T
	config   config.Config
	scontrol scontrol.Command
	sacctmgr sacctmgr.Command
	now      func() time.Time // of the daemon
	daemon   *Daemon
	stop     func()
}

// TestLive has a daemon for each of its subtests, which share a Slurm and follow one another.
func TestLive(t *testing.T) {
	c := cluster.ForTest(t, cluster.Options{Nodes: 2, CPUs: 64})
	if _, err := c.LoadHistory(t.Context(), calm(time.Now().Unix(), int64(c.Paced(time.Second).Seconds()))); err != nil {
		t.Fatal(err)
	}
	t.Run("reservations", func(t *testing.T) { liveReservations(t, c) })
	for _, test := range []struct {
		name string
		run  func(*testing.T, *cluster.Cluster)
	}{
		{"nodes", liveNodes}, {"drained", liveDrained}, {"ends", liveEnds}, {"clock ahead", liveClockAhead}, {"trouble", liveTrouble}, {"hostile user", liveHostileUser}, {"load", liveLoad},
	} {
		t.Run(test.name, func(t *testing.T) {
			thorough.Only(t)
			c.Tidy(t)
			test.run(t, c)
		})
	}
}

func startLive(t *testing.T, c *cluster.Cluster) *live { return startLiveAs(t, c, "root", 0) }

// startLiveAs starts a daemon that asks a Slurm as a user. The clock of the daemon's host is ahead
// of Slurm's.
func startLiveAs(t *testing.T, c *cluster.Cluster, user string, ahead time.Duration) *live {
	if err := cluster.InstallPackages(t.Context(), "to ask varqd as its users may", "curl"); err != nil {
		t.Fatal(err)
	}
	l := &live{Cluster: c, t: t, now: func() time.Time { return time.Now().Add(ahead) }}
	l.scontrol.Env, l.sacctmgr.Env = l.Env(), l.Env()
	if l.Root() != "/" { // varqd runs here, its Slurm in a chroot
		dir := t.TempDir()
		l.scontrol.Path, l.sacctmgr.Path = filepath.Join(dir, "scontrol"), filepath.Join(dir, "sacctmgr")
		for _, path := range []string{l.scontrol.Path, l.sacctmgr.Path} {
			script := fmt.Sprintf("#!/bin/sh\nexec chroot %s %s \"$@\"\n", l.Root(), filepath.Base(path))
			if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	token, err := l.TokenFile(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(l.Dir, "varq-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`
slurmrestd: {url: "%s", user: %s, token_file: %s}
server: {socket: %s/socket}
ledger: {path: %[4]s/ledger.db}
history: {path: %[4]s/history.db}
forecast: {days: 10}
watch: {interval: 500ms, idle: 1s, refresh: 2s, grace: 5s, load: 1}
`, l.RestURL(), user, token, dir)
	if l.config, err = config.Parse("test", []byte(text)); err != nil {
		t.Fatal(err)
	}
	l.start()
	t.Cleanup(func() { l.stop() })
	return l
}

// start runs the daemon and waits until it can make promises.
func (l *live) start() {
	l.t.Helper()
	l.launch()
	l.awaitWell()
}

// launch runs the daemon.
func (l *live) launch() {
	l.t.Helper()
	d, err := New(Options{Config: l.config, Scontrol: l.scontrol, Sacctmgr: l.sacctmgr, Now: l.now, Log: slog.New(slog.NewTextHandler(l.t.Output(), nil))})
	if err != nil {
		l.t.Fatal(err)
	}
	l.daemon = d
	d.keeper.Settle = 1
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	l.stop = func() {
		cancel()
		if err := <-done; err != nil {
			l.t.Error(err)
		}
		if err := d.Close(); err != nil {
			l.t.Error(err)
		}
	}
}

func (l *live) eventually(what string, ok func() bool) {
	l.t.Helper()
	for began := time.Now(); !ok(); time.Sleep(100 * time.Millisecond) {
		if time.Since(began) > cluster.Patience {
			l.t.Fatalf("never: %s", what)
		}
	}
}

// run runs a command as a user and returns what it prints.
func (l *live) run(user, name string, args ...string) string {
	l.t.Helper()
	out, err := l.Command(l.t.Context(), user, name, args...).Output()
	if err != nil {
		l.t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// curl runs curl as a user, outside any chroot, where varqd runs.
func (l *live) curl(name string, args ...string) string {
	l.t.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		l.t.Fatal(err)
	}
	var credential syscall.Credential
	if _, err := fmt.Sscan(u.Uid, &credential.Uid); err != nil {
		l.t.Fatal(err)
	}
	if _, err := fmt.Sscan(u.Gid, &credential.Gid); err != nil {
		l.t.Fatal(err)
	}
	cmd := exec.CommandContext(l.t.Context(), "curl", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &credential}
	out, err := cmd.Output()
	if err != nil {
		l.t.Fatalf("curl %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// ask calls varqd as a user and decodes its answer, if there is one.
func (l *live) ask(user, path string, request, answer any) (status string) {
	l.t.Helper()
	args := []string{"--silent", "--write-out", "\n%{http_code}", "--unix-socket", l.config.Server.Socket, "http://varqd" + path}
	if request != nil {
		body, err := json.Marshal(request)
		if err != nil {
			l.t.Fatal(err)
		}
		args = append(args, "--data", string(body))
	}
	out := l.curl(user, args...)
	i := strings.LastIndexByte(out, '\n')
	if status = out[i+1:]; status == "200" && answer != nil {
		if err := json.Unmarshal([]byte(out[:i]), answer); err != nil {
			l.t.Fatalf("%s: %v in %q", path, err, out)
		}
	}
	return status
}

// reserve promises a user a job of one CPU for a minute.
func (l *live) reserve(user string, in time.Duration) *api.Plan {
	l.t.Helper()
	return l.promise(user, in, api.PlanRequest{Job: workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 60}, Prob: .7})
}

// promise promises a user what she requests, by some time from now on. It asks again while varqd
// refuses, because the deadline of a request that took long is near, and little is promised while a
// slow machine starts no jobs.
func (l *live) promise(user string, in time.Duration, request api.PlanRequest) *api.Plan {
	l.t.Helper()
	var answer api.PlanAnswer
	l.eventually("what is asked for is promised", func() bool {
		request.BeginBy = time.Now().Add(in).Unix()
		answer = api.PlanAnswer{}
		if status := l.ask(user, api.PathPlan, request, &answer); status != "200" {
			l.t.Fatalf("status %s", status)
		}
		return answer.Plan != nil
	})
	return answer.Plan
}

// submit submits a job as the plan says, for a work, with further options of sbatch, and returns
// its id.
func (l *live) submit(user string, p *api.Plan, work string, options ...string) string {
	l.t.Helper()
	return l.run(user, "sbatch", append([]string{
		"--parsable", "--output=/dev/null",
		"--begin=" + time.Unix(p.BeginTime, 0).Format("2006-01-02T15:04:05"), fmt.Sprintf("--time=%d", p.TimeLimit/60),
		"--comment=" + p.Comment, "--wrap=" + work,
	}, options...)...)
}

// gate returns work that lasts until open is called.
func (l *live) gate(name string) (work string, open func()) {
	file := filepath.Join(l.JobDir(), name)
	return "until [ -e " + file + " ]; do sleep .1; done", func() {
		l.t.Helper()
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			l.t.Fatal(err)
		}
	}
}

// oversized promises alice a reservation that becomes eligible an hour earlier than the
// forecast requires, as if the queue had been slower when the promise was made.
func (l *live) oversized() *api.Plan {
	l.t.Helper()
	deadline := time.Now().Unix() + 3*3600
	r := &api.Reservation{
		Plan: api.Plan{
			ID: api.NewPlanID(), BeginTime: deadline - 3600, TimeLimit: 3660, BeginBy: deadline, HoldUntil: deadline, WorkLimit: 60,
			Prob: .8, Estimate: .8, OnMiss: "run",
		},
		User: "alice", Account: "phys", Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Promised: time.Now().Unix(),
	}
	r.Comment = api.CommentPrefix + r.ID
	if err := l.daemon.ledger.Promise(l.t.Context(), r, 0); err != nil {
		l.t.Fatal(err)
	}
	return &r.Plan
}

func (l *live) reservation(user, job string) api.Reservation {
	l.t.Helper()
	var list []api.Reservation
	if status := l.ask(user, api.PathReservations+"?job="+job, nil, &list); status != "200" || len(list) != 1 {
		return api.Reservation{}
	}
	return list[0]
}

func (l *live) awaitState(user, job, state string) api.Reservation {
	l.t.Helper()
	var r api.Reservation
	l.eventually("job "+job+" is "+state, func() bool {
		r = l.reservation(user, job)
		return r.State == state
	})
	return r
}

// awaitLook waits until varqd has taken in a queue that was read from now on.
func (l *live) awaitLook() {
	l.t.Helper()
	from := float64(time.Now().UnixMilli()) / 1000
	l.eventually("varqd looks at the queue", func() bool {
		newest, err := strconv.ParseFloat(metric(metrics(l.t, l.config.Server.Socket), "varq_queue_newest_seconds "), 64)
		return err == nil && newest > from
	})
}

func liveReservations(t *testing.T, c *cluster.Cluster) {
	l := startLive(t, c)

	const hours = 3
	longWork, endWork := l.gate("end")
	longJob := api.PlanRequest{Job: workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: hours * 3600}, Prob: .7}
	far := l.promise("alice", hours*time.Hour, longJob)
	held := l.submit("alice", far, longWork)
	changed := l.submit("alice", l.reserve("alice", 2*time.Hour), "true")
	cancelled := l.submit("alice", l.reserve("alice", time.Hour), "true")
	moving := l.oversized()
	moved := l.submit("alice", moving, "true")
	forged := l.submit("bob", l.reserve("alice", 4*time.Hour), "true")
	for _, id := range []string{held, changed, cancelled} {
		l.awaitState("alice", id, api.StatePending)
	}

	l.run("alice", "scontrol", "hold", held)
	l.run("alice", "scontrol", "update", "JobId="+changed, "TimeLimit=7")
	l.run("alice", "scancel", cancelled)
	if r := l.awaitState("alice", cancelled, api.StateCancelled); r.Note == "" {
		t.Errorf("cancelled without a note: %+v", r)
	}
	l.eventually("the hold and the update are noted", func() bool {
		return l.reservation("alice", held).Note == "held" && strings.Contains(l.reservation("alice", changed).Note, "00:07:00")
	})

	// varqd moves a job that is too early, and does not mistake this for a change by alice.
	var later int64
	l.eventually("a job that is too early is moved", func() bool {
		r := l.reservation("alice", moved)
		later = r.Set.BeginTime
		shown := l.run("alice", "scontrol", "--oneliner", "show", "job", moved)
		return later > moving.BeginTime+1800 && strings.Contains(shown, "StartTime="+time.Unix(later, 0).Format("2006-01-02T15:04:05")) &&
			strings.Contains(shown, "TimeLimit="+slurmtime.FormatDuration((moving.BeginBy-later+moving.WorkLimit+59)/60*60))
	})
	l.awaitLook()
	if r := l.reservation("alice", moved); r.State != api.StatePending || r.Note != "" || r.Eligible != later {
		t.Errorf("the moved job: %+v", r)
	}
	l.run("alice", "scontrol", "release", held)
	l.eventually("the release is noted", func() bool { return l.reservation("alice", held).Note == "released" })

	// Bob neither sees nor binds alice's reservations, and a copied comment has no effect.
	var seen []api.Reservation
	if status := l.ask("bob", api.PathReservations+"?all=true", nil, &seen); status != "200" || len(seen) != 0 {
		t.Errorf("bob sees %s %+v", status, seen)
	}
	if status := l.ask("bob", api.PathReservations+"?user=alice", nil, nil); status != "403" {
		t.Errorf("bob asks for alice's: %s", status)
	}
	var forgedID int64
	fmt.Sscan(forged, &forgedID)
	if status := l.ask("bob", api.PathBind, api.Binding{Plan: far.ID, Job: forgedID}, nil); status != "404" {
		t.Errorf("bob binds alice's plan: %s", status)
	}
	if r := l.reservation("bob", forged); r.ID != "" {
		t.Errorf("bob's forged comment got him %+v", r)
	}
	if r := l.reservation("oper", held); r.User != "alice" {
		t.Errorf("the operator sees %+v", r)
	}

	// Who cannot submit jobs gets no promise, and who can gets only so many without a job.
	wanted := api.PlanRequest{
		Job:     workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 60},
		BeginBy: time.Now().Add(3 * time.Hour).Unix(), Prob: .7,
	}
	var answer api.PlanAnswer
	if status := l.ask("nobody", api.PathPlan, wanted, &answer); status != "200" || answer.Refusal == nil || !strings.Contains(answer.Refusal.Reason, "user nobody has no account") {
		t.Errorf("nobody gets %s %+v", status, answer)
	}
	hoarded, refused := 0, ""
	for ; hoarded <= ledger.MaxUnclaimed; hoarded++ {
		var answer api.PlanAnswer
		if status := l.ask("bob", api.PathPlan, wanted, &answer); status != "200" {
			t.Fatalf("bob's plan: %s", status)
		}
		if answer.Refusal != nil {
			refused = answer.Refusal.Reason
			break
		}
	}
	if !strings.Contains(refused, "no job") { // how many it was depends on how long that took
		t.Errorf("bob gets %d promises without a job: %s", hoarded, refused)
	}
	l.reserve("alice", 2*time.Hour)

	// After restarts of varqd, slurmrestd and slurmctld, everything is still known.
	var job string
	l.InTime(t, 45*time.Second, func(lead time.Duration) bool {
		p := l.promise("alice", lead, longJob)
		job = l.submit("alice", p, longWork)
		l.eventually("varqd knows the job", func() bool { return l.reservation("alice", job).ID == p.ID })
		l.stop()
		for _, d := range []cluster.Daemon{cluster.Slurmrestd, cluster.Slurmctld} {
			if err := l.Restart(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
		inTime := time.Now().Unix() < p.BeginTime
		l.start()
		var r api.Reservation
		l.eventually("the job has started", func() bool {
			r = l.reservation("alice", job)
			return r.Start != 0
		})
		if !inTime && r.Start > p.BeginBy {
			l.run("alice", "scancel", job)
			return false
		}
		return true
	})
	l.run("alice", "scontrol", "update", "JobId="+held, "StartTime=now")
	if r := l.awaitState("alice", held, api.StateHolding); r.Start == 0 || r.WorkStart != 0 {
		t.Errorf("held until %d: %+v", far.BeginBy, r)
	}
	l.awaitState("alice", job, api.StateRunning)
	endWork()
	r := l.awaitState("alice", job, api.StateKept)
	if r.Start == 0 || r.Start > r.BeginBy || r.WorkStart != r.BeginBy || r.End < r.WorkStart {
		t.Errorf("settled as %+v", r)
	}
}

// With a host's clock that is 30 s ahead of Slurm's, a job is neither cancelled before its
// deadline nor left without the time that its work needs.
func liveClockAhead(t *testing.T, c *cluster.Cluster) {
	l := startLiveAs(t, c, "root", 30*time.Second)
	p := l.promise("alice", l.Paced(38*time.Second), api.PlanRequest{
		Job: workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 120}, Prob: .7, OnMiss: api.OnMissCancel,
	})
	// no node is free from now on
	l.run("bob", "sbatch", "--nodes=2", "--exclusive", "--output=/dev/null", "--time=60", "--wrap=sleep 3600")
	job := l.submit("alice", p, "true")
	l.eventually("the job is cancelled", func() bool {
		shown := l.run("alice", "scontrol", "--oneliner", "show", "job", job)
		if !strings.Contains(shown, "JobState=PENDING") {
			return true
		}
		if time.Now().Unix() < p.BeginBy-1 && strings.Contains(shown, "TimeLimit=00:02:00") {
			t.Fatalf("before its deadline, %d, the job has the limit of the work alone: %s", p.BeginBy, shown)
		}
		return false
	})
	if now := time.Now().Unix(); now < p.BeginBy {
		t.Errorf("cancelled %d s before the deadline", p.BeginBy-now)
	}
	if r := l.awaitState("alice", job, api.StateMissed); !strings.Contains(r.Note, "cancelled, as asked for") {
		t.Errorf("%+v", r)
	}
	health := service{Keeper: l.daemon.keeper, daemon: l.daemon}.Health(t.Context())
	if !health.OK || len(health.Notes) != 1 || !strings.Contains(health.Notes[0], "ahead of Slurm's") {
		t.Errorf("health %+v", health)
	}
}

// Forty jobs of bob, promised as jobs that may run on any node and submitted for one that is
// taken, all miss their promises. What alice may be promised hardly changes.
func liveHostileUser(t *testing.T, c *cluster.Cluster) {
	l := startLive(t, c)
	const promises = 40
	taken := l.run("bob", "sbatch", "--parsable", "--nodelist=node1", "--exclusive", "--output=/dev/null", "--time=60", "--wrap=sleep 3600")
	l.eventually("node1 is taken", func() bool { return strings.Contains(l.run("bob", "squeue", "--noheader", "--format=%T"), "RUNNING") })
	budget := int64(l.Paced(30 * time.Second).Seconds())
	// prob returns what alice may be promised for a start within the budget.
	prob := func() float64 {
		now := l.daemon.clock.now()
		var est [1]workload.Estimate
		r := workload.Request{User: "alice", Account: "phys", Partition: "main", QOS: "normal", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 60}
		l.daemon.outlook.Forecast(r, now, []workload.Candidate{{Submit: now, Limit: 60, Budget: budget}}, est[:])
		return est[0].Prob
	}
	before := prob()

	var jobs []string
	var last int64 // of the deadlines
	for range promises {
		p := l.reserve("bob", l.Paced(time.Minute))
		jobs = append(jobs, l.submit("bob", p, "true", "--nodelist=node1"))
		last = p.BeginBy
	}
	for _, job := range jobs {
		l.awaitState("bob", job, api.StatePending)
	}
	time.Sleep(time.Until(time.Unix(last+2, 0)))
	l.run("bob", "scancel", taken)
	for _, job := range jobs {
		l.awaitState("bob", job, api.StateMissed)
	}
	l.eventually("varqd has seen that the queue is empty", func() bool {
		waiting, running := l.daemon.outlook.Queue()
		return waiting+running == 0
	})
	if after := prob(); before < .7 || after < before-.03 {
		t.Errorf("alice may be promised %.3f, and %.3f after bob's missed promises", before, after)
	}
	l.reserve("alice", l.Paced(40*time.Second))
}

// While a node is drained, nothing is promised that only both can do. When it is back, all is as
// before.
func liveDrained(t *testing.T, c *cluster.Cluster) {
	l := startLive(t, c)
	prob := func(nodes int32) float64 {
		now := l.daemon.clock.now()
		var est [1]workload.Estimate
		r := workload.Request{User: "alice", Account: "phys", Partition: "main", QOS: "normal", Size: workload.Size{Nodes: nodes, CPUs: 4 * nodes}, Limit: 60}
		l.daemon.outlook.Forecast(r, now, []workload.Candidate{{Submit: now, Limit: 60, Budget: 3600}}, est[:])
		return est[0].Prob
	}
	if one, both := prob(1), prob(2); one < .7 || both < .7 {
		t.Fatalf("one node may be promised with %.3f, both with %.3f", one, both)
	}
	l.run("root", "scontrol", "update", "nodename=node2", "state=drain", "reason=test")
	l.eventually("both nodes are not promised", func() bool { return prob(2) < .05 })
	if one := prob(1); one < .7 {
		t.Errorf("while one node is drained, the other may be promised with %.3f", one)
	}
	l.run("root", "scontrol", "update", "nodename=node2", "state=resume")
	l.eventually("both nodes are promised again", func() bool { return prob(2) > .7 })
}

// liveNodes: varqd sees what happens to the nodes, and when it starts again what has happened.
func liveNodes(t *testing.T, c *cluster.Cluster) {
	l := startLive(t, c)
	state := func() health.State {
		for _, s := range l.daemon.nodes.Nodes() {
			if s.Node == "node2" {
				return s.State
			}
		}
		return ""
	}
	l.eventually("node2 is up", func() bool { return state() == health.Up })
	l.run("root", "scontrol", "update", "nodename=node2", "state=down", "reason=fans are broken")
	l.eventually("node2 is down", func() bool { return state() == health.Down })
	l.run("root", "scontrol", "update", "nodename=node2", "state=resume")
	l.eventually("node2 is up again", func() bool { return state() == health.Up })
	l.eventually("node2 is the riskiest", func() bool {
		list, err := (service{daemon: l.daemon}).Nodes(t.Context(), "root")
		return err == nil && list.Failures == 1 && list.Nodes[0].Name == "node2" && list.Nodes[0].Risk > list.Nodes[1].Risk && list.Nodes[0].State == "up"
	})
	l.stop()
	file, err := statefile.Open(l.config.Ledger.Path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Exec(`UPDATE fault_rounds SET at = at - 100000, round = json_set(round, '$.at', at - 100000)`); err != nil {
		t.Fatal(err)
	}
	file.Close()
	l.start()
	l.eventually("node2 is up after a restart", func() bool { return state() == health.Up })
	l.eventually("what was forecast a day ago is scored, as accounting tells what happened", func() bool {
		c, err := (service{foretold: foretold{Store: l.daemon.rounds}}).NodesCalibration(t.Context(), api.NodesCalibrationQuery{})
		return err == nil && len(c.Rows) > 0 && c.Rows[0].Forecasts == 2 && c.Rows[0].Failed == 0
	})
	past, _, err := l.daemon.pastOfNodes(t.Context(), 0)
	var m health.Monitor
	if events := m.Observe(past, nil, l.daemon.clock.now()); err != nil || len(events) != 1 || events[0].Node != "node2" || events[0].Kind != fault.Failure {
		t.Errorf("%+v, %v, of %+v", events, err, past)
	}
}

// Ends are scored as Slurm's accounting tells them, also those of jobs that ended while varqd was
// away. A job that was requeued has not ended.
func liveEnds(t *testing.T, c *cluster.Cluster) {
	l := startLive(t, c)
	submit := func(work string, args ...string) string {
		return l.run("alice", "sbatch", append([]string{"--parsable", "--output=/dev/null", "--time=60", "--wrap=" + work}, args...)...)
	}
	shortly, endShortly := l.gate("shortly")
	away, endAway := l.gate("away")
	first := submit(shortly)
	submit(shortly, "--begin=now+4")
	last := submit(away, "--dependency=afterok:"+first)
	requeued, cancelled := submit("sleep 1000", "--requeue"), submit("sleep 1000")
	scored := func(forecaster string) int {
		c, err := (selfscore.Reader{Scores: l.daemon.scores, Now: l.daemon.clock.now}).Rows(t.Context(), api.CalibrationQuery{Forecaster: forecaster})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range c.Rows {
			return r.Forecasts
		}
		return 0
	}
	l.eventually("the waits of all but the last are scored", func() bool { return scored("blend") == 4 })
	endShortly()
	l.eventually("the wait of the last is scored", func() bool { return scored("blend") == 5 })
	l.stop()
	l.run("alice", "scontrol", "requeue", requeued)
	l.run("alice", "scancel", cancelled)
	endAway()
	l.eventually("the last has ended", func() bool {
		return strings.Contains(l.run("alice", "scontrol", "--oneliner", "show", "job", last), "JobState=COMPLETED")
	})
	l.start()
	l.eventually("nothing is left to be scored", func() bool {
		open, err := l.daemon.scores.UnscoredJobs(t.Context())
		return err == nil && len(open) == 0
	})
	if n := scored("completion"); n != 4 {
		t.Errorf("%d ends are scored, of 4", n)
	}
}
