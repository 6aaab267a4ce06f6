package daemon

import (
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// heard is what has been told to systemd.
type heard struct {
	mu   sync.Mutex
	told map[string]bool
}

// hear makes the environment of a unit with a watchdog, and listens in systemd's place until the
// test ends.
func hear(t *testing.T) *heard {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "20000")
	h := &heard{told: map[string]bool{}}
	go func() {
		buffer := make([]byte, 256)
		for {
			n, err := conn.Read(buffer)
			if err != nil {
				return
			}
			h.mu.Lock()
			h.told[string(buffer[:n])] = true
			h.mu.Unlock()
		}
	}()
	return h
}

func (h *heard) has(text string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.told[text]
}

// await waits until text has been told.
func (h *heard) await(t *testing.T, text string) {
	t.Helper()
	for began := time.Now(); !h.has(text); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > patient {
			t.Fatalf("waiting for %s", text)
		}
	}
}

func TestNotify(t *testing.T) {
	systemd := hear(t)
	c := testConfig(t)
	asking, stop := run(t, c, &fakeSlurm{past: quick(100)})
	eventually(t, asking, well)
	systemd.await(t, "READY=1")
	systemd.await(t, "WATCHDOG=1")
	if systemd.has("STOPPING=1") {
		t.Error("stopping unasked")
	}
	stop()
	systemd.await(t, "STOPPING=1")
}
