// Package elastic finds when, where and on how many nodes a job runs best if it is not rigid. It
// follows Röblitz, Schintke and Wendler, "Elastic Grid Reservations with User-Defined Optimization
// Policies" (2005).
//
// A Request has several sizes and a window of time. Each site answers it with slots: a start, an
// end, a number of nodes, a cost and a probability. A Ranking sorts the slots that are probable
// enough by the user's Preferences. Reserve tries the slots in this order until one holds.
package elastic

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/slurmtime"
)

// MaxSizes is how many sizes a request has at most.
const MaxSizes = 64

// Bounds of what a size may be: no cluster has more, and sums of them fit an int64.
const (
	maxNodes   = 1 << 20
	maxSeconds = 100 * 365 * 86400
)

// Size is one of the shapes that a job can take.
type Size struct {
	Nodes   int32
	Seconds int64 // time limit, a multiple of 60
}

// String returns what ParseSizes reads.
func (s Size) String() string {
	return fmt.Sprintf("%d:%s", s.Nodes, slurmtime.FormatDuration(s.Seconds))
}

// FormatSizes writes sizes as ParseSizes reads them.
func FormatSizes(sizes []Size) string {
	texts := make([]string, len(sizes))
	for i, s := range sizes {
		texts[i] = s.String()
	}
	return strings.Join(texts, ",")
}

// ParseSizes reads alternatives NODES:TIME, such as 4:2h,8:1h10m,16:45m, and returns them by
// their nodes. The first colon ends NODES; TIME is a span such as 1h10m or whatever sbatch --time
// takes: 4:02:00:00 is two hours on four nodes. Times are rounded up to whole minutes, in which
// Slurm keeps limits. There are at most MaxSizes, none twice, and none is slower than one with
// fewer nodes.
func ParseSizes(text string) ([]Size, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("there are no sizes (try 4:2h,8:1h10m,16:45m)")
	}
	if n := strings.Count(text, ",") + 1; n > MaxSizes {
		return nil, fmt.Errorf("%d sizes are more than %d: leave some out", n, MaxSizes)
	}
	var sizes []Size
	for item := range strings.SplitSeq(text, ",") {
		size, err := parseSize(strings.TrimSpace(item))
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, size)
	}
	slices.SortFunc(sizes, func(a, b Size) int { return cmp.Or(cmp.Compare(a.Nodes, b.Nodes), cmp.Compare(a.Seconds, b.Seconds)) })
	if err := CheckSizes(sizes); err != nil {
		return nil, err
	}
	return sizes, nil
}

func parseSize(text string) (Size, error) {
	nodes, limit, found := strings.Cut(text, ":")
	if !found {
		return Size{}, fmt.Errorf("%.40q is not a size NODES:TIME (try 4:2h)", text)
	}
	n, err := parseNodes(nodes)
	if err != nil {
		return Size{}, fmt.Errorf("size %.40q: %w", text, err)
	}
	seconds, err := slurmtime.ParseSpan(limit)
	if err != nil {
		return Size{}, fmt.Errorf("size %.40q: %w", text, err)
	}
	if seconds < 1 || seconds > maxSeconds {
		return Size{}, fmt.Errorf("size %.40q: a job needs a time of more than 0 and less than a century", text)
	}
	return Size{Nodes: n, Seconds: slurmtime.Minutes(seconds) * 60}, nil
}

// CheckSizes says what is wrong with a list of sizes, which ParseSizes and Reference.Sizes return
// in order: none, too many, impossible ones, or one with more nodes that is not as fast.
func CheckSizes(sizes []Size) error {
	if len(sizes) == 0 {
		return errors.New("there are no sizes")
	}
	if len(sizes) > MaxSizes {
		return fmt.Errorf("%d sizes are more than %d: leave some out", len(sizes), MaxSizes)
	}
	for i, s := range sizes {
		if s.Nodes < 1 || s.Nodes > maxNodes {
			return fmt.Errorf("size %d: %d is not a number of nodes from 1 to %d", i+1, s.Nodes, maxNodes)
		}
		if s.Seconds < 1 || s.Seconds > maxSeconds {
			return fmt.Errorf("size %v: a job needs a time of more than 0 and less than a century", s)
		}
		if i == 0 {
			continue
		}
		switch last := sizes[i-1]; {
		case s.Nodes == last.Nodes:
			return fmt.Errorf("there are two of %d nodes, for %s and for %s: leave one of them out", s.Nodes, slurmtime.FormatDuration(last.Seconds), slurmtime.FormatDuration(s.Seconds))
		case s.Nodes < last.Nodes:
			return fmt.Errorf("size %v comes after %v: sort sizes by their nodes", s, last)
		case s.Seconds > last.Seconds:
			return fmt.Errorf("%d nodes for %s are slower than %d for %s: leave them out", s.Nodes, slurmtime.FormatDuration(s.Seconds), last.Nodes, slurmtime.FormatDuration(last.Seconds))
		}
	}
	return nil
}

// Scaled returns the sizes with times multiplied by a factor and rounded up to whole minutes: that
// of a site is the power of the processors for which they are given by that of its own
// (pp_ref/pp_site). Times that no longer make sense are those of a century.
func Scaled(sizes []Size, factor float64) []Size {
	scaled := slices.Clone(sizes)
	for i := range scaled {
		scaled[i].Seconds = wholeMinutes(float64(scaled[i].Seconds) * factor)
	}
	return scaled
}

// TimeOn returns how long work takes on processors of a site's power that takes seconds on
// processors of another power: in whole minutes, as Scaled. If one of the powers is 0, which stands
// for not known, the work takes as long on both.
func TimeOn(site float64, seconds int64, power float64) int64 {
	if power == 0 || site == 0 {
		return seconds
	}
	return wholeMinutes(float64(seconds) * (power / site))
}

// wholeMinutes rounds seconds up to whole minutes, but for errors of rounding.
func wholeMinutes(seconds float64) int64 {
	const slip = 1e-6
	return int64(min(max(1, math.Ceil(seconds/60-slip)), maxSeconds/60)) * 60
}

// parseNodes reads a number of nodes, which as in Slurm may end in k or m.
func parseNodes(text string) (int32, error) {
	digits, times := text, int64(1)
	if n := len(text) - 1; n > 0 {
		switch text[n] {
		case 'k', 'K':
			digits, times = text[:n], 1<<10
		case 'm', 'M':
			digits, times = text[:n], 1<<20
		}
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || n < 1 || int64(n)*times > maxNodes {
		return 0, fmt.Errorf("%.40q is not a number of nodes from 1 to %d", text, maxNodes)
	}
	return int32(int64(n) * times), nil
}
