package tariff

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Week has a factor for each hour of the week, from Monday 00:00 to 01:00 on.
type Week [7 * 24]float64

// Flat has the factor 1 for every hour.
func Flat() Week {
	var w Week
	for i := range w {
		w[i] = 1
	}
	return w
}

var days = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

// ParseWeek reads rules such as "Mon-Fri 08-18: 1.5", of which a later one overrides an earlier
// one. DAYS, a list such as Sat,Sun or Mon-Wed,Fri, and HOURS, such as 08-18 or 22-06, which ends
// in the next morning, may each be left out. Hours without a rule have the factor 1. An error names
// the rule.
func ParseWeek(rules []string) (Week, error) {
	w := Flat()
	if len(rules) > len(w) {
		return w, fmt.Errorf("%d rules are more than a week has hours", len(rules))
	}
	for _, rule := range rules {
		if err := w.apply(rule); err != nil {
			return w, fmt.Errorf("rule %.60q: %w (try \"Mon-Fri 08-18: 1.5\")", rule, err)
		}
	}
	return w, nil
}

func (w *Week) apply(rule string) error {
	when, value, found := strings.Cut(rule, ":")
	if !found {
		return errors.New("it has no colon before its factor")
	}
	factor, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(factor >= 0 && factor <= maxPrice) {
		return fmt.Errorf("%.20q is not a factor of at least 0", strings.TrimSpace(value))
	}
	words := strings.Fields(when)
	if len(words) > 2 {
		return errors.New("it has more than DAYS and HOURS")
	}
	on := [7]bool{true, true, true, true, true, true, true}
	from, to := 0, 24
	for i, word := range words {
		if isHours := word[0] >= '0' && word[0] <= '9'; isHours && i == len(words)-1 {
			from, to, err = parseHours(word)
		} else if i == 0 {
			on, err = parseDays(word)
		} else {
			err = fmt.Errorf("%.20q are not hours", word)
		}
		if err != nil {
			return err
		}
	}
	for day, is := range on {
		for hour := from; is && hour < to; hour++ {
			w[(day*24+hour)%len(w)] = factor
		}
	}
	return nil
}

// parseDays reads a list of days and ranges of days, which may go over Sunday.
func parseDays(text string) (on [7]bool, err error) {
	for item := range strings.SplitSeq(text, ",") {
		first, last, ranged := strings.Cut(item, "-")
		if !ranged {
			last = first
		}
		from, err := parseDay(first)
		if err != nil {
			return on, err
		}
		to, err := parseDay(last)
		if err != nil {
			return on, err
		}
		for day := from; ; day = (day + 1) % 7 {
			on[day] = true
			if day == to {
				break
			}
		}
	}
	return on, nil
}

func parseDay(text string) (int, error) {
	for i, day := range days {
		if strings.EqualFold(text, day) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%.20q is not a day: there are Mon, Tue, Wed, Thu, Fri, Sat and Sun", text)
}

// parseHours returns the first hour and the one after the last, which is more than 24 if it lies in
// the next morning.
func parseHours(text string) (from, to int, err error) {
	first, last, _ := strings.Cut(text, "-")
	from, err = strconv.Atoi(first)
	if err == nil {
		to, err = strconv.Atoi(last)
	}
	if err != nil || from < 0 || from > 23 || to < 0 || to > 24 || from == to {
		return 0, 0, fmt.Errorf("%.20q are not hours FROM-TO of a day", text)
	}
	if to < from {
		to += 24
	}
	return from, to, nil
}
