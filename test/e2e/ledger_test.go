package e2e

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// TestLedgerBackup: backups that are made while users make promises are whole. What one of them had
// is followed and settled once it is restored after a kill; what was promised later stays an
// ordinary job.
func TestLedgerBackup(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{History: site.Calm(time.Now().Unix())})
	// varqd's folder is the only one in which its user may write.
	path := func(name string) string { return s.Path("varq", name) }
	promises := regexp.MustCompile(`promises +(\d+), of which (\d+) are open`)
	file, _ := script(t, s, "ledger", "", "sleep 1")
	submit := func(args ...string) int64 {
		id, _, err := s.Submit(t.Context(), "alice", append(args, "--prob=0.6", "--time=5", file)...)
		if err != nil {
			t.Error(err)
		}
		return id
	}
	const users, each = 3, 8
	var loading sync.WaitGroup
	for range users {
		loading.Go(func() {
			for range each {
				submit("--begin-by=now+6hours")
			}
		})
	}
	before := int64(0)
	for i := range 5 {
		to := path("load-" + strconv.Itoa(i) + ".db")
		r := mustRun(t, s, "varq", "varq", "ledger", "backup", to)
		got := promises.FindStringSubmatch(r.Stdout)
		if got == nil || !strings.Contains(r.Stdout, "whole     yes") {
			t.Fatalf("%q", r.Stdout)
		}
		n, _ := strconv.ParseInt(got[1], 10, 64)
		if n < before {
			t.Errorf("%d promises after %d", n, before)
		}
		before = n
	}
	loading.Wait()

	// One is ended by its user after the backup, and one is promised after it.
	kept := submit("--begin-by=now+6hours")
	cancelled := submit("--begin-by=now+6hours")
	eventually(t, "varqd knows the jobs", func() bool {
		_, err := s.Reservation(t.Context(), "alice", cancelled)
		_, other := s.Reservation(t.Context(), "alice", kept)
		return err == nil && other == nil
	})
	backup := path("backup.db")
	mustRun(t, s, "varq", "varq", "ledger", "backup", backup)
	later := submit("--begin-by=now+6hours")
	mustRun(t, s, "alice", "scancel", strconv.FormatInt(cancelled, 10))
	if _, err := s.WaitSettled(t.Context(), "alice", cancelled, api.StateCancelled); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Run(t.Context(), "varq", "varq", "ledger", "restore", backup); err != nil || r.Code == 0 || !strings.Contains(r.Stderr, "varqd runs; stop it before: systemctl stop varqd") {
		t.Errorf("restored while varqd runs: %+v, %v", r, err)
	}
	if r, err := s.Run(t.Context(), "root", "varq", "ledger", "backup", path("root.db")); err != nil || r.Code == 0 || !strings.Contains(r.Stderr, "runuser -u varq -- varq ledger backup") {
		t.Errorf("root's backup: %+v, %v", r, err)
	}
	if err := s.KillVarqd(); err != nil {
		t.Fatal(err)
	}
	out := mustRun(t, s, "varq", "varq", "ledger", "restore", backup).Stdout
	aside := regexp.MustCompile(`^what was there is now (.*)\n`).FindStringSubmatch(out)
	if aside == nil {
		t.Fatalf("%q", out)
	}
	if err := s.StartVarqd(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.WaitSettled(t.Context(), "alice", cancelled, api.StateCancelled); err != nil {
		t.Errorf("what was settled after the backup: %v", err)
	}
	if r, err := s.Reservation(t.Context(), "alice", kept); err != nil || r.State != api.StatePending {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := s.Reservation(t.Context(), "alice", later); err == nil {
		t.Error("what was promised after the backup is known")
	}
	if job, err := s.Job(t.Context(), later); err != nil || job["JobState"] != "PENDING" {
		t.Errorf("%+v, %v", job, err)
	}
	got := promises.FindStringSubmatch(mustRun(t, s, "varq", "varq", "ledger", "check", aside[1]).Stdout)
	if n := strconv.Itoa(users*each + 3); got == nil || got[1] != n {
		t.Errorf("aside there are %v promises, want %s", got, n)
	}
	if info, err := os.Stat(path("ledger.db")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
