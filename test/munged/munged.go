// Package munged runs a private munged for a test.
package munged

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Nobody is the user id of a user without rights.
const Nobody = 65534

// Start runs a munged as the test's user until the test ends, and returns the path of its
// socket, which every user may use. It skips the test where there is no munged, or no folder
// for it.
func Start(t testing.TB) (socket string) {
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
	socket = file("socket")
	cmd := exec.Command(munged, "--foreground", "--force", "--key-file="+file("key"), "--socket="+socket,
		"--pid-file="+file("pid"), "--seed-file="+file("seed"), "--log-file="+file("log"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for deadline := time.Now().Add(5 * time.Minute); !exists(socket); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("munged makes no socket")
		}
	}
	return socket
}

// EncodeAs returns a credential that another user has made. It skips the test if the test's
// own user is not root.
func EncodeAs(t testing.TB, socket string, uid uint32, payload []byte) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	cmd := exec.Command("munge", "--socket="+socket)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	cmd.Stdin = bytes.NewReader(payload)
	cmd.Dir = "/"
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
