package every

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// maxSchedule bounds the text of a schedule, in bytes.
const maxSchedule = 200

// minGap is how far apart, in seconds, the occurrences of a schedule are at least.
const minGap = 15 * 60

// Schedule says when something recurs, in the time zone of the host.
type Schedule struct {
	times cron.Schedule
	zone  *time.Location
}

// crontab reads the five fields of crontab(5), and @daily and the like.
var crontab = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// clock is a time of day.
var clock = regexp.MustCompile(`^([0-9]{1,2}):([0-9]{2})$`)

// days are the words for days of the week that crontab does not know.
var days = map[string]string{"daily": "*", "weekdays": "Mon-Fri", "weekends": "Sat,Sun"}

// ParseSchedule reads a schedule: the five fields of crontab(5), @hourly, @daily, @weekly, @monthly
// or @yearly, or a time of day with or without days of the week, in any order: "Mon-Fri 06:00",
// "06:00 daily", "18:30 Mon,Thu". After now it has to come to pass.
func ParseSchedule(text string, now int64, zone *time.Location) (*Schedule, error) {
	fail := func(err error) (*Schedule, error) {
		return nil, fmt.Errorf("%.60q is not a schedule: %w (try 'Mon-Fri 06:00', '06:00 daily' or '30 6 1 * *')", text, err)
	}
	if len(text) > maxSchedule {
		return fail(errors.New("it is too long"))
	}
	// The parser would read a time zone of its own, and intervals that nobody could say of when
	// they begin.
	if strings.Contains(text, "TZ=") || strings.HasPrefix(strings.TrimSpace(text), "@every") {
		return fail(errors.New("it has a time zone, or @every"))
	}
	words, err := fieldsOf(text)
	if err != nil {
		return fail(err)
	}
	times, err := parseFields(words)
	if err != nil {
		return fail(err)
	}
	s := &Schedule{times, zone}
	first := s.Next(now)
	if first == 0 {
		return fail(errors.New("there is no such day in the next five years"))
	}
	for at, n := first, 0; n < 100 && at != 0; n++ {
		next := s.Next(at)
		if next != 0 && next-at < minGap {
			return fail(fmt.Errorf("it recurs within less than %d minutes; let one job do that work again and again", minGap/60))
		}
		at = next
	}
	return s, nil
}

// fieldsOf returns the schedule's five fields as crontab's, or its one word that begins with @.
func fieldsOf(text string) ([]string, error) {
	words := strings.Fields(text)
	if len(words) > 2 || len(words) == 1 && strings.HasPrefix(words[0], "@") {
		return words, nil
	}
	on, at := "daily", ""
	for _, word := range words {
		switch isClock := clock.MatchString(word); {
		case !isClock:
			on = word
		case at != "":
			return nil, errors.New("it has two times of day")
		default:
			at = word
		}
	}
	if at == "" {
		return nil, errors.New("it has no time of day")
	}
	if known := days[strings.ToLower(on)]; known != "" {
		on = known
	}
	parts := clock.FindStringSubmatch(at)
	return []string{parts[2], parts[1], "*", "*", on}, nil
}

// fields are those of crontab(5), with what each may be: the parser's own words are about the
// program.
var fields = []struct{ name, allowed string }{
	{"minute", "0 to 59, as in 5 or */20"},
	{"hour", "0 to 23, as in 6 or 9-17"},
	{"day of the month", "1 to 31, as in 1 or 1,15"},
	{"month", "1 to 12 or Jan to Dec, as in 3 or Jan-Jun"},
	{"day of the week", "Mon to Sun or 0 to 7, as in Mon,Thu or Fri-Sun; no range goes beyond Sunday"},
}

// parseFields reads what fieldsOf returns. The error names the first field that is wrong.
func parseFields(words []string) (cron.Schedule, error) {
	switch {
	case len(words) == 1:
		times, err := crontab.Parse(words[0])
		if err != nil {
			err = errors.New("of the words with @ there are @hourly, @daily, @weekly, @monthly and @yearly")
		}
		return times, err
	case len(words) != len(fields):
		return nil, fmt.Errorf("it has %d fields, and crontab(5) has five: minute, hour, day of the month, month and day of the week", len(words))
	}
	read := slices.Clone(words)
	read[len(read)-1] = throughSunday(read[len(read)-1])
	for i, field := range fields {
		alone := []string{"*", "*", "*", "*", "*"}
		alone[i] = read[i]
		_, err := crontab.Parse(strings.Join(alone, " "))
		// of which the parser takes no notice
		if err != nil || slices.Contains(strings.Split(words[i], ","), "") {
			return nil, fmt.Errorf("its %s is %.20q, and may be %s", field.name, words[i], field.allowed)
		}
	}
	return crontab.Parse(strings.Join(read, " "))
}

// sunday is Sunday as the last day of a week, which crontab(5) knows as 7 and the parser as 0
// alone: by itself or as the end of a range.
var sunday = regexp.MustCompile(`(?i)^(?:(.+)-)?(7|sun)$`)

// throughSunday returns days of the week with Sunday where the parser has it, at the beginning.
func throughSunday(days string) string {
	parts := strings.Split(days, ",")
	for i, part := range parts {
		switch m := sunday.FindStringSubmatch(part); {
		case m == nil:
		case m[1] == "":
			parts[i] = "0"
		default:
			parts[i] = m[1] + "-6,0"
		}
	}
	return strings.Join(parts, ",")
}

// Next returns the first time after the time at, both Unix seconds, or 0 if there is none within
// five years. A time of day that a change of clocks leaves out is not one of them, and of one that
// comes twice both are.
func (s *Schedule) Next(at int64) int64 {
	next := s.times.Next(time.Unix(at, 0).In(s.zone))
	if next.IsZero() {
		return 0
	}
	return next.Unix()
}
