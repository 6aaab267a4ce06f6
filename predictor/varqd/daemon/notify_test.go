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
	heard := make(map[string]bool)
	c := testConfig(t)
	asking, stop := run(t, c, &fakeSlurm{past: quick(100)})
	eventually(t, asking, well)
	time.AfterFunc(100*time.Millisecond, stop)
	for _, want := range []string{"READY=1", "WATCHDOG=1", "STOPPING=1"} {
		for !heard[want] {
			buffer := make([]byte, 64)
			conn.SetReadDeadline(time.Now().Add(5 * time.Second))
			n, err := conn.Read(buffer)
			if err != nil {
				t.Fatalf("waiting for %s: %v", want, err)
			}
			heard[string(buffer[:n])] = true
		}
	}
	if heard["STOPPING=1"] && !heard["READY=1"] {
		t.Error("stopping before ready")
	}
}
