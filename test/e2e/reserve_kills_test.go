package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/broker"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

var (
	kills    = flag.Int("kills", 12, "`number` of kills of TestReserveKills")
	killSeed = flag.Uint64("kill-seed", 16, "what TestReserveKills draws its kills from")
)

// moment is when a kill happens, as far as the client can be seen from outside: it runs sbatch
// twice, first to read what the job needs, and then to submit it.
type moment int

const (
	beforeAll moment = iota
	describing
	probing
	submitting
	confirming
	afterAll
	moments
)

func (m moment) String() string {
	return [...]string{"before", "reading the job", "probe", "sbatch", "confirm", "after"}[m]
}

// killRound is one request, and who was killed meanwhile.
type killRound struct {
	id     string
	victim string
	moment moment
	site   *site.Site // the victim's, nil if it is the client
	long   bool       // the victim comes back when the client has ended
	prefer string
	kind   string        // of the group that is asked for, "" for a single job
	ahead  time.Duration // of the clock that is wrong

	began, ended time.Time
	out          broker.Outcome      // of a single job
	group        broker.GroupOutcome // of a group
	code         int
	stderr       string
	clientKilled bool
	ctldKilled   time.Time // at site
	struck       time.Time // when the victim was, and
	healed       time.Time // when it was well again
}

func (r *killRound) String() string {
	where := ""
	if r.site != nil {
		where = " of " + r.site.Name
	}
	if r.ahead != 0 {
		where += fmt.Sprintf(" by %+.0f s", r.ahead.Seconds())
	}
	return fmt.Sprintf("%s%s: %s%s at %q, long %v, prefer %s: %s in %.1f s", r.kind, r.id, r.victim, where, r.moment, r.long, r.prefer, r.outcome(), r.ended.Sub(r.began).Seconds())
}

// outcome is what the client has said.
func (r *killRound) outcome() string {
	switch {
	case r.code == 0 && (r.out.Taken != nil || r.group.Group != ""):
		return "reserved"
	case r.clientKilled || r.code < 0: // by a signal
		return "killed"
	case strings.Contains(r.stderr, "nobody knows whether it is reserved"):
		return "doubt"
	case strings.HasPrefix(r.stderr, "varq") || r.code == 1:
		return "refused"
	}
	return "other"
}

// victim has what kills it, and what brings it back.
type victim struct {
	name       string
	kill, heal func(t *testing.T, r *killRound, client *exec.Cmd)
}

var victims = []victim{
	{"varqd killed", killVarqd, startVarqd},
	{"varqd stopped", func(_ *testing.T, r *killRound, _ *exec.Cmd) { _ = syscall.Kill(r.site.VarqdPID(), syscall.SIGSTOP) },
		func(_ *testing.T, r *killRound, _ *exec.Cmd) { _ = syscall.Kill(r.site.VarqdPID(), syscall.SIGCONT) }},
	{"slurmctld killed", killSlurm(cluster.Slurmctld), startSlurm},
	{"slurmrestd killed", killSlurm(cluster.Slurmrestd), startSlurm},
	{"site killed", func(t *testing.T, r *killRound, c *exec.Cmd) {
		killVarqd(t, r, c)
		killSlurm(cluster.Slurmctld)(t, r, c)
		killSlurm(cluster.Slurmrestd)(t, r, c)
	}, func(t *testing.T, r *killRound, c *exec.Cmd) {
		startSlurm(t, r, c)
		startVarqd(t, r, c)
	}},
	{"munged killed", killSlurm(cluster.Munged), startSlurm},
	{"munged stopped", signalSlurm(cluster.Munged, syscall.SIGSTOP), signalSlurm(cluster.Munged, syscall.SIGCONT)},
	{wrongClock, func(t *testing.T, r *killRound, c *exec.Cmd) { setClock(t, r, c, r.ahead) }, func(t *testing.T, r *killRound, c *exec.Cmd) { setClock(t, r, c, 0) }},
	{"client killed", func(_ *testing.T, r *killRound, client *exec.Cmd) { r.signal(client, syscall.SIGKILL) }, nil},
	{"client interrupted", func(_ *testing.T, r *killRound, client *exec.Cmd) { r.signal(client, syscall.SIGINT) }, nil},
	{"client's sbatch killed", func(_ *testing.T, _ *killRound, client *exec.Cmd) {
		if pid := sbatchOf(client.Process.Pid); pid != 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}, nil},
}

