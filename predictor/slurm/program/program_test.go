package program

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/slurm"
)

func TestOutput(t *testing.T) {
	out, err := Output(t.Context(), "sh", []string{"WORD=hello"}, "-c", "echo $WORD")
	if string(out) != "hello\n" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	for name, c := range map[string]struct {
		path, script, want string
		kind               error
	}{
		"fails":      {"sh", "echo no database >&2; exit 3", "no answer from Slurm: sh echo no database >&2; exit 3: exit status 3: no database", slurm.ErrUnavailable},
		"is missing": {"/nonexistent/sh", "", "/nonexistent/sh: no such file", slurm.ErrUnavailable},
		"is endless": {"sh", "while :; do echo events; done", "it prints more than 1000 bytes", slurm.ErrTooMuch},
		"complains":  {"sh", "yes no database | head -c 100000 >&2; exit 3", "exit status 3: no database", slurm.ErrUnavailable},
	} {
		if _, err := output(t.Context(), 1000, c.path, nil, "-c", c.script); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 400 {
			t.Errorf("a program that %s: %v", name, err)
		}
	}
}

// TestEnd: a program that hangs ends with its context.
func TestEnd(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Output(ctx, "sleep", nil, "3600"); !errors.Is(err, slurm.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}
