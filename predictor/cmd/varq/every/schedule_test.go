package every

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// saturday is 2026-11-21T13:00:00 UTC.
const saturday = 1795266000

func TestParseSchedule(t *testing.T) {
	for text, want := range map[string][]string{
		"Mon-Fri 06:00":   {"2026-11-23T06:00", "2026-11-24T06:00", "2026-11-25T06:00", "2026-11-26T06:00", "2026-11-27T06:00", "2026-11-30T06:00"},
		"06:00 mon-fri":   {"2026-11-23T06:00", "2026-11-24T06:00"},
		"weekdays 6:00":   {"2026-11-23T06:00", "2026-11-24T06:00"},
		"06:00 daily":     {"2026-11-22T06:00", "2026-11-23T06:00"},
		"Daily 18:30":     {"2026-11-21T18:30", "2026-11-22T18:30"},
		"18:30":           {"2026-11-21T18:30", "2026-11-22T18:30"},
		"13:00":           {"2026-11-22T13:00"}, // now is not after now
		"Sat,Tue 14:15":   {"2026-11-21T14:15", "2026-11-24T14:15", "2026-11-28T14:15"},
		"0 6 * * 1-5":     {"2026-11-23T06:00"},
		"*/15 9-10 1 * *": {"2026-12-01T09:00", "2026-12-01T09:15"},
		"@monthly":        {"2026-12-01T00:00", "2027-01-01T00:00"},
		"0 0 29 2 *":      {"2028-02-29T00:00"},
		"0 6 * * 7":       {"2026-11-22T06:00", "2026-11-29T06:00"}, // crontab(5): 0 or 7 is Sunday
		"0 6 * * 6-7,3":   {"2026-11-22T06:00", "2026-11-25T06:00", "2026-11-28T06:00", "2026-11-29T06:00"},
		"Sat-Sun 06:00":   {"2026-11-22T06:00", "2026-11-28T06:00", "2026-11-29T06:00"},
		"06:00 sun":       {"2026-11-22T06:00", "2026-11-29T06:00"},
		"Sun-Mon 06:00":   {"2026-11-22T06:00", "2026-11-23T06:00", "2026-11-29T06:00"},
	} {
		s, err := ParseSchedule(text, saturday, time.UTC)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		at := int64(saturday)
		for _, moment := range want {
			at = s.Next(at)
			if got := time.Unix(at, 0).UTC().Format("2006-01-02T15:04"); got != moment {
				t.Errorf("%q: %s, want %s", text, got, moment)
			}
		}
	}
	for text, why := range map[string]string{
		"": "it has no time of day", "daily": "it has no time of day", "06:00 18:00": "two times of day", "0 0 30 2 *": "no such day", "* * * * *": "within less than 15 minutes",
		"0,5 6 * * *": "within less than 15 minutes", "TZ=UTC 0 6 * * *": "time zone", "CRON_TZ=": "time zone", "@every 1h": "@every", strings.Repeat("1", 201): "too long",
		"1 2 3": "it has 3 fields, and crontab(5) has five: minute, hour,", "@fortnightly": "of the words with @ there are @hourly,",
		"60 6 * * *": `its minute is "60", and may be 0 to 59, as in`, "0-x 6 * * *": `its minute is "0-x"`, "6:60": `its minute is "60"`, "@daily * * * *": `its minute is "@daily"`,
		"25:00": `its hour is "25", and may be 0 to 23, as in`, "0 6- * * *": `its hour is "6-"`, "0 6/0 * * *": `its hour is "6/0"`,
		"0 6 32 * *": `its day of the month is "32", and may be 1 to 31, as in`, "0 6 * Foo *": `its month is "Foo", and may be 1 to 12 or Jan to Dec, as in`, "0 6 1 13 Foo": `its month is "13"`,
		"Never 06:00": `its day of the week is "Never", and may be Mon to Sun or 0 to 7, as in`, "0 6 * * 8": `its day of the week is "8"`, "Fri-Mon 06:00": `its day of the week is "Fri-Mon", and`,
		"7-7 06:00": `its day of the week is "7-7"`, "6-7/2 06:00": `its day of the week is "6-7/2"`,
		"Mon,,Tue 06:00": `its day of the week is "Mon,,Tue", and`, "0,30, 6 * * *": `its minute is "0,30,"`, "0 ,6 * * *": `its hour is ",6"`,
	} {
		if _, err := ParseSchedule(text, saturday, time.UTC); err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "try 'Mon-Fri 06:00'") || strings.Contains(err.Error(), "pars") {
			t.Errorf("%q: %v, want %q", text, err, why)
		}
	}
}

// In spring 2027 clocks in Berlin go from 02:00 to 03:00 on 28 March, in autumn from 03:00 to 02:00
// on 31 October.
func TestClockChanges(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text, from string
		want       []string
	}{
		{"06:00", "2027-03-26T12:00:00Z", []string{"2027-03-27T06:00:00+01:00", "2027-03-28T06:00:00+02:00", "2027-03-29T06:00:00+02:00"}},
		{"06:00", "2027-10-29T12:00:00Z", []string{"2027-10-30T06:00:00+02:00", "2027-10-31T06:00:00+01:00"}},
		{"02:30", "2027-03-26T12:00:00Z", []string{"2027-03-27T02:30:00+01:00", "2027-03-29T02:30:00+02:00"}},
		{"02:30", "2027-10-30T12:00:00Z", []string{"2027-10-31T02:30:00+02:00", "2027-10-31T02:30:00+01:00", "2027-11-01T02:30:00+01:00"}},
	} {
		from, err := time.Parse(time.RFC3339, c.from)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ParseSchedule(c.text, from.Unix(), zone)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for at := from.Unix(); len(got) < len(c.want); {
			at = s.Next(at)
			got = append(got, time.Unix(at, 0).In(zone).Format(time.RFC3339))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.text, got, c.want)
		}
	}
}

// What is read comes to pass, ever later.
func FuzzParseSchedule(f *testing.F) {
	for _, text := range []string{"Mon-Fri 06:00", "06:00 daily", "30 6 1 * *", "@daily", "TZ= 1", "CRON_TZ=Z", "*/7 */5 * * *", "0 0 31 */2 ?", "0 6 * * 5-7,7"} {
		f.Add(text)
	}
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSchedule(text, saturday, zone)
		if err != nil {
			return
		}
		at := int64(saturday)
		for range 10 {
			next := s.Next(at)
			if next == 0 {
				break
			}
			if next < at+minGap && at != saturday || next <= at {
				t.Fatalf("%q: %d after %d", text, next, at)
			}
			at = next
		}
	})
}