func killVarqd(t *testing.T, r *killRound, _ *exec.Cmd) {
	if err := r.site.KillVarqd(); err != nil {
		t.Error(err)
	}
}

func startVarqd(t *testing.T, r *killRound, _ *exec.Cmd) {
	if err := r.site.StartVarqd(t.Context()); err != nil {
		t.Error(err)
	}
}

// wrongClock is the victim varqd that is told another time than its host's for the whole request.
const wrongClock = "varqd's clock wrong"

// setClock starts varqd again, with its clock ahead by so much.
func setClock(t *testing.T, r *killRound, client *exec.Cmd, ahead time.Duration) {
	killVarqd(t, r, client)
	r.site.SetAhead(ahead)
	startVarqd(t, r, client)
}

func signalSlurm(d cluster.Daemon, sig syscall.Signal) func(*testing.T, *killRound, *exec.Cmd) {
	return func(t *testing.T, r *killRound, _ *exec.Cmd) {
		if err := r.site.SignalDaemon(d, sig); err != nil {
			t.Error(err)
		}
	}
}

func killSlurm(d cluster.Daemon) func(*testing.T, *killRound, *exec.Cmd) {
	return func(t *testing.T, r *killRound, _ *exec.Cmd) {
		if d == cluster.Slurmctld {
			r.ctldKilled = time.Now()
		}
		if err := r.site.KillDaemon(d); err != nil {
			t.Error(err)
		}
	}
}

func startSlurm(t *testing.T, r *killRound, _ *exec.Cmd) {
	for _, d := range []cluster.Daemon{cluster.Munged, cluster.Slurmctld, cluster.Slurmrestd} {
		if err := r.site.StartDaemon(t.Context(), d); err != nil && !strings.Contains(err.Error(), "runs already") {
			t.Error(err)
		}
	}
}

// signal signals the client, if it runs.
func (r *killRound) signal(client *exec.Cmd, sig syscall.Signal) {
	if client != nil && client.Process.Signal(sig) == nil && sig == syscall.SIGKILL {
		r.clientKilled = true
	}
}

// sbatchOf returns the process's child that is sbatch, or 0.
func sbatchOf(pid int) int {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range lists {
		text, _ := os.ReadFile(name)
		for child := range strings.FieldsSeq(string(text)) {
			if comm, _ := os.ReadFile("/proc/" + child + "/comm"); strings.TrimSpace(string(comm)) == "sbatch" {
				child, _ := strconv.Atoi(child)
				return child
			}
		}
	}
	return 0
}

// await waits until the client is at a moment or has ended.
func await(m moment, pid int, ended <-chan struct{}) {
	at, ran := describing, false
	for at < m {
		select {
		case <-ended:
			return
		case <-time.After(time.Millisecond):
		}
		if now := sbatchOf(pid) != 0; now != ran {
			ran = now
			if at++; at == probing && now { // it has begun to read the job
				at--
			}
		}
	}
}

