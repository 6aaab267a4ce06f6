package every

import (
	"errors"
	"fmt"
	"regexp"
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

// ParseSchedule reads a schedule: the five fields of crontab(5), @hourly, @daily, @weekly, @monthly or @yearly, or a time of day with
// or without days of the week, in any order: "Mon-Fri 06:00", "06:00 daily", "18:30 Mon,Thu". After now it has to come to pass.
func ParseSchedule(text string, now int64, zone *time.Location) (*Schedule, error) {
	fail := func(err error) (*Schedule, error) {
		return nil, fmt.Errorf("%.60q is not a schedule: %w (try 'Mon-Fri 06:00', '06:00 daily' or '30 6 1 * *')", text, err)
	}
	if len(text) > maxSchedule {
		return fail(errors.New("it is too long"))
	}
	// The parser would read a time zone of its own, and intervals that nobody could say of when they begin.
	if strings.Contains(text, "TZ=") || strings.HasPrefix(strings.TrimSpace(text), "@every") {
		return fail(errors.New("it has a time zone, or @every"))
	}
	fields, err := fieldsOf(text)
	if err != nil {
		return fail(err)
	}
	times, err := crontab.Parse(fields)
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

// fieldsOf returns the schedule as crontab's.
func fieldsOf(text string) (string, error) {
	words := strings.Fields(text)
	if len(words) > 2 || len(words) == 1 && strings.HasPrefix(words[0], "@") {
		if len(words) == 5 {
			words[4] = throughSunday(words[4])
		}
		return strings.Join(words, " "), nil
	}
	on, at := "daily", ""
	for _, word := range words {
		switch isClock := clock.MatchString(word); {
		case !isClock:
			on = word
		case at != "":
			return "", errors.New("it has two times of day")
		default:
			at = word
		}
	}
	if at == "" {
		return "", errors.New("it has no time of day")
	}
	if known := days[strings.ToLower(on)]; known != "" {
		on = known
	}
	parts := clock.FindStringSubmatch(at)
	return fmt.Sprintf("%s %s * * %s", parts[2], parts[1], throughSunday(on)), nil
}

// sunday is Sunday as the last day of a week, which crontab(5) knows as 7 and the parser as 0 alone: by itself or as the end of a range.
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

// Next returns the first time after the time at, both Unix seconds, or 0 if there is none within five years. A time of day that a
// change of clocks leaves out is not one of them, and of one that comes twice both are.
func (s *Schedule) Next(at int64) int64 {
	next := s.times.Next(time.Unix(at, 0).In(s.zone))
	if next.IsZero() {
		return 0
	}
	return next.Unix()
}
