// Package slurmtime reads and writes times and time limits as Slurm does: the
// formats of sbatch --begin and --time. Times are Unix seconds and durations
// seconds.
package slurmtime

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// leastUTS is the least number of seconds that Slurm takes after uts.
const leastUTS = 1000000

// maxText bounds what is read as a time, in bytes.
const maxText = 128

// Parse reads a time in any format that sbatch --begin takes, with Slurm's
// meaning: a time of day is the next one, a date without a year the next one, a
// date without a time midnight. Now says what is next, zone which clock is
// meant.
//
//	HH:MM[:SS] [AM|PM]     midnight noon elevenses fika teatime
//	MMDD[YY]  MM/DD[/YY]  MM.DD[.YY]  YYYY-MM-DD  today tomorrow
//	DATE[T|-| ]TIME        now[+|-COUNT[seconds|minutes|hours|days|weeks]]
//	utsSECONDS
//
// As for Slurm, T, - and spaces may stand anywhere between and around these, and the zeroes and
// marks of a date may be left out where it can be read without them.
//
// Some things differ from Slurm: a T and words may be in upper or lower case, what has two dates or
// two times of day is an error, of which Slurm takes the last, and so is a day that a month does
// not have, for which Slurm takes one of the next month. Nothing may follow what begins with now or
// uts, and tomorrow is the next day, also where a day is longer or shorter than others.
func Parse(text string, now int64, zone *time.Location) (int64, error) {
	return read(text, now, zone, (*when).next, "17:00, tomorrow, 2027-01-31T08:00 or now+2hours")
}

// ParsePast reads a time as sacct --starttime does: like Parse, but a time of day is
// today's, and a date without a year this year's, or last year's if its month is to
// come.
func ParsePast(text string, now int64, zone *time.Location) (int64, error) {
	return read(text, now, zone, (*when).last, "today, now-7days or 2026-11-01")
}

// resolve fills in what was left out of a time.
type resolve func(w *when, now time.Time) time.Time

// read reads a time; try is what its error suggests.
func read(text string, now int64, zone *time.Location, fill resolve, try string) (int64, error) {
	if len(text) > maxText {
		return 0, fmt.Errorf("%.20q… is too long for a time", text)
	}
	at, err := parse(text, time.Unix(now, 0).In(zone), fill)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time: %w (try %s)", text, err, try)
	}
	return at, nil
}

func parse(text string, now time.Time, fill resolve) (int64, error) {
	s := &scanner{rest: strings.ToLower(strings.TrimSpace(text))}
	if s.rest == "" {
		return 0, errors.New("it is empty")
	}
	if s.word("uts") {
		at, ok := s.digits(1, 12)
		if !ok || s.rest != "" || at < leastUTS {
			return 0, errors.New("uts takes a number of seconds since 1970")
		}
		return at, nil
	}
	if s.word("now") {
		delta, err := s.delta()
		if err != nil {
			return 0, err
		}
		return now.Unix() + delta, nil
	}
	var w when
	for s.separators(); s.rest != ""; s.separators() {
		if err := w.part(s, now); err != nil {
			return 0, err
		}
	}
	if !w.hasDate && !w.hasClock {
		return 0, errors.New("it says neither a day nor a time of day")
	}
	at := fill(&w, now).Unix()
	if at <= 0 {
		return 0, errors.New("it lies before 1970")
	}
	return at, nil
}

// when is what has been read of a time.
type when struct {
	hasDate, hasYear, hasClock bool
	year, month, day           int
	hour, minute, second       int
}

var clockWords = []struct {
	word string
	hour int
}{{"midnight", 0}, {"noon", 12}, {"elevenses", 11}, {"fika", 15}, {"teatime", 16}}

var dayWords = []struct {
	word string
	days int
}{{"today", 0}, {"tomorrow", 1}}

// part reads the date or the time of day that comes next.
func (w *when) part(s *scanner, now time.Time) error {
	for _, c := range clockWords {
		if s.word(c.word) {
			return w.clock(c.hour, 0, 0)
		}
	}
	for _, d := range dayWords {
		if s.word(d.word) {
			day := now.AddDate(0, 0, d.days)
			return w.date(day.Year(), int(day.Month()), day.Day())
		}
	}
	switch {
	case !isDigit(s.at(0)):
		return fmt.Errorf("what does %q mean?", s.rest)
	case s.at(1) == ':' || s.at(2) == ':':
		return s.clock(w)
	case s.at(4) == '-' && s.at(7) == '-':
		return s.isoDate(w)
	}
	return s.date(w)
}

