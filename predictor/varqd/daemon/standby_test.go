package daemon

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/statefile"
)

// A daemon that stands by takes over, with all its promises, the ledger of one that ends.
func TestStandBy(t *testing.T) {
	systemd := hear(t)
	c := testConfig(t)
	asking, stop := run(t, c, &fakeSlurm{past: quick(1000)})
	eventually(t, asking, well)
	promised, err := asking.Plan(t.Context(), planRequest())
	if err != nil || promised.Plan == nil {
		t.Fatalf("%+v, %v", promised, err)
	}
	systemd.await(t, "READY=1")

	type standing struct {
		d   *Daemon
		err error
	}
	done := make(chan standing, 1)
	go func() {
		d, err := StandBy(t.Context(), Options{Config: c, Slurm: &fakeSlurm{past: quick(1000)}, Log: slog.New(slog.DiscardHandler)})
		done <- standing{d, err}
	}()
	systemd.await(t, "STATUS=stands by for another varqd")
	systemd.await(t, "WATCHDOG=1")
	if h, err := asking.Health(t.Context()); err != nil || !h.OK {
		t.Errorf("the active one, while another stands by: %+v, %v", h, err)
	}
	stop()
	s := <-done
	if s.err != nil {
		t.Fatal(s.err)
	}
	systemd.await(t, "STATUS=has taken over")
	serve(t, s.d)
	eventually(t, asking, well)
	if list, err := asking.Reservations(t.Context(), api.ReservationsQuery{}); err != nil || len(list) != 1 || list[0].ID != promised.Plan.ID {
		t.Errorf("after it has taken over: %+v, %v", list, err)
	}
}

// A daemon that stands by can be stopped, and is not ready to begin a ledger where the file system
// of the promises is not mounted.
func TestStandByEnds(t *testing.T) {
	c := testConfig(t)
	o := Options{Config: c, Slurm: &fakeSlurm{}, Log: slog.New(slog.DiscardHandler)}
	if _, err := StandBy(t.Context(), o); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "once without --standby") {
		t.Errorf("without a ledger: %v", err)
	}
	if left, err := filepath.Glob(c.Ledger.Path + "*"); err != nil || len(left) > 0 {
		t.Errorf("%q is left, %v", left, err)
	}
	if err := os.WriteFile(c.Ledger.Path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	release, err := statefile.Lock(c.Ledger.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := StandBy(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped while it stands by: %v", err)
	}
	if err := Main(ctx, c, Reload{}, true, os.Stderr); err != nil {
		t.Errorf("Main, stopped while it stands by: %v", err)
	}
}
