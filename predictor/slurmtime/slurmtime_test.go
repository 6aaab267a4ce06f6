package slurmtime

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestAsSlurm compares Parse with Slurm 24.11's own parser (22.05's has all but elevenses), in UTC,
// at 2026-11-21T02:40:24. testdata/slurm.txt has the parser's results, 0 for an error.
func TestAsSlurm(t *testing.T) {
	const now = 1795228824
	f, err := os.Open("testdata/slurm.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		answer, text, ok := strings.Cut(s.Text(), "|")
		if !ok {
			continue
		}
		want, err := strconv.ParseInt(answer, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(text, now, time.UTC)
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("%q: %d (%v), Slurm says %d", text, got, err, want)
		}
	}
}

// TestUnlikeSlurm has what is meant to differ from Slurm: errors, or times.
func TestUnlikeSlurm(t *testing.T) {
	now := time.Date(2026, 11, 21, 2, 40, 24, 0, zone)
	for _, text := range []string{
		"17:00 18:00", "today tomorrow", "12/25 1/2", "0431", "now+1hourT", "uts+1795217746", "uts 1795217746", "1969-12-31", "0000-01-01", "12/25/7",
	} {
		if got, err := Parse(text, now.Unix(), zone); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
	meet(t, Parse, now, map[string]time.Time{
		"Tomorrow":     time.Date(2026, 11, 22, 0, 0, 0, 0, zone),
		"12/25t0:30pm": time.Date(2026, 12, 25, 12, 30, 0, 0, zone),
		"0229":         time.Date(2028, 2, 29, 0, 0, 0, 0, zone),
	})
}

// TestParseSummerTime: an hour that clocks show twice is the first one, as for Slurm; tomorrow is
// the next day, unlike for it.
func TestParseSummerTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	for text, want := range map[string]string{
		"2027-10-31T02:30": "2027-10-31T02:30:00+02:00",
		"2027-10-31T03:30": "2027-10-31T03:30:00+01:00",
		"2027-10-31T01:30": "2027-10-31T01:30:00+02:00",
		"tomorrow":         "2027-03-28T00:00:00+01:00",
		"tomorrow noon":    "2027-03-28T12:00:00+02:00",
	} {
		now := time.Date(2027, 3, 27, 23, 30, 0, 0, berlin)
		got, err := Parse(text, now.Unix(), berlin)
		if at := time.Unix(got, 0).In(berlin).Format(time.RFC3339); err != nil || at != want {
			t.Errorf("%q: %s (%v), want %s", text, at, err, want)
		}
	}
}

var zone = time.FixedZone("east", 2*3600)

// meet checks the results of parse at now, which must be these times in zone.
func meet(t *testing.T, parse func(string, int64, *time.Location) (int64, error), now time.Time, want map[string]time.Time) {
	t.Helper()
	for text, want := range want {
		if got, err := parse(text, now.Unix(), zone); err != nil || got != want.Unix() {
			t.Errorf("%q: %v (%v), want %v", text, time.Unix(got, 0).In(zone), err, want)
		}
	}
}

