package scenario

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// DefaultProb is the probability that ParseReservations sets unless told otherwise.
const DefaultProb = .95

// The other defaults of reservations.
const (
	defaultAhead  = 2 * 3600 // seconds (Smith 2000, section 2.2)
	defaultEvery  = 6 * 3600 // seconds (VARQ 2007, section 4.4)
	defaultReplan = 240      // seconds
	defaultMethod = Blend    // varqd's
	defaultCost   = 1        // varqd's: what was quoted
	defaultA      = .8       // Restart.A, the price of the work that a stopped job has done
)

// longest bounds durations, in seconds.
const longest = 366 * 24 * 3600

// mostCost bounds multiples of what was quoted.
const mostCost = 1000

// ParseReservations reads "none", or reservations of one kind with their settings:
//
//	hard=10%,ahead=2h,protected=100%,restart=0.8
//	varq=10%,prob=0.95,every=6h,replan=4m,max-hold=4,max-cost=1x,best-effort,forecaster=blend
//	varq=10%,take-offers
//
// Every setting but the share has a default. Hard reservations protect the whole queue
// and stop no job by default. VARQ's reservations are by default what varqd makes: planned
// with the blend, holding processors no longer than varqd lets them, and at no more than the
// quoted cost. Their work starts at the deadline. With another forecaster there is by default
// no bound on the time for which they hold processors, as in the paper.
//
// With arrays=all, half or first, bursts of like jobs are arrays, and a promise is of so many of
// their tasks. Only arrays ask then, and the share is that of them.
//
// The forecasters are qbets, history and blend. The value of restart is Restart.A;
// Restart.B is A - 1. The value of max-hold is a multiple of the job's time limit, that of
// max-cost a multiple of what was quoted, or none.
// Shares and probabilities are numbers from 0 to 1 or percentages. Durations are
// written as in Go or in Slurm. An error names the setting that is wrong.
func ParseReservations(text string) (Reservations, error) {
	if text == "none" {
		return Reservations{}, nil
	}
	parts := strings.Split(text, ",")
	name, value, _ := strings.Cut(parts[0], "=")
	share, err := parseShare(value)
	if name != "hard" && name != "varq" {
		return Reservations{}, fmt.Errorf("%.40q is neither none, hard=SHARE nor varq=SHARE", parts[0])
	}
	if err != nil {
		return Reservations{}, fmt.Errorf("%s: %w", name, err)
	}
	var r Reservations
	var set func(key, value string) error
	if name == "hard" {
		r.Hard = &Hard{Share: share, Ahead: defaultAhead, Protected: 1}
		set = r.Hard.set
	} else {
		r.VARQ = &VARQ{Share: share, Prob: DefaultProb, Every: defaultEvery, Replan: defaultReplan, Method: defaultMethod, MaxCost: defaultCost}
		set = r.VARQ.set
	}
	seen := make(map[string]bool)
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		if seen[key] {
			return Reservations{}, fmt.Errorf("%s: given twice", key)
		}
		seen[key] = true
		if err := set(key, value); err != nil {
			return Reservations{}, fmt.Errorf("%.40s: %w", key, err)
		}
	}
	if seen["take-offers"] && seen["arrays"] {
		return Reservations{}, errors.New("take-offers: no offers are made to arrays; leave out arrays")
	}
	if r.VARQ != nil && !seen["max-hold"] {
		r.VARQ.MaxHold = r.VARQ.Method.maxHold()
	}
	return r, nil
}

func (h *Hard) set(key, value string) (err error) {
	switch key {
	case "ahead":
		h.Ahead, err = parseSeconds(value, 0)
	case "protected":
		h.Protected, err = parseShare(value)
	case "restart":
		h.Restart = &sched.Restart{A: defaultA, B: defaultA - 1}
		if value != "" {
			h.Restart.A, err = parseShare(value)
			h.Restart.B = h.Restart.A - 1
		}
	default:
		err = errors.New("hard reservations have only ahead, protected and restart")
	}
	return err
}