// do runs the request, with its kill.
func (r *killRound) do(t *testing.T, random *rand.Rand, client *exec.Cmd) {
	v := victims[slices.IndexFunc(victims, func(v victim) bool { return v.name == r.victim })]
	outage := time.Duration(random.Int64N(int64(3 * time.Second)))
	within := time.Duration(random.Int64N([...]int64{1, 4e7, 6e7, 1e8, 2e7, 2e9}[r.moment]))
	var stdout, stderr bytes.Buffer
	client.Stdout, client.Stderr = &stdout, &stderr
	if r.moment == beforeAll {
		r.struck = time.Now()
		v.kill(t, r, nil)
	}
	r.began = time.Now()
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = client.Wait() // its state tells
		r.ended = time.Now()
		close(ended)
	}()
	if r.moment != beforeAll {
		if r.moment == afterAll {
			<-ended
		} else {
			await(r.moment, client.Process.Pid, ended)
		}
		time.Sleep(within)
		r.struck = time.Now()
		v.kill(t, r, client)
	}
	if r.long {
		<-ended
	}
	time.Sleep(outage)
	if v.heal != nil {
		v.heal(t, r, client)
	}
	r.healed = time.Now()
	<-ended
	r.code, r.stderr = client.ProcessState.ExitCode(), stderr.String()
	if stdout.Len() > 0 {
		var answer any = &r.out
		if r.kind != "" {
			answer = &r.group
		}
		if err := json.Unmarshal(stdout.Bytes(), answer); err != nil && !r.clientKilled {
			t.Errorf("%v: %v in %s", r, err, &stdout)
		}
	}
}

// TestReserveKills: whoever is killed, whenever that is, a request has the one job that its client
// was told of, or none. For many kills: go test ./test/e2e -run TestReserveKills -kills=100
// -kill-seed=7.
func TestReserveKills(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 2)
	alpha, beta := twoSites(t, site.Options{Nodes: 4}, site.Options{Nodes: 4, VarqConf: "site: {tariff: {unit_cost: 0.5}}\n"})
	killWhileReserving(t, alpha, beta, *kills, "")
}

// TestReserveKillsByClusters: the same holds for clusters that sbatch, scontrol and scancel reach
// by --clusters.
func TestReserveKillsByClusters(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 2)
	alpha, beta := oneDatabase(t, site.Options{Nodes: 4}, site.Options{Nodes: 4, VarqConf: "site: {tariff: {unit_cost: 0.5}}\n"})
	killWhileReserving(t, alpha, beta, (*kills+1)/2, "")
}

// killWhileReserving makes a request for each of a number of kills, from alpha: of these kinds of
// groups in turn.
func killWhileReserving(t *testing.T, alpha, beta *site.Site, kills int, kinds ...string) {
	t.Helper()
	sites := []*site.Site{alpha, beta}
	random := rand.New(rand.NewPCG(*killSeed, 0))
	script, starts := killScript(t, alpha)
	var rounds []*killRound
	order := random.Perm(len(victims))
	for n := range kills {
		r := &killRound{
			id: "r" + strconv.Itoa(n+1), victim: victims[order[n%len(order)]].name, moment: moment(random.IntN(int(moments))),
			long: random.IntN(3) == 0, prefer: []string{"-cost", "cost"}[random.IntN(2)], kind: kinds[n%len(kinds)],
		}
		if strings.HasPrefix(r.victim, "client") {
			if r.moment = describing + moment(random.IntN(4)); strings.HasSuffix(r.victim, "sbatch killed") {
				r.moment = submitting
			}
		} else { // most often the site that is tried first
			first := sites[map[string]int{"-cost": 0, "cost": 1}[r.prefer]]
			if r.site = first; random.IntN(4) == 0 {
				r.site = sites[random.IntN(2)]
			}
		}
		if r.victim == wrongClock {
			r.moment, r.long = beforeAll, true
			r.ahead = time.Duration(1+random.IntN(12)) * time.Second * time.Duration(1-2*random.IntN(2))
		}
		r.ask(t, alpha, random, script)
		rounds = append(rounds, r)
	}
	left := waitQuiet(t, sites)
	judgeKills(t, sites, rounds, readStarts(t, starts), left)
}

// killScript writes the script of the jobs, at a site, and the file in which they write that they
// have started.
func killScript(t *testing.T, s *site.Site) (script, starts string) {
	t.Helper()
	script, starts = filepath.Join(s.JobDir(), "kills.sh"), filepath.Join(s.JobDir(), "kills.starts")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n#SBATCH --output=/dev/null\necho $1 $VARQ_SITE $SLURM_JOB_ID $(date +%s.%N) >>"+starts+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(starts, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(starts, 0o666); err != nil {
		t.Fatal(err)
	}
	return script, starts
}

