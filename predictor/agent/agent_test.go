package agent

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// TestRun: agents begin at different times, send at uneven distances, less often while varqd does
// not answer, and then say what is so now. The log has a line when trouble begins, and one when it
// ends.
func TestRun(t *testing.T) {
	const interval = 5 * time.Minute
	now := time.Unix(1_800_000_000, 0)
	began := now
	var pauses []time.Duration
	var sent []int64
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	Run(ctx, Options{
		Node: "n1", Interval: interval, Reader: Reader{Root: tree(t, node)}, Rand: rand.New(rand.NewPCG(1, 2)),
		Now: func() time.Time { return now },
		Pause: func(ctx context.Context, d time.Duration) bool {
			pauses = append(pauses, d)
			now = now.Add(d)
			return ctx.Err() == nil
		},
		Send: func(_ context.Context, v api.Vitals) error {
			sent = append(sent, v.At)
			if v.Node != "n1" || len(v.Signals) < 10 || v.At != now.Unix() {
				t.Errorf("%+v", v)
			}
			switch n := len(sent); {
			case n == 20:
				cancel()
			case n > 3 && n <= 12:
				return errors.New("varqd is not reachable")
			}
			return nil
		},
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if pauses[0] > first || pauses[0] == 0 || len(sent) != 20 {
		t.Errorf("it begins after %v, and sends %d times in %v", pauses[0], len(sent), now.Sub(began))
	}
	for i, pause := range pauses[1:] {
		most := interval
		if i >= 3 && i < 12 {
			most = min(interval<<(i-2), longest)
		}
		if pause > most || pause < most*4/5 {
			t.Errorf("pause %d is %v, want at most %v", i, pause, most)
		}
	}
	if len(slices.Compact(slices.Sorted(slices.Values(pauses)))) < len(pauses) {
		t.Errorf("pauses are alike: %v", pauses)
	}
	if lines := strings.Count(log.String(), "\n"); lines != 2 || !strings.Contains(log.String(), "failures=9") {
		t.Errorf("the log is %s", log.String())
	}
}

// TestNothing: where nothing can be measured, nothing is sent, and that is said once.
func TestNothing(t *testing.T) {
	var log bytes.Buffer
	rounds := 0
	Run(t.Context(), Options{
		Node: "n1", Interval: time.Minute, Reader: Reader{Root: t.TempDir()}, Rand: rand.New(rand.NewPCG(1, 2)), Now: time.Now,
		Pause: func(context.Context, time.Duration) bool { rounds++; return rounds < 5 },
		Send:  func(context.Context, api.Vitals) error { t.Error("something is sent"); return nil },
		Log:   slog.New(slog.NewTextHandler(&log, nil)),
	})
	if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "nothing can be measured") {
		t.Error(log.String())
	}
}

func TestPause(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if !Pause(ctx, time.Nanosecond) {
		t.Error("a pause ends too early")
	}
	cancel()
	if Pause(ctx, time.Hour) {
		t.Error("a pause outlasts its context")
	}
}
