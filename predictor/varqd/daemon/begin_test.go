package daemon

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"
)

// A daemon whose files take long to be opened tells systemd that it is alive, and can be stopped.
func TestBegin(t *testing.T) {
	systemd := hear(t)
	let, begun := make(chan struct{}), make(chan struct{})
	defer close(let)
	open := func() (*Daemon, error) {
		close(begun)
		<-let
		return nil, errors.New("opened")
	}
	ctx, stop := context.WithCancel(t.Context())
	tick, done := make(chan time.Time), make(chan error)
	go func() {
		_, err := begin(ctx, open, tick, slog.New(slog.DiscardHandler))
		done <- err
	}()
	<-begun
	tick <- time.Time{}
	for _, sign := range []string{openingMore, "WATCHDOG=1", "STATUS=" + opening} {
		systemd.await(t, sign)
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// What opening comes to is what beginning comes to.
func TestBeginReturns(t *testing.T) {
	want, failed := &Daemon{}, errors.New("the disk is full")
	for _, err := range []error{nil, failed} {
		d, got := begin(t.Context(), func() (*Daemon, error) { return want, err }, nil, slog.New(slog.DiscardHandler))
		if d != want || !errors.Is(got, err) {
			t.Error(d, got)
		}
	}
}

// Files that do not close keep no daemon from ending.
func TestCloseWithin(t *testing.T) {
	let := make(chan struct{})
	d, failed := &Daemon{}, errors.New("no room")
	d.cleanups.add("ledger", func() error { return failed })
	if err := d.closeWithin(t.Context()); !errors.Is(err, failed) {
		t.Error(err)
	}
	d.cleanups.add("ledger", func() error { <-let; return nil })
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.closeWithin(over); !errors.Is(err, errUnended) {
		t.Error(err)
	}
	close(let)
}
