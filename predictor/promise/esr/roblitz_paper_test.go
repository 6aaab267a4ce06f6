package esr

// Tests of what Röblitz, Schintke and Wendler (2005) state about success rates, by section.

import (
	"math"
	"testing"
	"time"
)

// Section 4: "static (with 18000 as parameter a reservation candidate, so approx. 9h30 hours
// book-ahead time correspond to a value of 0.9)". It is the threshold, .85, to which that
// corresponds, as section 4.2 has it: "a reservation with a book-ahead time of more than 9h30 is
// accepted". A value of 0.9 is that of 11 h 31 min.
func TestSection4Static(t *testing.T) {
	for _, c := range []struct {
		seconds int64
		want    float64
	}{{9*3600 + 1800, .8504}, {11*3600 + 31*60, .9001}, {0, 0}, {-60, 0}} {
		if got := Static(c.seconds, PaperScale); math.Abs(got-c.want) > 5e-5 {
			t.Errorf("%d s: %.4f, want %.4f", c.seconds, got, c.want)
		}
	}
	first := int64(math.Ceil(-PaperScale * math.Log1p(-Threshold)))
	if Static(first, PaperScale) < Threshold || Static(first-1, PaperScale) >= Threshold || first != 34149 {
		t.Errorf("accepted from %d s on", first)
	}
}

// Section 4.2: "For the history method it means that a reservation is accepted if about 1.74 np
// processors (np is the number of requested processors) are available during the requested
// time-frame."
func TestSection42History(t *testing.T) {
	if low, high := Rate(1000, 1739), Rate(1000, 1740); low >= Threshold || high < Threshold {
		t.Errorf("%v of 1739, %v of 1740", low, high)
	}
}

// Section 3.2.3: the three cases of esr_H.
func TestSection323History(t *testing.T) {
	for _, c := range []struct{ idle, want float64 }{{0, 0}, {7.9, 0}, {8, 0}, {12, 2 - 4./3}, {16, 1}, {1000, 1}} {
		if got := Rate(8, c.idle); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("8 of %v: %v, want %v", c.idle, got, c.want)
		}
	}
}

// Section 3.2.3: aip, with the pattern function that asks each recorded interval whether its time
// of day meets that of the candidate.
func TestSection323Idle(t *testing.T) {
	zone := time.FixedZone("", -7*3600)
	h := History{Zone: zone}
	if _, ok := h.Idle(0, 100); ok {
		t.Error("nothing is recorded, and something known")
	}
	type record struct {
		begin int64
		idle  float64
	}
	var records []record
	for begin := int64(1_000_000_200); begin < 1_000_000_200+5*86400; begin += 300 {
		r := record{begin, float64(begin / 300 % 777)}
		if begin/86400%3 == 1 {
			continue // nothing is recorded on some days
		}
		records = append(records, r)
		h.Record(r.begin, r.idle)
	}
	meets := func(begin, start, end int64) bool {
		for day := int64(-30); day <= 30; day++ {
			if moved := begin + day*86400; moved < end && start < moved+300 {
				return true
			}
		}
		return false
	}
	for _, c := range []struct{ start, length int64 }{{0, 1}, {299, 1}, {299, 2}, {300, 300}, {86000, 900}, {5000, 86399}, {7777, 100_000}, {40_000, 50_000}, {17, 86000}, {17, 86383}, {17, 86384}} {
		start := 1_000_000_200 + 10*86400 + c.start
		sum, n := 0., 0.
		for _, r := range records {
			if meets(r.begin, start, start+c.length) {
				sum += r.idle
				n++
			}
		}
		if got, ok := h.Idle(start, start+c.length); !ok || math.Abs(got-sum/n) > 1e-9*got {
			t.Errorf("%+v: %v, want %v", c, got, sum/n)
		}
	}
}

// Section 3.2.3: T_wkl in its three steps.
func TestSection323Load(t *testing.T) {
	l := Load{Now: 1000, Nodes: 100, RunningShare: PaperShare, WaitingShare: PaperShare}
	check := func(what string, want float64) {
		t.Helper()
		if got := l.End(); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: the workload ends at %v, want %v", what, got, want)
		}
	}
	check("idle", 1000)
	l.Running = []Job{{30, 200}, {10, 1000}}
	check("running", 1000+.5*(30*200+10*1000)/40)
	l.Waiting = []Job{{50, 400}, {100, 40}}
	check("waiting", 1200+.5*(50*400+100*40)/100)
	// One reservation has passed, one is active, one begins before the end that it moves; the next
	// begins before the end only because of that, and the last at the very end.
	l.Reservations = []Reservation{{1500, 1600, 40}, {1440, 1600, 20}, {0, 900, 100}, {900, 1100, 100}, {1460, 1700, 10}, {1516, 9999, 100}}
	check("reservations", 1320+100+0) // the active one; the next begins at 1440
	l.Reservations[1].Start = 1420
	check("one that begins at the end", 1420)
	l.Reservations[1].Start = 1410
	check("one more", 1420+20*190./100)
	l.Reservations[4].Start = 1450
	check("and one more", 1458+10*250./100)
	if l.Rate(1482) != 0 || l.Rate(1483) != 1 {
		t.Errorf("%v before the end, %v after it", l.Rate(1482), l.Rate(1483))
	}
	l.Nodes = 0
	if l.Rate(1<<40) != 0 {
		t.Error("a site without nodes reserves some")
	}
}