func TestParseZone(t *testing.T) {
	now := time.Date(2026, 11, 21, 23, 30, 0, 0, zone)
	meet(t, Parse, now, map[string]time.Time{
		"23:45":            time.Date(2026, 11, 21, 23, 45, 0, 0, zone),
		"23:30":            time.Date(2026, 11, 22, 23, 30, 0, 0, zone),
		"tomorrow":         time.Date(2026, 11, 22, 0, 0, 0, 0, zone),
		"Tomorrow Noon":    time.Date(2026, 11, 22, 12, 0, 0, 0, zone),
		"0229":             time.Date(2028, 2, 29, 0, 0, 0, 0, zone),
		"2027-03-28T02:30": time.Date(2027, 3, 28, 2, 30, 0, 0, zone),
	})
	for _, text := range []string{"2027-02-30", "0431", "17:00 18:00", "today tomorrow", strings.Repeat("1", 200)} {
		if got, err := Parse(text, now.Unix(), zone); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

// TestParsePast: by sacct's rule, an incomplete time is in the past. But a time of day is
// today's, and a day of this month is this year's.
func TestParsePast(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 30, 0, 0, zone)
	meet(t, ParsePast, now, map[string]time.Time{
		"08:00":          time.Date(2026, 11, 21, 8, 0, 0, 0, zone),
		"12:30":          time.Date(2026, 11, 21, 12, 30, 0, 0, zone),
		"23:00":          time.Date(2026, 11, 21, 23, 0, 0, 0, zone),
		"1001":           time.Date(2026, 10, 1, 0, 0, 0, 0, zone),
		"11/25":          time.Date(2026, 11, 25, 0, 0, 0, 0, zone),
		"12/24-18:00":    time.Date(2025, 12, 24, 18, 0, 0, 0, zone),
		"0229":           time.Date(2024, 2, 29, 0, 0, 0, 0, zone),
		"now-7days":      time.Date(2026, 11, 14, 12, 30, 0, 0, zone),
		"2026-01-01":     time.Date(2026, 1, 1, 0, 0, 0, 0, zone),
		"tomorrow 08:00": time.Date(2026, 11, 22, 8, 0, 0, 0, zone),
	})
	if _, err := ParsePast("whenever", now.Unix(), zone); err == nil || !strings.HasSuffix(err.Error(), "(try today, now-7days or 2026-11-01)") {
		t.Error("whenever is a time")
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]int64{
		"90": 5400, "1:30": 90, "1:30:00": 5400, "1-12": 129600, "1-": 86400, "1-12:30": 131400, "1-0:0:1": 86401, "unlimited": Unlimited, "0": 0,
	} {
		got, err := ParseDuration(text)
		if err != nil || got != want {
			t.Errorf("%q: %d (%v), want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-", "a", "1:2:3:4", "1:-2", "+5", "99999999999", "1-1-1", "2147483647-0"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
	for text, want := range map[string]string{
		"abc":   `"abc" is not a time limit (try 90, 1:30:00 or 1-12)`,
		"1:abc": `"1:abc" is not a time limit: "abc" is not a number (try 90, 1:30:00 or 1-12)`,
	} {
		if _, err := ParseDuration(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for seconds, want := range map[int64]string{0: "00:00:00", 5400: "01:30:00", 131400: "1-12:30:00", -61: "-00:01:01", Unlimited: "UNLIMITED"} {
		if got := FormatDuration(seconds); got != want {
			t.Errorf("%d: %s, want %s", seconds, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	for text, want := range map[string]int64{"90s": 90, "1h30m": 5400, "90": 5400, "1-12": 129600, "-5m": -300} {
		if got, err := ParseSpan(text); err != nil || got != want {
			t.Errorf("%q: %d (%v), want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "soon", "1d", "5 m"} {
		if got, err := ParseSpan(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestMinutes(t *testing.T) {
	for seconds, want := range map[int64]int64{0: 0, 1: 1, 59: 1, 60: 1, 61: 2, 3600: 60} {
		if got := Minutes(seconds); got != want {
			t.Errorf("Minutes(%d) = %d, want %d", seconds, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"17:00", "now+2hours", "tomorrow noon", "12/25/27-10:00", "2027-01-02T10:00:30", "uts1795217746", "0229", "T17:00", "0:30PM112", "12/25/00"} {
		f.Add(text, int64(1795228713))
	}
	f.Fuzz(func(t *testing.T, text string, now int64) {
		if now < 0 || now > 1<<36 {
			return
		}
		at, err := Parse(text, now, time.UTC)
		if err != nil {
			return
		}
		if past, err := ParsePast(text, now, time.UTC); err == nil && past > at {
			t.Errorf("%q: the last is %d, the next %d", text, past, at)
		}
		if again, err := Parse(Format(at, time.UTC), now, time.UTC); at > 0 && at < 1<<37 && (err != nil || again != at) {
			t.Errorf("%q is %d, written %s, which is %d (%v)", text, at, Format(at, time.UTC), again, err)
		}
	})
}

func TestInZone(t *testing.T) {
	tokyo := time.FixedZone("JST", 9*3600)
	for text, want := range map[string]string{
		"moved from 2026-11-21T17:00:00Z to 2026-11-21T17:00:00-05:00: why": "moved from 2026-11-22T02:00:00 to 2026-11-22T07:00:00: why",
		"from 2026-11-21T17:00:00": "from 2026-11-21T17:00:00",
		"2026-13-41T17:00:00Z":     "2026-13-41T17:00:00Z",
		"":                         "",
	} {
		if got := InZone(text, tokyo); got != want {
			t.Errorf("%q: %q, wanted %q", text, got, want)
		}
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"90", "1:30:00", "1-12:30", "UNLIMITED"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDuration(text)
		if err != nil {
			return
		}
		if again, err := ParseDuration(FormatDuration(d)); err != nil || again != d || d < 0 {
			t.Errorf("%q is %d, written %s, which is %d (%v)", text, d, FormatDuration(d), again, err)
		}
	})
}

func FuzzParseSpan(f *testing.F) {
	for _, text := range []string{"90s", "1h30m", "1-12:30", "UNLIMITED", "-5m"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDuration(text)
		if span, spanErr := ParseSpan(text); err == nil && (spanErr != nil || text != "0" && span != d) {
			t.Errorf("%q is %d, or %d (%v)", text, d, span, spanErr)
		}
	})
}
