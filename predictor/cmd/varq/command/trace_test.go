package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// TestTraceInterrupted: an interrupt also ends sacct, whose output then looks complete. The
// command must still fail.
func TestTraceInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	env := Env{Env: cli.Env{Zone: time.UTC}}
	err := env.trace(ctx, "sacct", strings.NewReader(sacctOutput), &traceFlags{output: filepath.Join(dir, "site.swf")})
	if !errors.Is(err, cli.ErrInterrupted) {
		t.Errorf("an interrupted command ends in %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}