// ask runs the request at a site, with its kill.
func (r *killRound) ask(t *testing.T, s *site.Site, random *rand.Rand, script string) {
	t.Helper()
	args := []string{"reserve", "--json",
		"--latest=" + time.Now().Add(s.Paced(time.Minute)).Format("2006-01-02T15:04:05"), "--clusters=all", "--prefer=" + r.prefer,
		"--slots=2", "--gap=5s", "--min-prob=.5", "--sizes=1:20,2:15", "--patience=" + s.Paced(5*time.Second).String()}
	args = append(args, map[string][]string{"": {"--best-effort"}, api.GroupAny: {"--any-of"}, api.GroupAll: {"--all-of"}}[r.kind]...)
	r.do(t, random, s.Prepare(t.Context(), "alice", "varq", append(args, "--", "sbatch", script, r.id)...))
	t.Log(r)
	if o := r.outcome(); o != "reserved" && o != "killed" {
		t.Logf("    exit code %d: %s%s", r.code, strings.TrimSpace(r.stderr), r.group.Why)
	}
	for _, f := range append(r.out.Tried, r.group.Failed...) {
		t.Logf("    could not be had: %s: %s", f.Site, f.Why)
	}
}

// queued is a job that is not over.
type queued struct {
	site, id, state, reason, comment string
	far                              bool // not to begin today
}

// waitQuiet waits until all jobs are over, and returns those that are not. That one has started its
// script tells.
func waitQuiet(t *testing.T, sites []*site.Site) (left []queued) {
	t.Helper()
	for end := time.Now().Add(sites[0].Paced(3 * time.Minute)); ; time.Sleep(time.Second) {
		left = nil
		for _, s := range sites {
			r, err := s.Run(t.Context(), "root", "squeue", "--noheader", "--states=PENDING,RUNNING,SUSPENDED,CONFIGURING", "--format=%i|%T|%S|%r|%k")
			if err != nil || r.Code != 0 {
				left = append(left, queued{site: s.Name, state: "nobody knows: " + r.Stderr})
			}
			for line := range strings.Lines(r.Stdout) {
				f := strings.SplitN(strings.TrimSpace(line), "|", 5)
				at, err := time.ParseInLocation("2006-01-02T15:04:05", f[2], time.Local)
				left = append(left, queued{s.Name, f[0], f[1], f[3], f[4], err == nil && time.Until(at) > 24*time.Hour})
			}
		}
		if len(left) == 0 || time.Now().After(end) {
			return left
		}
	}
}

// started are the times, in Unix seconds, at which jobs have begun their work.
type started map[string][]float64 // by "SITE JOB"

