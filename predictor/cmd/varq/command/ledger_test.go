package command

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/statefile"
)

// toyLedger returns a ledger with two promises, of which one was taken back.
var toyLedger = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "varq")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ledger.db")
	file, err := statefile.Open(path)
	if err != nil {
		return nil, err
	}
	l := ledger.New(file)
	for i, id := range []string{"aaaaaaaaaaaa", "bbbbbbbbbbbb"} {
		r := &api.Reservation{Plan: api.Plan{ID: id, BeginBy: now + 3600}, User: "alice", Promised: now + int64(i)}
		if err := l.Promise(context.Background(), r, 0); err != nil {
			return nil, err
		}
	}
	if err := l.Settle(context.Background(), "bbbbbbbbbbbb", ledger.Settlement{At: now + 60, Outcome: api.StateCancelled}); err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// The ledger is its owner's alone, who is told.
func TestLedgerOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("giving a file away needs root")
	}
	dir := t.TempDir()
	path, conf := filepath.Join(dir, "ledger.db"), filepath.Join(dir, "varq.yaml")
	for name, text := range map[string]string{path: "", conf: "ledger: {path: " + path + "}\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(path, 1, 1); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"backup", "to.db"}, {"check"}, {"restore", "from.db"}} {
		var stderr strings.Builder
		env := Env{Env: cli.Env{Stdout: &stderr, Stderr: &stderr, Zone: time.UTC, Now: func() int64 { return now }, Getenv: func(name string) string {
			if name == "VARQ_CONFIG" {
				return conf
			}
			return ""
		}}}
		want := "varq: " + path + " belongs to daemon, as whom this has to run: runuser -u daemon -- varq ledger " + strings.Join(args, " ") + "\n"
		if code := Run(append([]string{"ledger"}, args...), env); code != ExitFailed || stderr.String() != want {
			t.Errorf("exit code %d, %q, want %q", code, stderr.String(), want)
		}
	}
}
