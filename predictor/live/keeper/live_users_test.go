package keeper

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/test/cluster"
)

// settled looks until the job's reservation is settled.
func (l *lab) settled(job int64) api.Reservation {
	l.t.Helper()
	_, r := l.lookUntil(job, func(_ slurm.QueueEntry, r api.Reservation) bool {
		return slices.Contains(api.SettledStates, r.State)
	})
	return r
}

// wait waits until the clock shows a later time than at.
func wait(at int64) {
	for !passed(at + 1) {
		time.Sleep(100 * time.Millisecond)
	}
}

// A user who ends her salloc or srun while its nodes idle has cancelled the reservation, whatever
// state Slurm gives the job.
func liveInteractive(t *testing.T, c *cluster.Cluster) {
	l := newLab(t, c, "slurm")
	l.outlook.Delay = 600
	for _, test := range []struct{ command, end string }{{"salloc", "0"}, {"salloc", "3"}, {"salloc", "HUP"}, {"srun", "HUP"}} {
		p := l.promise(600*time.Second, "") // eligible at once
		file := filepath.Join(l.JobDir(), p.ID)
		cmd := l.Command(t.Context(), "alice", "sh", "-c", `echo $$ >"$0.pid"; exec "$@"`, file,
			test.command, "--nodes=1", "--job-name="+p.ID, "--comment="+p.Comment, "--time="+strconv.FormatInt(p.TimeLimit/60, 10),
			"sh", "-c", `until [ -e "$0" ]; do sleep .1; done; exit $(cat "$0")`, file)
		l.must(cmd.Start())
		var job int64
		for job == 0 {
			job, _ = strconv.ParseInt(l.run("alice", "squeue", "--noheader", "--name="+p.ID, "--format=%A"), 10, 64)
		}
		l.lookUntil(job, func(_ slurm.QueueEntry, r api.Reservation) bool { return r.State == api.StateHolding })
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		if test.end == "HUP" {
			l.hangUp(file+".pid", ended)
		} else {
			l.must(os.WriteFile(file, []byte(test.end), 0o644))
			<-ended // it fails because its job fails
		}
		if r := l.settled(job); r.State != api.StateCancelled || !strings.Contains(r.Note, "ended by its user") {
			runs, err := l.slurm.Accounted(t.Context(), job)
			t.Errorf("%s, ended by %s: %s, %q; %+v, %v", test.command, test.end, r.State, r.Note, runs, err)
		}
	}
}

// hangUp sends the signal HUP to alice's command, whose number is in a file, until it has ended: it
// may come too early, before the command heeds it.
func (l *lab) hangUp(file string, ended <-chan error) {
	l.t.Helper()
	pid, err := os.ReadFile(file)
	l.must(err)
	for {
		// the command may have ended meanwhile
		_ = l.Command(l.t.Context(), "alice", "kill", "-HUP", strings.TrimSpace(string(pid))).Run()
		select {
		case <-ended:
			return
		case <-time.After(2 * time.Second):
		}
	}
}

// A job that Slurm ends because of the job's own --deadline is settled, even if it never started.
func liveDeadline(t *testing.T, c *cluster.Cluster) {
	l := newLab(t, c, "slurm")
	// no node is free
	l.run("alice", "sbatch", "--nodes=2", "--exclusive", "--output=/dev/null", "--wrap=sleep 3600")
	// eligible at once
	job, _ := l.reserve(600*time.Second, "")
	l.look(job)
	l.run("root", "scontrol", "update", fmt.Sprintf("job=%d", job), "Deadline=now+60seconds")
	if r := l.settled(job); r.State != api.StateCancelled || r.Start != 0 || !strings.Contains(r.Note, "its own --deadline") {
		t.Errorf("settled as %+v", r)
	}
}

