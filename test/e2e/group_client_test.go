package e2e

import (
	"bytes"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// groupClientKilled: a client that is killed when its home has confirmed a job, and the other site
// has not, leaves the group as it is by then. Of --any-of the job that is confirmed runs; of
// --all-of none does. The other is cancelled, has missed nothing, and uses no limit.
func groupClientKilled(t *testing.T, sites map[string]*site.Site) {
	thorough.Only(t)
	alpha, beta := sites["alpha"], sites["beta"]
	filler := fill(t, alpha)
	for _, options := range [][]string{either(alpha), together(alpha)} {
		kind := options[0]
		r, script := newRace(t, sites, "killed"+kind)
		killBeforeConfirmed(t, r, append(options, "--patience="+alpha.Paced(30e9).String(), "--", "sbatch", "--job-name="+r.name, script))
		job := map[string]int64{}
		for name, s := range sites {
			job[name] = only(t, s, r.name)
		}
		if got := settled(t, beta, "alice", job["beta"], api.StateCancelled); !strings.Contains(got.Note, "not confirmed in time") {
			t.Errorf("%s: the job at beta: %q", kind, got.Note)
		}
		if used := decode[api.Limits](t, mustRun(t, beta, "alice", "varq", "limits", "--json").Stdout); used.Open != 0 {
			t.Errorf("%s: at beta are used %+v", kind, used)
		}
		want, runs := api.StateCancelled, 0
		if kind == "--any-of" {
			if left := jobs(t, alpha, "alice", r.name); len(left) != 1 {
				t.Fatalf("alpha has the jobs %v", left)
			}
			mustRun(t, alpha, "root", "scancel", filler)
			want, runs = api.StateKept, 1
		}
		if got := settled(t, alpha, "alice", job["alpha"], want); runs == 0 && !strings.HasSuffix(got.Note, " at beta was cancelled") {
			t.Errorf("%s: the job at alpha: %q", kind, got.Note)
		}
		r.over()
		if starts := r.starts(); len(starts["alpha"]) != runs || len(starts["beta"]) != 0 {
			t.Errorf("%s: the work ran at %v", kind, starts)
		}
	}
}

// only returns alice's only job of that name in a site's queue.
func only(t *testing.T, s *site.Site, name string) int64 {
	t.Helper()
	found := jobs(t, s, "alice", name)
	if len(found) != 1 {
		t.Fatalf("%s has the jobs %v", s.Name, found)
	}
	id, err := strconv.ParseInt(found[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// killBeforeConfirmed runs varq reserve at alpha, and kills it when alpha has confirmed its job,
// and beta has not yet. It repeats that while a slow machine promises nothing.
func killBeforeConfirmed(t *testing.T, r *race, args []string) {
	t.Helper()
	alpha := r.sites["alpha"]
	proxy, asked := holdConfirmations(t, r.sites["beta"].Address())
	text, err := os.ReadFile(alpha.Config())
	if err != nil {
		t.Fatal(err)
	}
	config := alpha.Config() + ".proxy"
	if err := os.WriteFile(config, bytes.ReplaceAll(text, []byte(r.sites["beta"].Address()), []byte(proxy)), 0o644); err != nil {
		t.Fatal(err)
	}
	for killed := false; !killed; {
		client := alpha.Prepare(t.Context(), "alice", "varq", append([]string{"reserve", "--clusters=all"}, args...)...)
		client.Env = append(client.Env, "VARQ_CONFIG="+config)
		var out bytes.Buffer
		client.Stdout, client.Stderr = &out, &out
		if err := client.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() { ended <- client.Wait() }()
		select {
		case <-asked:
			eventually(t, "alpha has confirmed its job", func() bool {
				got, err := alpha.Reservation(t.Context(), "alice", only(t, alpha, r.name))
				return err == nil && slices.ContainsFunc(got.Events, func(e api.Event) bool { return e.Text == "confirmed" })
			})
			if err := client.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			<-ended
			killed = true
		case err := <-ended:
			if client.ProcessState.ExitCode() != 1 {
				t.Fatalf("%v: %s", err, &out)
			}
			t.Logf("again: %s", &out)
		}
	}
}

// holdConfirmations listens for the clients of the varqd at an address, and lets everything through
// but confirmations, of which it tells and which it keeps for ever.
func holdConfirmations(t *testing.T, address string) (proxy string, asked <-chan struct{}) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	held := make(chan struct{})
	var once sync.Once
	serve := func(client net.Conn) {
		defer client.Close()
		varqd, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		defer varqd.Close()
		go func() { _, _ = io.Copy(client, varqd) }()
		for buffer := make([]byte, 64<<10); ; {
			n, err := client.Read(buffer)
			if err != nil {
				return
			}
			if bytes.HasPrefix(buffer[:n], []byte("POST "+api.PathConfirm)) {
				once.Do(func() { close(held) })
				_, _ = io.Copy(io.Discard, client)
				return
			}
			if _, err := varqd.Write(buffer[:n]); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(client)
		}
	}()
	return listener.Addr().String(), held
}