func (w *when) clock(hour, minute, second int) error {
	if w.hasClock {
		return errors.New("it has two times of day")
	}
	if hour > 23 || minute > 59 || second > 59 {
		return fmt.Errorf("there is no time of day %d:%02d:%02d", hour, minute, second)
	}
	w.hasClock, w.hour, w.minute, w.second = true, hour, minute, second
	return nil
}

// date takes a date; year 0 stands for the next one.
func (w *when) date(year, month, day int) error {
	if w.hasDate {
		return errors.New("it has two dates")
	}
	leap := year
	if year == 0 {
		leap = 2000
	}
	if t := time.Date(leap, time.Month(month), day, 0, 0, 0, 0, time.UTC); int(t.Month()) != month || t.Day() != day {
		return fmt.Errorf("there is no day %d in month %d", day, month)
	}
	w.hasDate, w.hasYear, w.year, w.month, w.day = true, year != 0, year, month, day
	return nil
}

// on returns the time on a day: as for Slurm, the first one if clocks show it twice as summer ends.
func (w *when) on(year, month, day int, zone *time.Location) time.Time {
	t := time.Date(year, time.Month(month), day, w.hour, w.minute, w.second, 0, zone)
	if first := t.Add(-time.Hour); first.Hour() == t.Hour() && first.Minute() == t.Minute() {
		return first
	}
	return t
}

// next returns the first such time after this minute, or the very time if it is whole.
func (w *when) next(now time.Time) time.Time {
	later := func(t time.Time) bool { return t.Truncate(time.Minute).After(now.Truncate(time.Minute)) }
	switch {
	case w.hasYear:
		return w.on(w.year, w.month, w.day, now.Location())
	case w.hasDate:
		for year := now.Year(); ; year++ { // a 29th of February may be years away
			if t := w.on(year, w.month, w.day, now.Location()); t.Day() == w.day && later(t) {
				return t
			}
		}
	}
	year, month, day := now.Date()
	if t := w.on(year, int(month), day, now.Location()); later(t) {
		return t
	}
	return w.on(year, int(month), day+1, now.Location())
}

// last returns such a time of today, or such a day of the twelve months that end with
// this one, or the very time if it is whole.
func (w *when) last(now time.Time) time.Time {
	year, month, day := now.Date()
	switch {
	case w.hasYear:
		year, month, day = w.year, time.Month(w.month), w.day
	case w.hasDate:
		if time.Month(w.month) > month {
			year--
		}
		month, day = time.Month(w.month), w.day
		// a 29th of February may be years ago
		for w.on(year, int(month), day, now.Location()).Day() != day {
			year--
		}
	}
	return w.on(year, int(month), day, now.Location())
}

// scanner takes a text apart from the left.
type scanner struct{ rest string }

// word takes a word if it comes next.
func (s *scanner) word(w string) bool {
	rest, ok := strings.CutPrefix(s.rest, w)
	if ok {
		s.rest = rest
	}
	return ok
}

