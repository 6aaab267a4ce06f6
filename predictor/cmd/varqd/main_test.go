package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMain is varqd itself where a test starts it.
func TestMain(m *testing.M) {
	if os.Getenv("VARQD_TEST") != "" {
		os.Exit(run())
	}
	os.Exit(m.Run())
}

// A hangup does not end varqd, but has it read its policy anew. One with an error is told, with its
// line, and is not taken.
func TestHangup(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "varq.yaml")
	configure := func(policy string) {
		text := fmt.Sprintf("slurmrestd: {url: unix:///%[1]s/nobody}\nserver: {socket: %[1]s/s, listen: \"\"}\nledger: {path: %[1]s/ledger.db}\nhistory: {path: %[1]s/history.db}\n%s", dir, policy)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	configure("")
	varqd := exec.Command(os.Args[0], "--config="+path)
	varqd.Env = append(os.Environ(), "VARQD_TEST=1")
	out, in := io.Pipe()
	varqd.Stderr = in
	if err := varqd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = varqd.Process.Kill() }()
	log := bufio.NewScanner(out)
	until := func(what string) {
		t.Helper()
		for log.Scan() {
			if strings.Contains(log.Text(), what) {
				return
			}
		}
		t.Fatalf("varqd does not say %q", what)
	}
	ended := make(chan error, 1)
	go func() { ended <- varqd.Wait(); in.Close() }()
	until("msg=listening")
	configure("policy:\n- {name: pilot, reserve: no}\n")
	if err := varqd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	until(`msg="the policy is read anew" rules=1`)
	configure("policy:\n- {name: pilot, max_prob: 2}\n")
	if err := varqd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	until(path + ":6: policy[0].max_prob: 2 does not lie between 0 and 1")
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if err := varqd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("stopped by SIGTERM: %v", err)
	}
}