func (v *VARQ) set(key, value string) (err error) {
	switch key {
	case "prob":
		v.Prob, err = prob.Parse(value)
	case "every":
		v.Every, err = parseSeconds(value, 60)
	case "replan":
		v.Replan, err = parseSeconds(value, 0)
	case "max-hold":
		v.MaxHold, err = strconv.ParseFloat(value, 64)
		if err != nil || !(v.MaxHold >= 0) {
			err = fmt.Errorf("%.40q is not a number of time limits", value)
		}
	case "max-cost":
		v.MaxCost, err = parseCost(value)
	case "arrays":
		v.Arrays, err = parseArrays(value)
	case "best-effort":
		v.BestEffort, err = true, noValue(value)
	case "take-offers":
		v.TakeOffers, err = true, noValue(value)
	case "forecaster":
		v.Method, err = parseMethod(value)
	default:
		err = errors.New("VARQ's reservations have only prob, arrays, every, replan, max-hold, max-cost, best-effort, take-offers and forecaster")
	}
	return err
}

// noValue returns an error if a setting that takes no value has one.
func noValue(value string) error {
	if value != "" {
		return errors.New("takes no value")
	}
	return nil
}

// maxHold returns the default of VARQ.MaxHold: varqd's bound for Blend, and no bound for
// the other methods, as in the paper.
func (m Method) maxHold() float64 {
	if m == Blend {
		return trajectory.DefaultMaxHold
	}
	return 0
}

// parseCost reads a VARQ.MaxCost: none, or a multiple such as 1.5x.
func parseCost(text string) (float64, error) {
	if text == "none" {
		return 0, nil
	}
	number, isTimes := strings.CutSuffix(text, "x")
	times, err := strconv.ParseFloat(number, 64)
	if err != nil || !isTimes || !(times >= 1 && times <= mostCost) {
		return 0, fmt.Errorf("%.40q is neither none nor a multiple of what was quoted, from 1x to %dx", text, mostCost)
	}
	return times, nil
}

// formatCost writes a VARQ.MaxCost as parseCost reads it.
func formatCost(times float64) string {
	if times == 0 {
		return "none"
	}
	return strconv.FormatFloat(times, 'g', -1, 64) + "x"
}

// parseShare reads a share from 0 to 1, or 0% to 100%.
func parseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	share, err := strconv.ParseFloat(number, 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share >= 0 && share <= 1) {
		return 0, fmt.Errorf("%.40q is not a share from 0%% to 100%%", text)
	}
	return share, nil
}

// parseSeconds reads a duration between least and longest, in seconds.
func parseSeconds(text string, least int64) (int64, error) {
	seconds, err := slurmtime.ParseSpan(text)
	if err != nil {
		return 0, err
	}
	if seconds < least || seconds > longest {
		return 0, fmt.Errorf("%.40q is not between %s and a year", text, slurmtime.FormatDuration(least))
	}
	return seconds, nil
}

// String writes r as ParseReservations reads it.
func (r Reservations) String() string {
	switch {
	case r.Hard != nil:
		h := r.Hard
		text := fmt.Sprintf("hard=%s,ahead=%s,protected=%s", percent(h.Share), slurmtime.FormatDuration(h.Ahead), percent(h.Protected))
		if h.Restart != nil {
			text += ",restart=" + strconv.FormatFloat(h.Restart.A, 'g', -1, 64)
		}
		return text
	case r.VARQ != nil:
		v := r.VARQ
		text := fmt.Sprintf("varq=%s,prob=%s,every=%s,replan=%s", percent(v.Share), strconv.FormatFloat(v.Prob, 'g', -1, 64),
			slurmtime.FormatDuration(v.Every), slurmtime.FormatDuration(v.Replan))
		if v.MaxHold != v.Method.maxHold() {
			text += ",max-hold=" + strconv.FormatFloat(v.MaxHold, 'g', -1, 64)
		}
		if v.MaxCost != defaultCost {
			text += ",max-cost=" + formatCost(v.MaxCost)
		}
		if v.Arrays != NoArrays {
			text += ",arrays=" + v.Arrays.String()
		}
		if v.BestEffort {
			text += ",best-effort"
		}
		if v.TakeOffers {
			text += ",take-offers"
		}
		if v.Method != defaultMethod {
			text += ",forecaster=" + v.Method.String()
		}
		return text
	}
	return "none"
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'g', 12, 64) + "%" }
