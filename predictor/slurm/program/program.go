// Package program runs Slurm's commands. It bounds their run time and the length of their output.
package program

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/slurm"
)

// maxOutput is the largest output that is read, in bytes.
const maxOutput = 64 << 20

// Output runs the program at path, or on the PATH, with env added to the environment, and returns
// what it prints. It ends the program when ctx ends. The error wraps slurm.ErrUnavailable if the
// program fails, and slurm.ErrTooMuch if it prints more than 64 MiB. It names the program without
// its options, which may be long.
func Output(ctx context.Context, path string, env []string, args ...string) ([]byte, error) {
	return output(ctx, maxOutput, path, env, args...)
}

func output(ctx context.Context, most int64, path string, env []string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = time.Second
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var stderr message
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", slurm.ErrUnavailable, err)
	}
	out, readErr := io.ReadAll(io.LimitReader(stdout, most+1))
	tooMuch := int64(len(out)) > most
	if tooMuch {
		cancel()
	}
	err = cmd.Wait()
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // which says more than "signal: killed"
	}
	isOption := func(arg string) bool { return strings.HasPrefix(arg, "-") }
	name := strings.Join(append([]string{filepath.Base(path)}, slices.DeleteFunc(slices.Clone(args), isOption)...), " ")
	switch {
	case tooMuch:
		return nil, fmt.Errorf("%s: it prints more than %d bytes: %w", name, most, slurm.ErrTooMuch)
	case err != nil:
		says := bytes.TrimSpace(stderr)
		if len(says) > 0 {
			says = append([]byte(": "), says...)
		}
		return nil, fmt.Errorf("%w: %s: %w%.202s", slurm.ErrUnavailable, name, err, says)
	}
	return out, readErr
}

// message keeps the beginning of what is written to it.
type message []byte

func (m *message) Write(p []byte) (int, error) {
	*m = append(*m, p[:min(len(p), 1024-len(*m))]...)
	return len(p), nil
}
