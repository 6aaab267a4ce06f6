package munge

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// start runs a munged of the test's own, as the test's user.
func start(t *testing.T) Munge {
	t.Helper()
	munged, err := exec.LookPath("munged")
	if err != nil {
		if munged = "/usr/sbin/munged"; !exists(munged) {
			t.Skip("munge is not installed")
		}
	}
	dir, err := os.MkdirTemp("/run", "varq-munge-") // munged refuses folders that others can write
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(file("key"), make([]byte, 64), 0o600); err != nil {
		t.Fatal(err)
	}
	m := Munge{Socket: file("socket")}
	cmd := exec.Command(munged, "--foreground", "--force", "--key-file="+file("key"), "--socket="+m.Socket,
		"--pid-file="+file("pid"), "--seed-file="+file("seed"), "--log-file="+file("log"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for deadline := time.Now().Add(5 * time.Minute); !exists(m.Socket); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("munged makes no socket")
		}
	}
	return m
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestCredential(t *testing.T) {
	m := start(t)
	ctx := t.Context()
	payload := []byte("one\n\ntwo\x00\xff")
	cred, err := m.Encode(ctx, payload)
	if err != nil {
		t.Fatal(err)
	}
	uid, got, err := m.Decode(ctx, cred)
	if err != nil || int(uid) != os.Getuid() || string(got) != string(payload) {
		t.Fatalf("uid %d, payload %q, %v", uid, got, err)
	}
	for name, bad := range map[string]string{
		"replayed": cred,
		"forged":   cred[:20] + "AAAA" + cred[24:],
		"empty":    "",
		"no MUNGE": "hello",
		"long":     string(make([]byte, maxCredential+1)),
	} {
		if _, _, err := m.Decode(ctx, bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (Munge{Socket: "/nowhere"}).Encode(ctx, payload); err == nil || errors.Is(err, ErrInvalid) {
		t.Errorf("without munged: %v", err)
	}
	if _, _, err := (Munge{Socket: "/nowhere"}).Decode(ctx, cred); err == nil || errors.Is(err, ErrInvalid) {
		t.Errorf("without munged: %v", err)
	}
}
