package slurmtime

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Unlimited is the duration that Slurm writes UNLIMITED.
const Unlimited int64 = math.MaxInt64

// maxDuration is the longest time limit read that is not Unlimited, in seconds:
// a century, more than any cluster allows.
const maxDuration = 100 * 365 * 86400

// ParseDuration reads a time limit in any format that sbatch --time takes:
// MINUTES, MINUTES:SECONDS, HOURS:MINUTES:SECONDS, DAYS-HOURS[:MINUTES[:SECONDS]]
// or UNLIMITED. It returns seconds.
func ParseDuration(text string) (int64, error) {
	fail := func(why string) (int64, error) {
		if why != "" {
			why = ": " + why
		}
		return 0, fmt.Errorf("%.40q is not a time limit%s (try 90, 1:30:00 or 1-12)", text, why)
	}
	switch strings.ToUpper(text) {
	case "UNLIMITED", "INFINITE":
		return Unlimited, nil
	}
	days, clock, withDays := strings.Cut(text, "-")
	if !withDays {
		days, clock = "0", text
	}
	if withDays && clock == "" {
		clock = "0" // as in Slurm
	}
	parts := strings.Split(clock, ":")
	// The unit of the first part depends on how many there are.
	first := [][]int64{{60}, {60, 1}, {3600, 60, 1}}
	if withDays {
		first = [][]int64{{3600}, {3600, 60}, {3600, 60, 1}}
	}
	if len(parts) > len(first) {
		return fail("it has too many parts")
	}
	d, err := count(days)
	if err != nil {
		return fail(err.Error())
	}
	seconds := d * 86400
	for i, unit := range first[len(parts)-1] {
		n, err := count(parts[i])
		if err != nil {
			if parts[i] == text { // there is nothing more to say
				return fail("")
			}
			return fail(err.Error())
		}
		seconds += n * unit
	}
	if seconds > maxDuration {
		return fail("it is too long")
	}
	return seconds, nil
}

// ParseSpan reads a duration as people say it, 90s or 1h30m, or in any format of
// ParseDuration. It returns seconds.
func ParseSpan(text string) (int64, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return int64(d / time.Second), nil
	}
	seconds, err := ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a duration such as 6h or 06:00:00", text)
	}
	return seconds, nil
}

// count reads a whole number that is small enough to calculate with.
func count(text string) (int64, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		if errors.Is(err, strconv.ErrRange) {
			return 0, fmt.Errorf("%.20s is too large", text)
		}
		return 0, fmt.Errorf("%.20q is not a number", text)
	}
	return int64(n), nil
}

// Minutes returns how many whole minutes hold a duration in seconds: Slurm keeps
// time limits in minutes.
func Minutes(seconds int64) int64 { return (seconds + 59) / 60 }

// FormatDuration writes seconds as Slurm does, [DAYS-]HH:MM:SS.
func FormatDuration(seconds int64) string {
	if seconds == Unlimited {
		return "UNLIMITED"
	}
	sign := ""
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	days, rest := seconds/86400, seconds%86400
	text := fmt.Sprintf("%02d:%02d:%02d", rest/3600, rest/60%60, rest%60)
	if days > 0 {
		text = fmt.Sprintf("%d-%s", days, text)
	}
	return sign + text
}