// If a user lets her job start now, she has moved it, even if it starts before the keeper looks.
func liveStartNow(t *testing.T, c *cluster.Cluster) {
	l := newLab(t, c, "slurm")
	job, p := l.reserve(time.Hour, "")
	l.look(job)
	l.run("alice", "scontrol", "update", fmt.Sprintf("job=%d", job), "StartTime=now")
	for {
		if j, err := l.slurm.Job(t.Context(), job); err == nil && j.Start != 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if _, r := l.look(job); r.State != api.StateHolding || !strings.Contains(r.Note, "the begin time was changed") || r.Set.BeginTime >= p.BeginTime {
		t.Errorf("reservation %+v", r)
	}
	l.run("alice", "scancel", strconv.FormatInt(job, 10))
}

// What is shown of a job that its user has changed is up to date at the look that sees the change.
func liveStatus(t *testing.T, c *cluster.Cluster) {
	l := newLab(t, c, "slurm")
	job, p := l.reserve(time.Hour, "")
	if _, r := l.look(job); forecastOf(&r) < p.Prob {
		t.Fatalf("promised %+v, reservation %+v", p, r)
	}
	begin := time.Now().Add(2 * time.Hour).Unix()
	for _, test := range []struct {
		command []string
		ok      func(api.Reservation) bool
	}{
		{[]string{"update", "TimeLimit=44"}, func(r api.Reservation) bool { return r.Set.TimeLimit == 44*60 && forecastOf(&r) >= p.Prob }},
		{[]string{"update", "NumNodes=2"}, func(r api.Reservation) bool { return r.Nodes == 2 && r.CPUs == 2 }},
		{[]string{"update", "StartTime=" + time.Unix(begin, 0).Format("2006-01-02T15:04:05")}, func(r api.Reservation) bool {
			return r.Set.BeginTime == begin && r.Eligible == begin && forecastOf(&r) == 0
		}},
		{[]string{"update", "StartTime=" + time.Unix(p.BeginTime, 0).Format("2006-01-02T15:04:05")}, func(r api.Reservation) bool {
			return r.Set.BeginTime == p.BeginTime && forecastOf(&r) >= p.Prob
		}},
		{[]string{"hold"}, func(r api.Reservation) bool { return r.Now == nil && r.Rescue == nil }},
	} {
		args := []string{test.command[0], fmt.Sprintf("job=%d", job)}
		if test.command[0] == "hold" {
			args[1] = strconv.FormatInt(job, 10)
		}
		l.run("alice", "scontrol", append(args, test.command[1:]...)...)
		if _, r := l.look(job); !r.Yielded || !test.ok(r) {
			t.Errorf("after %v: reservation %+v", test.command, r)
		}
	}
	l.run("alice", "scancel", strconv.FormatInt(job, 10))
}

// If its user has held a job beyond its begin time, the job is not cancelled, even if she has
// released it before the deadline.
func liveReleased(t *testing.T, c *cluster.Cluster) {
	l := newLab(t, c, "slurm")
	// no node is free
	l.run("alice", "sbatch", "--nodes=2", "--exclusive", "--output=/dev/null", "--wrap=sleep 3600")
	var job int64
	var p *api.Plan
	l.InTime(t, 10*time.Second, func(lead time.Duration) bool {
		job, p = l.reserveAtOnce(lead, api.OnMissCancel)
		id := strconv.FormatInt(job, 10)
		l.run("alice", "scontrol", "hold", id)
		l.look(job)
		wait(p.BeginTime)
		// fails if that look was late, and cancelled the job
		_ = l.Command(t.Context(), "alice", "scontrol", "release", id).Run()
		if passed(p.BeginBy) {
			l.cancel(job)
			return false
		}
		return true
	})
	j, r := l.lookUntil(job, func(slurm.QueueEntry, api.Reservation) bool { return passed(p.BeginBy + 2*course.Skew) })
	if j.ID == 0 || r.State != api.StatePending {
		t.Errorf("job %+v, reservation %+v", j, r)
	}
}

// If Slurm cannot launch a job, and so holds it, its user has not held it. The job is not
// cancelled, and the promise is missed.
func liveLaunchFails(t *testing.T, c *cluster.Cluster, broken string) {
	if err := os.WriteFile(broken, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(broken)
	l := newLab(t, c, "slurm")
	var job int64
	var p *api.Plan
	l.InTime(t, 10*time.Second, func(lead time.Duration) bool {
		job, p = l.reserveAtOnce(lead, api.OnMissCancel)
		held := func(r api.Reservation) bool { return strings.Contains(r.Note, "held by Slurm (launch failed") }
		_, r := l.lookUntil(job, func(_ slurm.QueueEntry, r api.Reservation) bool { return held(r) || passed(p.BeginBy) })
		if !held(r) {
			l.cancel(job)
			// Slurm drains a node whose prolog fails
			l.run("root", "scontrol", "update", "NodeName=node[1-2]", "State=RESUME")
		}
		return held(r)
	})
	j, r := l.lookUntil(job, func(slurm.QueueEntry, api.Reservation) bool { return passed(p.BeginBy + 2*course.Skew) })
	if j.ID == 0 || r.State != api.StatePending || r.Yielded {
		t.Errorf("job %+v, reservation %+v", j, r)
	}
	l.run("root", "scancel", strconv.FormatInt(job, 10))
	if r := l.settled(job); r.State != api.StateMissed || !strings.Contains(r.Note, "held by Slurm") {
		t.Errorf("settled %+v", r)
	}
}

// Many jobs that are cancelled at once are settled soon.
func liveManyGone(t *testing.T, c *cluster.Cluster) {
	const rounds, jobs = 6, 100 // a user has at most 100 promises without a job
	l := newLab(t, c, "slurm")
	look := func() {
		at := time.Now().Unix()
		queue, err := l.slurm.Queue(t.Context())
		l.must(err)
		l.must(l.Watch(t.Context(), look.New(queue, at)))
	}
	file := filepath.Join(l.JobDir(), "comments")
	for range rounds {
		var comments strings.Builder
		for range jobs {
			comments.WriteString(l.promise(2*time.Hour, "").Comment + "\n")
		}
		l.must(os.WriteFile(file, []byte(comments.String()), 0o644))
		l.run("alice", "sh", "-c", `while read -r c; do sbatch --quiet --output=/dev/null --time=13 --begin=now+6600 --comment="$c" --wrap=true || exit; done <"$0"`, file)
		look()
	}
	entries, err := l.Ledger.Select(t.Context(), ledger.Query{Open: true})
	l.must(err)
	if entries = slices.DeleteFunc(entries, func(e ledger.Entry) bool { return e.Job == 0 }); len(entries) != rounds*jobs {
		t.Fatalf("%d promises have a job", len(entries))
	}
	first := slices.MinFunc(entries, func(a, b ledger.Entry) int { return cmp.Compare(a.Job, b.Job) }).Job
	l.run("root", "scancel", "--user=alice")
	const cancelled = 4
	for ended := ""; ended != strconv.Itoa(rounds*jobs); time.Sleep(200 * time.Millisecond) {
		var err error
		ended, err = l.Query(t.Context(), "SELECT COUNT(*) FROM lab_job_table WHERE id_job >= %d AND state = %d AND time_end != 0", first, cancelled)
		l.must(err)
		ended = strings.TrimSpace(ended)
	}
	// otherwise the queue may have been read before the last jobs were submitted
	wait(time.Now().Unix() + course.Skew)
	began := time.Now()
	looks := 0
	for open := true; open; looks++ {
		if time.Since(began) > cluster.Patience {
			t.Fatalf("promises are open after %d looks", looks)
		}
		look()
		open, err = l.Ledger.AnyOpen(t.Context())
		l.must(err)
	}
	t.Logf("%d looks took %v", looks, time.Since(began)) // two, unless accounting was slow
}

// While an operator has suspended a job, its work does not begin, although it has its nodes. The
// promise is kept if the job goes on before the deadline, and missed otherwise.
func liveSuspended(t *testing.T, c *cluster.Cluster) {
	l := newLab(t, c, "slurm")
	for _, test := range []struct {
		until string // until when the job is suspended
		state string
		note  string
	}{
		{"before the deadline", api.StateKept, ""},
		{"after the deadline", api.StateMissed, "resumed"},
		{"the end", api.StateMissed, "suspended"},
	} {
		l.InTime(t, 15*time.Second, func(lead time.Duration) bool {
			job, p := l.reserveAtOnce(lead, "")
			id := strconv.FormatInt(job, 10)
			if !l.seenHolding(job, p) {
				return false
			}
			l.run("root", "scontrol", "suspend", id)
			j, r := l.look(job)
			if test.state == api.StateKept {
				l.run("root", "scontrol", "resume", id)
			}
			if passed(p.BeginBy) {
				l.cancel(job)
				return false
			}
			if r.State != api.StateHolding || !strings.Contains(r.Note, "suspended") {
				t.Fatalf("the deadline is %d; job %+v, reservation %+v", p.BeginBy, j, r)
			}
			if test.state == api.StateMissed {
				wait(p.BeginBy + course.Skew)
				if _, r := l.look(job); r.State != api.StateHolding || r.WorkStart != 0 {
					t.Errorf("until %s: after the deadline, while it is suspended: %+v", test.until, r)
				}
			}
			if test.until == "after the deadline" {
				l.run("root", "scontrol", "resume", id)
			}
			if test.until != "the end" {
				l.lookUntil(job, func(_ slurm.QueueEntry, r api.Reservation) bool { return r.State == api.StateRunning })
				wait(p.BeginBy + course.Skew)
			}
			l.run("alice", "scancel", id)
			if r := l.settled(job); r.State != test.state || !strings.Contains(r.Note, test.note) {
				t.Errorf("suspended until %s: %s, %q; %+v", test.until, r.State, r.Note, r)
			}
			return true
		})
	}
}
