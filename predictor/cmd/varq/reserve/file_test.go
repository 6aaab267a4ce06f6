package reserve

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/varq-project/varq/predictor/varqd/broker"
)

// Who waits for a file that never ends can interrupt that.
func TestFileInterrupted(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readBounded(ctx, fifo); !errors.Is(err, broker.ErrInterrupted) {
		t.Error(err)
	}
}

func TestHeterogeneous(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	for name, text := range map[string]string{one: "#!/bin/sh\n#SBATCH -N1\necho hetjob\n", two: "#!/bin/sh\n#SBATCH -N1\n#SBATCH hetjob\n#SBATCH -N2\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		command []string
		words   int
		want    bool
	}{
		{[]string{"sbatch", "-N1", one}, 1, false},
		{[]string{"sbatch", "-N1", one, ":"}, 2, false},
		{[]string{"sbatch", "--wrap=true"}, 0, false},
		{[]string{"sbatch", "-N1", two}, 1, true},
		{[]string{"sbatch", "-N1", ":", "-N1", one}, 1, true},
		{[]string{"sbatch", "-N1", ":", "-N1", one}, 3, true},
	} {
		if got := heterogeneous(c.command, c.words, scriptOf(c.command, c.words)); got != c.want {
			t.Errorf("%q: %v", c.command, got)
		}
	}
}
