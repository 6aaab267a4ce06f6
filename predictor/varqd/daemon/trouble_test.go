package daemon

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/cluster"
)

// faultyProxy stands between varqd and slurmrestd, and answers {} while empty is set.
type faultyProxy struct {
	*httptest.Server
	empty atomic.Bool
}

func newFaultyProxy(t *testing.T, to string) *faultyProxy {
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	p := &faultyProxy{}
	pass := httputil.NewSingleHostReverseProxy(target)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.empty.Load() {
			io.WriteString(w, "{}")
			return
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

// plan asks for a plan as alice, and returns what she reads instead, or "".
func (l *live) plan() string {
	_, err := ask(l.t, l.config).Plan(l.t.Context(), api.PlanRequest{Job: planRequest().Job, BeginBy: time.Now().Unix() + 3600, Prob: .7})
	if err != nil {
		return err.Error()
	}
	return ""
}

// awaitHealth waits until varqd's health says text among its problems.
func (l *live) awaitHealth(text string) {
	l.t.Helper()
	l.eventually("varqd's health says "+text, func() bool {
		h := service{Keeper: l.daemon.keeper, daemon: l.daemon}.Health(l.t.Context())
		return !h.OK && strings.Contains(strings.Join(h.Problems, "\n"), text)
	})
}

func (l *live) awaitWell() {
	l.t.Helper()
	l.eventually("varqd is well", func() bool { return service{Keeper: l.daemon.keeper, daemon: l.daemon}.Health(l.t.Context()).OK })
}

// wantPlan fails the test unless a plan is refused with text, or is made if text is empty.
func (l *live) wantPlan(text string) {
	l.t.Helper()
	if got := l.plan(); text == "" && got != "" || !strings.Contains(got, text) {
		l.t.Errorf("who asks for a plan reads %q, want %q", got, text)
	}
}

// liveTrouble has what goes wrong at a site, one after the other: nothing of it is quiet.
func liveTrouble(t *testing.T, c *cluster.Cluster) {
	l := startLiveAs(t, c, "varq", 0)
	proxy := newFaultyProxy(t, l.RestURL())
	l.stop()
	l.config.Slurmrestd.URL = proxy.URL
	l.start()

	t.Run("empty answers", func(*testing.T) {
		proxy.empty.Store(true)
		l.awaitHealth(`queue: read the queue: slurmrestd: GET /slurm/`)
		l.awaitHealth(`limits: read the cluster's limits: slurmrestd: GET /slurm/`)
		l.awaitHealth(`it has no field "partitions"`)
		l.wantPlan("") // what was read before still holds
		proxy.empty.Store(false)
		l.awaitWell()
	})

	t.Run("rights", func(t *testing.T) {
		l.run("root", "sacctmgr", "-i", "modify", "user", "varq", "set", "adminlevel=none")
		l.awaitHealth("rights: Slurm does not let varq change jobs")
		l.wantPlan("varqd has not the rights of an operator in Slurm")
		if !strings.Contains(metrics(t, l.config.Server.Socket), `varq_problem{part="rights"} 1`) {
			t.Error("the metrics do not tell")
		}
		l.run("root", "sacctmgr", "-i", "modify", "user", "varq", "set", "adminlevel=operator")
		l.awaitWell()
		l.wantPlan("")
	})

	t.Run("a ledger that vanished", func(t *testing.T) {
		job := l.submit("alice", l.reserve("alice", 3*time.Hour), "true")
		l.awaitState("alice", job, api.StatePending)
		l.stop()
		ledgers, err := filepath.Glob(l.config.Ledger.Path + "*")
		if err != nil || len(ledgers) == 0 {
			t.Fatal(ledgers, err)
		}
		for _, path := range ledgers {
			if err := os.Rename(path, filepath.Join(t.TempDir(), filepath.Base(path))); err != nil {
				t.Fatal(err)
			}
		}
		l.launch()
		l.awaitHealth("ledger: " + l.config.Ledger.Path + " does not know the promises of 1 jobs in the queue")
		l.run("alice", "scancel", job)
		l.awaitWell()
	})

	t.Run("a full disk", func(t *testing.T) {
		l.stop()
		disk := t.TempDir()
		if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
			t.Fatal(err)
		}
		defer syscall.Unmount(disk, syscall.MNT_DETACH)
		if out, err := exec.Command("dd", "if=/dev/zero", "of="+disk+"/other", "bs=64k").CombinedOutput(); err == nil {
			t.Fatalf("the disk is not full: %s", out)
		}
		before := l.config.History.Path
		l.config.History.Path = filepath.Join(disk, "history.db")
		l.start()
		notes := service{Keeper: l.daemon.keeper, daemon: l.daemon}.Health(t.Context()).Notes
		if len(notes) != 1 || !strings.HasPrefix(notes[0], "the history is in memory") {
			t.Errorf("notes %q", notes)
		}
		l.wantPlan("")
		if !strings.Contains(metrics(t, l.config.Server.Socket), "varq_history_in_memory 1") {
			t.Error("the metrics do not tell")
		}
		l.config.History.Path = before
	})

	t.Run("a disk that fills under the ledger", func(t *testing.T) {
		l.stop()
		disk := t.TempDir()
		if err := errors.Join(syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=2m"), os.Chmod(disk, 0o755)); err != nil {
			t.Fatal(err)
		}
		defer syscall.Unmount(disk, syscall.MNT_DETACH)
		before := l.config.Ledger.Path
		l.config.Ledger.Path = filepath.Join(disk, "ledger.db")
		l.start()
		held := l.reserve("alice", 3*time.Hour)
		job := l.submit("alice", held, "true")
		l.awaitState("alice", job, api.StatePending)
		filler := filepath.Join(disk, "other")
		if out, err := exec.Command("dd", "if=/dev/zero", "of="+filler, "bs=4k").CombinedOutput(); err == nil {
			t.Fatalf("the disk is not full: %s", out)
		}
		promised := []string{held.ID}
		asks := api.PlanRequest{Job: planRequest().Job, Prob: .5, BestEffort: true}
		// until then SQLite has some pages of its own left
		l.eventually("varqd tells that the disk is full", func() bool {
			asks.BeginBy = time.Now().Add(6 * time.Hour).Unix()
			answer, err := ask(t, l.config).Plan(t.Context(), asks)
			switch {
			case answer.Plan != nil:
				promised = append(promised, answer.Plan.ID)
				return false
			case err == nil:
				t.Fatalf("not promised: %+v", answer.Refusal)
			case !strings.Contains(err.Error(), "the promise could not be written down, so none is made"):
				t.Error(err)
			}
			h := service{Keeper: l.daemon.keeper, daemon: l.daemon}.Health(t.Context())
			return strings.Contains(strings.Join(h.Problems, " "), "disk: "+l.config.Ledger.Path+": the file cannot be written")
		})
		l.run("alice", "scancel", job)
		looks := func() (n float64) { // at the whole queue, or at alice's job alone
			text := metrics(t, l.config.Server.Socket)
			for _, read := range []string{readQueue, readReservations} {
				// there may be none yet
				count, _ := strconv.ParseFloat(metric(text, `varq_look_seconds_count{read="`+read+`"} `), 64)
				n += count
			}
			return n
		}
		first := looks()
		l.eventually("varqd looks at the job", func() bool { return looks() >= first+2 })
		entries, err := l.daemon.ledger.Select(t.Context(), ledger.Query{})
		if err != nil {
			t.Fatal(err)
		}
		var written []string
		for i := range entries {
			written = append(written, entries[i].ID)
		}
		slices.Sort(written)
		slices.Sort(promised)
		if !slices.Equal(written, promised) {
			t.Errorf("promised %v, and on disk are %v", promised, written)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		l.awaitState("alice", job, api.StateCancelled)
		l.awaitWell()
		l.wantPlan("")
		l.config.Ledger.Path = before
	})

	t.Run("slurmdbd comes later", func(t *testing.T) {
		l.stop()
		if err := l.StopDaemon(cluster.Slurmdbd); err != nil {
			t.Fatal(err)
		}
		l.launch()
		l.awaitHealth("limits: ")
		l.wantPlan("slurmdbd")
		if err := l.StartDaemon(t.Context(), cluster.Slurmdbd); err != nil {
			t.Fatal(err)
		}
		l.awaitWell()
		all := workload.Claim{Request: workload.Request{Partition: "main", Size: workload.Size{Nodes: 8, CPUs: 10_000}, Limit: 3600}}
		all.Start = time.Now().Unix()
		all.From = all.Start
		one := workload.Claim{Request: workload.Request{Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 60}, From: all.From}
		if room := l.daemon.outlook.Room(one.Place(), 0, all.From, []workload.Claim{all})(one, 0); room.Prob != 0 {
			t.Errorf("beside a job that takes all CPUs there is room with probability %v", room.Prob)
		}
	})

	t.Run("slurmrestd is down", func(t *testing.T) {
		l.stop()
		if err := os.Remove(l.config.History.Path); err != nil {
			t.Fatal(err)
		}
		if err := l.StopDaemon(cluster.Slurmrestd); err != nil {
			t.Fatal(err)
		}
		l.config.Slurmrestd.URL = l.RestURL()
		l.launch()
		l.awaitHealth("slurmrestd does not answer varqd")
		l.wantPlan("slurmrestd does not answer varqd")
		if err := l.StartDaemon(t.Context(), cluster.Slurmrestd); err != nil {
			t.Fatal(err)
		}
		l.awaitWell()
	})
}
