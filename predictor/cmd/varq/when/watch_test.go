package when

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/varqd/client"
)

// What goes wrong for a moment is told, and the watch goes on until its user ends it.
func TestWatchGoesOn(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	var stdout, stderr strings.Builder
	env := &cli.Env{Stdout: &stdout, Stderr: &stderr}
	answers := []error{
		nil,
		fmt.Errorf("%w: connection refused", client.ErrUnreachable),
		api.Fault(api.ErrUnavailable, "varqd is still loading history"),
		errors.New("varqd answers what is\nnot an answer"),
		nil,
	}
	asked := 0
	err := watch(ctx, env, time.Millisecond, func(context.Context) error {
		asked++
		if asked > len(answers) {
			interrupt()
			return context.Cause(ctx)
		}
		return answers[asked-1]
	})
	if !errors.Is(err, cli.ErrInterrupted) || asked != len(answers)+1 {
		t.Errorf("asked %d times, then %v", asked, err)
	}
	want := `varq: varqd is not reachable: connection refused; varq asks again in 1ms
varq: varqd is still loading history; varq asks again in 1ms
varq: varqd answers what is
not an answer; varq asks again in 1ms
`
	if stderr.String() != want {
		t.Errorf("it says %q, want %q", &stderr, want)
	}
	if stdout.String() != "\n\n" {
		t.Errorf("between answers is %q", &stdout)
	}
}

// A watch that is interrupted while it pauses ends at once.
func TestWatchInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	var stdout strings.Builder
	shown := make(chan struct{})
	go func() {
		<-shown
		interrupt()
	}()
	err := watch(ctx, &cli.Env{Stdout: &stdout}, time.Hour, func(context.Context) error {
		close(shown)
		return nil
	})
	if !errors.Is(err, cli.ErrInterrupted) {
		t.Error(err)
	}
}

// What does not pass by itself ends a watch.
func TestWatchEnds(t *testing.T) {
	for _, lasting := range []error{
		api.Fault(api.ErrInvalid, "jobs: 101 are more than 100"),
		api.Fault(api.ErrForbidden, "root asks nothing"),
		fmt.Errorf("%w: %w", client.ErrUnreachable, fs.ErrPermission),
		fmt.Errorf("write: %w", syscall.EPIPE),
	} {
		asked := 0
		err := watch(t.Context(), new(cli.Env), time.Millisecond, func(context.Context) error {
			asked++
			return lasting
		})
		if !errors.Is(err, lasting) || asked != 1 {
			t.Errorf("%v: asked %d times, then %v", lasting, asked, err)
		}
	}
}
