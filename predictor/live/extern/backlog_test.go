package extern

import (
	"context"
	"testing"

	"github.com/varq-project/varq/predictor/live/extern/forecasterpb"
)

func TestBacklog(t *testing.T) {
	e := &forecasterpb.Event{}
	done, cancel := context.WithCancel(context.Background())
	cancel()

	b := newBacklog()
	if !b.add(e) || len(b.next()) != 0 {
		t.Error("takes in events while it is closed")
	}
	b.reopen()
	if !b.wait(done) {
		t.Error("waits without a reason")
	}
	for range maxBatch + 1 {
		b.add(e)
	}
	if b.wait(done) {
		t.Error("does not wait")
	}
	if b.wait(context.Background()) {
		t.Error("waits again after it was in vain")
	}
	<-b.more
	if n := len(b.next()); n != maxBatch {
		t.Errorf("a batch of %d", n)
	}
	b.add(e)
	b.sent()
	if n := len(b.next()); n != 2 {
		t.Errorf("%d are left, want 2", n)
	}
	b.sent()
	if len(b.next()) > 0 || !b.wait(done) {
		t.Error("is not empty")
	}

	for range maxBacklog {
		if !b.add(e) {
			t.Fatal("is full too soon")
		}
	}
	if b.add(e) {
		t.Error("is never full")
	}
	b.next()
	b.close()
	b.sent()
	if len(b.next()) > 0 || !b.wait(done) {
		t.Error("remembers after it was closed")
	}
}

// TestBacklogWakes waits while events are sent.
func TestBacklogWakes(t *testing.T) {
	b := newBacklog()
	b.reopen()
	for range 100 {
		b.add(&forecasterpb.Event{})
		woken := make(chan bool)
		go func() { woken <- b.wait(context.Background()) }()
		b.next()
		b.sent()
		if !<-woken {
			t.Fatal("waited in vain")
		}
	}
}
