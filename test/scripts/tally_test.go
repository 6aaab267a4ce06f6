package scripts

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tally counts scripts, by owner and by the reasons why some are refused.
type tally struct {
	owners  map[string]owner
	reasons map[string][]string // the scripts, by reason
}

// owner counts an owner's scripts.
type owner struct{ accepted, all float64 }

// count counts a script with the reasons why it is refused.
func (t *tally) count(s *Script, refused []string) {
	if t.owners == nil {
		t.owners, t.reasons = map[string]owner{}, map[string][]string{}
	}
	o := t.owners[s.Owner]
	if o.all++; len(refused) == 0 {
		o.accepted++
	}
	t.owners[s.Owner] = o
	for _, reason := range refused {
		reason = short(reason)
		t.reasons[reason] = append(t.reasons[reason], s.ID)
	}
}

// accepted returns the share of the scripts that are accepted, if each owner weighs the same.
func (t *tally) accepted() float64 {
	sum := 0.
	for _, o := range t.owners {
		sum += o.accepted / o.all
	}
	return sum / float64(len(t.owners))
}

// log tells what was refused, why and how often.
func (t *tally) log(to *testing.T) {
	reasons := slices.SortedFunc(maps.Keys(t.reasons), func(a, b string) int {
		return cmp.Or(len(t.reasons[b])-len(t.reasons[a]), strings.Compare(a, b))
	})
	for _, reason := range reasons {
		ids := t.reasons[reason]
		to.Logf("  %3d %s (%s)", len(ids), reason, strings.Join(ids[:min(3, len(ids))], " "))
	}
}

func (t *tally) share() string {
	all, accepted := 0., 0.
	for _, o := range t.owners {
		all, accepted = all+o.all, accepted+o.accepted
	}
	text := fmt.Sprintf("%.3f (%.0f of %.0f scripts, %d owners)", t.accepted(), accepted, all, len(t.owners))
	return strings.TrimPrefix(text, "0")
}

var (
	values  = regexp.MustCompile(`=\S+`)
	numbers = regexp.MustCompile(`\d+`)
)

// short returns a reason without what differs from script to script.
func short(reason string) string {
	reason = numbers.ReplaceAllString(values.ReplaceAllString(reason, "="), "N")
	if len(reason) > 120 {
		reason = reason[:120] + "..."
	}
	return reason
}