// readStarts returns what the jobs have written, by request.
func readStarts(t *testing.T, name string) map[string]started {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]started{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 4 {
			t.Fatalf("a job has written %q", line)
		}
		at, err := strconv.ParseFloat(f[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		if all[f[0]] == nil {
			all[f[0]] = started{}
		}
		all[f[0]][f[1]+" "+f[2]] = append(all[f[0]][f[1]+" "+f[2]], at)
	}
	return all
}

// forgets is for how long a slurmctld that is killed may not have saved what it did: see
// cluster.KillDaemon.
const forgets = 10 * time.Second

// forgottenStart reports whether, by accounting, the job was started just before slurmctld was
// killed, so that no node has learnt of it.
func forgottenStart(t *testing.T, sites []*site.Site, c *broker.Choice, forgotten func(site string, from, to time.Time) bool) bool {
	t.Helper()
	s := sites[slices.IndexFunc(sites, func(s *site.Site) bool { return s.Name == c.Site })]
	r, err := s.Run(t.Context(), "root", "sacct", "--noheader", "--parsable2", "--allocations", "--duplicates", "--jobs="+strconv.FormatInt(c.Job, 10), "--format=start,state,submit,end,comment")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("accounting of %s %d: %s", c.Site, c.Job, strings.TrimSpace(r.Stdout))
	for line := range strings.Lines(r.Stdout) {
		start, _, _ := strings.Cut(line, "|")
		at, err := time.ParseInLocation("2006-01-02T15:04:05", start, time.Local)
		if err == nil && forgotten(c.Site, at.Add(-time.Second), at.Add(time.Second)) {
			return true
		}
	}
	return false
}

// unheard returns whether, between two times, a varqd was down, or nobody was believed, so that a
// job could not hear when its work begins.
func unheard(rounds []*killRound) func(from, to time.Time) bool {
	return func(from, to time.Time) bool {
		return slices.ContainsFunc(rounds, func(k *killRound) bool {
			deaf := strings.HasPrefix(k.victim, "varqd") || strings.HasPrefix(k.victim, "site") || strings.HasPrefix(k.victim, "munged")
			return deaf && k.struck.Before(to) && k.healed.After(from)
		})
	}
}

// judgeKills compares what the clients have said with the jobs that have started.
func judgeKills(t *testing.T, sites []*site.Site, rounds []*killRound, starts map[string]started, left []queued) {
	t.Helper()
	counts := map[string]int{"orphans": len(left), "double starts": 0}
	for _, q := range left {
		// A slurmctld that was killed may take long to learn that a job has ended, and give a
		// number again that a node still has.
		if q.state == "RUNNING" || q.reason == "launch failed requeued held" {
			counts["orphans"]--
			t.Logf("left: %+v", q)
			continue
		}
		t.Errorf("left: %+v", q)
	}
	for _, r := range rounds {
		got := starts[r.id]
		counts[r.outcome()]++
		counts["starts"] += len(got)
		// forgotten reports whether a slurmctld was killed before it can have saved what it did
		// between two times.
		forgotten := func(name string, from, to time.Time) bool {
			return slices.ContainsFunc(rounds, func(k *killRound) bool {
				return !k.ctldKilled.IsZero() && k.site.Name == name && k.ctldKilled.After(from) && k.ctldKilled.Before(to.Add(forgets))
			})
		}
		if len(got) > 1 && r.kind != api.GroupAll {
			counts["double starts"]++
			t.Errorf("%v: %v have started", r, got)
		}
		for job, times := range got {
			name, _, _ := strings.Cut(job, " ")
			for _, at := range times[:len(times)-1] {
				if at := time.UnixMicro(int64(at * 1e6)); forgotten(name, at.Add(-time.Second), at) {
					counts["started again by a slurmctld that was killed"]++
				} else {
					t.Errorf("%v: %s has started several times: %v", r, job, times)
				}
			}
		}
		for _, f := range r.out.Tried {
			if strings.Contains(f.Why, "is cancelled, as nobody") {
				counts["cancelled without varqd"]++
			}
		}
		if r.kind == api.GroupAll && len(got) > 0 {
			judgeTogether(t, r, got, counts, forgotten, unheard(rounds))
		}
		switch r.outcome() {
		case "reserved":
			if r.kind != "" {
				judgeGroup(t, sites, r, got, counts, forgotten)
				break
			}
			job := fmt.Sprintf("%s %d", r.out.Taken.Site, r.out.Taken.Job)
			switch {
			case len(got[job]) > 0:
			case forgotten(r.out.Taken.Site, r.began, r.ended), forgottenStart(t, sites, r.out.Taken, forgotten):
				counts["forgotten by a slurmctld that was killed"]++
				t.Logf("%v: %s is forgotten", r, job)
			default:
				t.Errorf("%v: %s has not started", r, job)
			}
		case "refused":
			if len(got) > 0 {
				t.Errorf("%v: %v has started", r, got)
			}
		case "doubt", "killed":
			if len(got) > 0 {
				counts[r.outcome()+", and reserved"]++
			}
		default:
			t.Errorf("%v: exit code %d: %s", r, r.code, r.stderr)
		}
	}
	text, err := json.Marshal(counts)
	t.Logf("%d kills: %s %v", len(rounds), text, errors.Join(err))
	if counts["reserved"] < len(rounds)/4 {
		t.Error("not much is reserved")
	}
}
