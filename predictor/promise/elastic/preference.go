package elastic

import (
	"errors"
	"fmt"
	"strings"
)

// Criterion is what slots are compared by.
type Criterion string

// The criteria. The smaller value is preferred, unless a Preference says otherwise.
const (
	End   Criterion = "end"   // when the slot ends
	Start Criterion = "start" // when it begins
	Time  Criterion = "time"  // how long it is
	Nodes Criterion = "nodes" // how many nodes it has
	Work  Criterion = "work"  // nodes times time
	Cost  Criterion = "cost"
	Prob  Criterion = "prob" // with what probability it can be had
)

// criteria has all of them, with the value of a slot by each.
var criteria = []struct {
	name Criterion
	of   func(s *Slot) float64
}{
	{End, func(s *Slot) float64 { return float64(s.End) }},
	{Start, func(s *Slot) float64 { return float64(s.Start) }},
	{Time, func(s *Slot) float64 { return float64(s.End - s.Start) }},
	{Nodes, func(s *Slot) float64 { return float64(s.Nodes) }},
	{Work, func(s *Slot) float64 { return float64(s.Nodes) * float64(s.End-s.Start) }},
	{Cost, func(s *Slot) float64 { return s.Cost }},
	{Prob, func(s *Slot) float64 { return s.Prob }},
}

// of returns the function that says the value of a slot, or nil if there is no such criterion.
func (c Criterion) of() func(s *Slot) float64 {
	for _, known := range criteria {
		if known.name == c {
			return known.of
		}
	}
	return nil
}

// Preference is one of the user's aims (an objective function of the paper).
type Preference struct {
	By   Criterion
	Most bool // the larger value is preferred
}

// String returns the preference as it is written in a list: -prob for the highest probability.
func (p Preference) String() string {
	if p.Most {
		return "-" + string(p.By)
	}
	return string(p.By)
}

// Preferences are aims in decreasing importance: a later one decides where the earlier ones find no
// difference.
type Preferences []Preference

// DefaultPreferences are those of a user who says none: the paper's.
func DefaultPreferences() Preferences { return Preferences{{By: End}, {By: Cost}, {Prob, true}} }

// ParsePreferences reads a list such as end,cost,-prob. A minus prefers the larger value.
func ParsePreferences(text string) (Preferences, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("there are no preferences (try end,cost,-prob)")
	}
	if len(text) > 200 {
		return nil, fmt.Errorf("%.40q... is too long for preferences (try end,cost,-prob)", text)
	}
	var all Preferences
	for item := range strings.SplitSeq(text, ",") {
		name, most := strings.CutPrefix(strings.TrimSpace(item), "-")
		all = append(all, Preference{Criterion(name), most})
	}
	return all, all.Check()
}

// Criteria returns the names of all criteria.
func Criteria() []string {
	names := make([]string, len(criteria))
	for i, c := range criteria {
		names[i] = string(c.name)
	}
	return names
}

// Check says what is wrong with preferences: there are none, one is unknown, or one is there twice.
func (p Preferences) Check() error {
	if len(p) == 0 {
		return errors.New("there are no preferences (try end,cost,-prob)")
	}
	for i, preference := range p {
		if preference.By.of() == nil {
			return fmt.Errorf("%.40q is not a preference: there are %s, with - for the most", preference.By, strings.Join(Criteria(), ", "))
		}
		for _, earlier := range p[:i] {
			if earlier.By == preference.By {
				return fmt.Errorf("%s is preferred twice", preference.By)
			}
		}
	}
	return nil
}

// String returns what ParsePreferences reads.
func (p Preferences) String() string {
	texts := make([]string, len(p))
	for i, preference := range p {
		texts[i] = preference.String()
	}
	return strings.Join(texts, ",")
}
