package daemon

import (
	"net"
	"path/filepath"
	"testing"
	"time"
)

func TestNotify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "20000")
	c := testConfig(t)
	asking, stop := run(t, c, &fakeSlurm{past: quick(100)})
	eventually(t, asking, well)
	conn.SetReadDeadline(time.Now().Add(patient))
	heard := make(map[string]bool)
	await := func(want string) {
		for !heard[want] {
			buffer := make([]byte, 64)
			n, err := conn.Read(buffer)
			if err != nil {
				t.Fatalf("waiting for %s: %v", want, err)
			}
			heard[string(buffer[:n])] = true
		}
	}
	await("READY=1")
	await("WATCHDOG=1")
	if heard["STOPPING=1"] {
		t.Error("stopping unasked")
	}
	go stop()
	await("STOPPING=1")
}
