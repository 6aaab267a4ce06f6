package trace

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

// sacctOutput has a job.
const sacctOutput = `JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|TimelimitRaw|ReqTRES|AllocTRES
12|bob|chem|main|normal|FAILED|1795000060|1795000060|1795000065|1795000125|60|cpu=4,node=1|cpu=4,node=1
`

// TestInterrupted: an interrupt also ends sacct, whose output then looks complete. The
// command must still fail.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := &flags{output: filepath.Join(dir, "site.swf")}
	err := f.run(ctx, &cli.Env{Zone: time.UTC}, "sacct", strings.NewReader(sacctOutput))
	if !errors.Is(err, cli.ErrInterrupted) {
		t.Errorf("an interrupted command ends in %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}
