package elastic

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// reserve tries slots of sites and partitions that are named by their place in the order; those of
// one digit are equal by all preferences.
func reserve(t *testing.T, names string, errs map[string]error, most int) (tried []string, o Outcome) {
	t.Helper()
	answers := make([][]Slot, 1)
	var end int64
	var site, partition string
	// END SITE PARTITION and a space
	for rest := names; rest != ""; rest = rest[min(len(rest), 4):] {
		if _, err := fmt.Sscanf(rest, "%1d%1s%1s", &end, &site, &partition); err != nil {
			t.Fatal(err)
		}
		answers[0] = append(answers[0], Slot{Site: site, Partition: partition, Start: int64(len(answers[0])), End: 100 + end, Nodes: 1, Limit: 1, Prob: 1})
	}
	o = Reserve(Rank(answers, Preferences{{By: End}}, 0), func(s *Slot) error {
		tried = append(tried, shape(s))
		return errs[shape(s)]
	}, most)
	return tried, o
}

func shape(s *Slot) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%d%s%s", s.End-100, s.Site, s.Partition)
}

func TestReserve(t *testing.T) {
	busy := errors.New("busy")
	down := fmt.Errorf("%w: it does not answer", ErrSite)
	for name, c := range map[string]struct {
		slots         string
		errs          map[string]error
		most          int
		tried         []string
		taken, runner string
		more          bool
	}{
		"none":                    {most: 9},
		"the first":               {slots: "2Ax 1Bx", most: 9, tried: []string{"1Bx"}, taken: "1Bx", runner: "2Ax"},
		"the only one":            {slots: "1Bx", most: 9, tried: []string{"1Bx"}, taken: "1Bx"},
		"the second":              {slots: "1Ax 2Bx 3Cx", errs: map[string]error{"1Ax": busy}, most: 9, tried: []string{"1Ax", "2Bx"}, taken: "2Bx", runner: "3Cx"},
		"no other":                {slots: "1Ax 2Bx", errs: map[string]error{"1Ax": busy}, most: 9, tried: []string{"1Ax", "2Bx"}, taken: "2Bx"},
		"nothing holds":           {slots: "1Ax 2Bx", errs: map[string]error{"1Ax": busy, "2Bx": busy}, most: 2, tried: []string{"1Ax", "2Bx"}},
		"too many":                {slots: "1Ax 2Bx 3Cx", errs: map[string]error{"1Ax": busy, "2Bx": busy}, most: 2, tried: []string{"1Ax", "2Bx"}, more: true},
		"none may be tried":       {slots: "1Ax", most: 0, more: true},
		"a site is down":          {slots: "1Ax 2Ax 2Ay 2Bx 3Ax", errs: map[string]error{"1Ax": down}, most: 9, tried: []string{"1Ax", "2Bx"}, taken: "2Bx"},
		"the same again":          {slots: "1Ax 1Ax 1Ax 2Ax", most: 9, tried: []string{"1Ax"}, taken: "1Ax", runner: "2Ax"},
		"another partition":       {slots: "1Ax 1Ax 1Ay 2Ax", most: 9, tried: []string{"1Ax"}, taken: "1Ax", runner: "1Ay"},
		"another site":            {slots: "1Ax 1Ax 1Bx 2Ax", most: 9, tried: []string{"1Ax"}, taken: "1Ax", runner: "1Bx"},
		"not one that has failed": {slots: "1Ax 1Bx 2Cx", errs: map[string]error{"1Ax": busy}, most: 9, tried: []string{"1Ax", "1Bx"}, taken: "1Bx", runner: "2Cx"},
	} {
		tried, o := reserve(t, c.slots, c.errs, c.most)
		if diff := cmp.Diff(c.tried, tried); diff != "" || shape(o.Taken) != c.taken || shape(o.RunnerUp) != c.runner || o.More != c.more {
			t.Errorf("%s: %s taken, then %s, more %v\n%s", name, shape(o.Taken), shape(o.RunnerUp), o.More, diff)
		}
		var failed []string
		for _, f := range o.Tried {
			failed = append(failed, shape(&f.Slot))
			if !errors.Is(f.Err, c.errs[shape(&f.Slot)]) {
				t.Errorf("%s: %v", name, f)
			}
		}
		want := c.tried
		if c.taken != "" {
			want = append([]string(nil), want[:len(want)-1]...)
		}
		if diff := cmp.Diff(want, failed); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
