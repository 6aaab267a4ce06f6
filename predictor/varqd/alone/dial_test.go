package alone

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// A process that comes no further, or does not even say what it does, is not waited for for ever.
func TestStuck(t *testing.T) {
	folder, err := os.MkdirTemp("", "stuck") // whose path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	at := Place{Folder: folder, Socket: filepath.Join(folder, "sock")}
	if err := os.WriteFile(pidOf(folder), []byte("4711\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", at.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	stopped := pace{say: 50 * time.Millisecond, step: time.Hour}
	if _, err := (User{}).dial(t.Context(), at, stopped, func(string) {}); err == nil || err.Error() != "your own forecaster does not answer within 50ms: end it by 'kill -9 4711', and ask again" {
		t.Error(err)
	}
	s := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(api.Health{Notes: []string{"asks Slurm for its nodes"}})
	})}
	go s.Serve(l)
	defer s.Close()
	hangs := pace{say: time.Minute, step: 50 * time.Millisecond}
	if _, err := (User{}).dial(t.Context(), at, hangs, func(string) {}); err == nil || !strings.HasPrefix(err.Error(), "your own forecaster asks Slurm for its nodes, and has come no further for 50ms: ask again later, or end it by 'kill 4711'") {
		t.Error(err)
	}
}