// at returns the byte at an index, or 0.
func (s *scanner) at(i int) byte {
	if i < len(s.rest) {
		return s.rest[i]
	}
	return 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// digits takes a number of least to most digits.
func (s *scanner) digits(least, most int) (int64, bool) {
	n := 0
	for isDigit(s.at(n)) {
		n++
	}
	if n < least || n > most {
		return 0, false
	}
	number, err := strconv.ParseInt(s.rest[:n], 10, 64)
	s.rest = s.rest[n:]
	return number, err == nil
}

// some takes a number of one digit or two, or returns false.
func (s *scanner) some() (int, bool) {
	n := 0
	for n < 2 && isDigit(s.at(n)) {
		n++
	}
	number, err := strconv.Atoi(s.rest[:n])
	s.rest = s.rest[n:]
	return number, err == nil
}

// two takes a number of two digits, or returns false.
func (s *scanner) two() (int, bool) {
	if !isDigit(s.at(1)) {
		return 0, false
	}
	return s.some()
}

// separators takes what may stand between a date and a time: spaces, T or -, unless the T begins a
// word.
func (s *scanner) separators() {
	for s.rest != "" && strings.IndexByte(" \tt-", s.rest[0]) >= 0 && !s.atWord() {
		s.rest = s.rest[1:]
	}
}

// atWord reports whether a word for a day or a time of day comes next.
func (s *scanner) atWord() bool {
	for _, c := range clockWords {
		if strings.HasPrefix(s.rest, c.word) {
			return true
		}
	}
	for _, d := range dayWords {
		if strings.HasPrefix(s.rest, d.word) {
			return true
		}
	}
	return false
}

// clock reads HH:MM[:SS] [AM|PM].
func (s *scanner) clock(w *when) error {
	hour, _ := s.some()
	s.word(":")
	minute, ok := s.two()
	if !ok {
		return errors.New("minutes have two digits")
	}
	second := 0
	if s.word(":") {
		if second, ok = s.two(); !ok {
			return errors.New("seconds have two digits")
		}
	}
	rest := s.rest
	s.rest = strings.TrimLeft(s.rest, " \t")
	switch {
	case s.word("am"), s.word("pm"):
		afternoon := strings.Contains(strings.TrimSuffix(rest, s.rest), "p")
		if hour > 12 {
			return fmt.Errorf("%d o'clock is neither AM nor PM", hour)
		}
		hour %= 12
		if afternoon {
			hour += 12
		}
	default:
		s.rest = rest
	}
	return w.clock(hour, minute, second)
}

// isoDate reads YYYY-MM-DD.
func (s *scanner) isoDate(w *when) error {
	year, ok := s.digits(4, 4)
	s.word("-")
	month, okMonth := s.two()
	s.word("-")
	day, okDay := s.some()
	if !ok || year == 0 || !okMonth || !okDay {
		return errors.New("such a date is written YYYY-MM-DD")
	}
	return w.date(int(year), month, day)
}

// date reads MMDD[YY], or MM/DD[/YY], or the same with points. The year 00 is none.
func (s *scanner) date(w *when) error {
	month, _ := s.some()
	s.mark()
	day, ok := s.some()
	if !ok {
		return errors.New("a date is written MM/DD, MM/DD/YY or YYYY-MM-DD, and a time of day HH:MM")
	}
	s.mark()
	if !isDigit(s.at(0)) {
		return w.date(0, month, day)
	}
	year, ok := s.two()
	if !ok {
		return errors.New("such a date has a year of two digits, MM/DD/YY")
	}
	if year != 0 {
		year += 2000
	}
	return w.date(year, month, day)
}

// mark takes what may stand between a month and a day, and between a day and a year.
func (s *scanner) mark() {
	if !s.word("/") {
		s.word(".")
	}
}

var units = []struct {
	name    string
	seconds int64
}{{"second", 1}, {"minute", 60}, {"hour", 3600}, {"day", 86400}, {"week", 7 * 86400}}

// delta reads what may follow "now", to the end: seconds from now.
func (s *scanner) delta() (int64, error) {
	text := strings.ReplaceAll(s.rest, " ", "")
	if text == "" {
		return 0, nil
	}
	sign := int64(1)
	switch text[0] {
	case '-':
		sign = -1
	case '+':
	default:
		return 0, fmt.Errorf("what does %q mean?", text)
	}
	count := &scanner{rest: text[1:]}
	n, ok := count.digits(1, 9)
	if !ok {
		return 0, errors.New("now is followed by + and a number")
	}
	if count.rest == "" {
		return sign * n, nil
	}
	for _, u := range units {
		if strings.TrimSuffix(count.rest, "s") == u.name {
			return sign * n * u.seconds, nil
		}
	}
	return 0, fmt.Errorf("%q is none of seconds, minutes, hours, days, weeks", count.rest)
}

// Format writes a time as Slurm does, 2006-01-02T15:04:05.
func Format(at int64, zone *time.Location) string {
	return time.Unix(at, 0).In(zone).Format("2006-01-02T15:04:05")
}

// Stamp writes a time with its zone, for InZone to write it as Format does.
func Stamp(at int64, zone *time.Location) string {
	return time.Unix(at, 0).In(zone).Format(time.RFC3339)
}

// Span says in brackets from when until when something lasts, by Stamp: " (from
// 2027-01-15T10:00:00Z until 2027-01-15T12:00:00Z)". It is "" if the zone is nil.
func Span(start, end int64, zone *time.Location) string {
	if zone == nil {
		return ""
	}
	return fmt.Sprintf(" (from %s until %s)", Stamp(start, zone), Stamp(end, zone))
}

// stamp is a time that names its zone, as in 2006-01-02T15:04:05+09:00.
var stamp = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)`)

// InZone returns text with each time that names its zone written as Format does.
func InZone(text string, zone *time.Location) string {
	return stamp.ReplaceAllStringFunc(text, func(found string) string {
		at, err := time.Parse(time.RFC3339, found)
		if err != nil {
			return found
		}
		return Format(at.Unix(), zone)
	})
}
