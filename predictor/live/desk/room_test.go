package desk

import (
	"math"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
)

// Concurrent requests are not promised more room together than there is.
func TestRoomHoldsAtOnce(t *testing.T) {
	s := newSite(t)
	s.Outlook.Rooms = 3
	granted, refusals := s.askAtOnce()
	refused := 0
	for _, no := range refusals {
		if strings.Contains(no.Reason, "too little room") {
			refused++
		}
	}
	if granted != 3 || refused != 17 {
		t.Errorf("%d granted, %d refused", granted, refused)
	}
}

// A prediction is no better than the room that running jobs leave.
func TestPredictionIsBounded(t *testing.T) {
	s := newSite(t)
	if p := s.predicted(.5); p.Bounds[0].Seconds == nil || p.Taken != 0 {
		t.Errorf("with room: %+v", p)
	}
	s.Outlook.Full = true
	if p := s.predicted(.5); p.Bounds[0].Seconds != nil || p.Taken != 1 {
		t.Errorf("without room: %+v", p)
	}
}

// TestNodesArePoweredUp: while nodes are powered up for it, no job is predicted to start, and the
// answer says so.
func TestNodesArePoweredUp(t *testing.T) {
	s := newSite(t)
	const resume = 900
	c := s.Premises.Limits()
	main := c.Partitions["main"]
	main.Resume = resume
	c.Partitions["main"] = main
	if p := s.predicted(.01); *p.Bounds[0].Expected < resume || !strings.Contains(p.Asleep, "may take 00:15:00 to be up again (ResumeTimeout)") {
		t.Errorf("nodes are powered down: %+v", p)
	}
	for name, n := range c.Nodes {
		n.Awake = true
		c.Nodes[name] = n
	}
	if p := s.predicted(.01); *p.Bounds[0].Expected >= resume || p.Asleep != "" {
		t.Errorf("nodes are up: %+v", p)
	}
}

// TestWake: no start is expected while nodes are powered up. Later starts are as before.
func TestWake(t *testing.T) {
	const resume = 900
	var a forecast.Answer
	for i := range delay.Points {
		a.Wait[i], a.Lower[i] = .5, .25
	}
	wake(&a, resume)
	for i := range delay.Points {
		if soon := delay.At(i) < resume; (a.Wait[i] == 0) != soon || (a.Lower[i] == 0) != soon {
			t.Errorf("within %v s with probability %v, %v at least", delay.At(i), a.Wait[i], a.Lower[i])
		}
	}
}

// If a window begins before a job could end, the answer names the window, and not the room that it
// takes. No start is predicted before the window's end.
func TestPredictionNamesTheWindow(t *testing.T) {
	s := newSite(t)
	const end = 7200
	s.Premises.Limits().Reservations = []limits.Reservation{{Name: "maint", Start: desktest.Epoch + 1800, End: desktest.Epoch + end, Nodes: []string{"a", "b", "c", "d"}}}
	for _, s.Outlook.Full = range []bool{false, true} {
		p := s.predicted(.5)
		if p.Taken != 0 || p.Blocked == nil || p.Blocked.End != desktest.Epoch+end {
			t.Errorf("room taken: %v; %+v", s.Outlook.Full, p)
		}
		if !s.Outlook.Full && *p.Bounds[0].Expected < end {
			t.Errorf("expected within the window: %v", *p.Bounds[0].Expected)
		}
	}
}

// No start is predicted in a window, nor so shortly before it that the job would run into it.
func TestPredictionAvoidsWindows(t *testing.T) {
	const mean, limit = 1800., 600
	for name, c := range map[string]struct {
		windows []limits.Window
		blocked bool
	}{
		"none":       {nil, false},
		"soon":       {[]limits.Window{{Start: desktest.Epoch + 1800, End: desktest.Epoch + 7200}}, true},
		"now":        {[]limits.Window{{Start: desktest.Epoch - 60, End: desktest.Epoch + 7200}}, true},
		"just after": {[]limits.Window{{Start: desktest.Epoch + limit - 60, End: desktest.Epoch + 7200}}, true},
		"far away":   {[]limits.Window{{Start: desktest.Epoch + 1e7 + 2*limit, End: desktest.Epoch + 2e7}}, false},
	} {
		var a forecast.Answer
		for i := range delay.Points {
			a.Wait[i] = 1 - math.Exp(-delay.At(i)/mean)
			a.Lower[i] = a.Wait[i] / 2
		}
		before := a
		blocked := postpone(&a, c.windows, desktest.Epoch, limit)
		if (blocked != nil) != c.blocked {
			t.Errorf("%s: blocked %+v", name, blocked)
		}
		for i := range delay.Points {
			at, want, lower := desktest.Epoch+int64(delay.At(i)), before.Wait[i], before.Lower[i]
			for _, w := range c.windows {
				if from := w.Start - limit; at > from && at < w.End {
					want, lower = 0, 0
					if last := delay.Index(float64(from-desktest.Epoch)+.5) - 1; from >= desktest.Epoch {
						want, lower = before.Wait[last], before.Lower[last]
					}
				}
			}
			if a.Wait[i] != want || a.Lower[i] != lower {
				t.Fatalf("%s: within %v s with probability %v, %v at least; want %v, %v", name, delay.At(i), a.Wait[i], a.Lower[i], want, lower)
			}
		}
	}
}

// A start that comes by some time has come by all later ones, also where a window follows in which
// there is no room.
func TestRoomBeforeWindow(t *testing.T) {
	var wait delay.Distribution
	for i := range wait {
		wait[i] = min(.9, float64(i)/20)
	}
	taken := limitToRoom(&wait, func(at int64) float64 {
		switch after := at - desktest.Epoch; {
		case after < 1500:
			return float64(after) / 2500
		case after < 3*3600:
			return 0
		}
		return 1
	}, desktest.Epoch)
	if got := wait.Within(1500); taken != 1 || got < .5 || got > .6 {
		t.Errorf("before the window: %v; taken %v", got, taken)
	}
	for i := 1; i < delay.Points; i++ {
		if wait[i] < wait[i-1] {
			t.Fatalf("within %v s: %v, and within %v s: %v", delay.At(i), wait[i], delay.At(i-1), wait[i-1])
		}
	}
}
