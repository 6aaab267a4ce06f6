package broker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/elastic"
)

// Together says which jobs are to run together.
type Together struct {
	// Parts has the sites of each part. Those of one part are alternatives: a job at one of them
	// runs.
	Parts [][]string
	// Partitions makes a site's partitions alternatives, too: it has a job in each. Otherwise a
	// site has one job, in the partition where it is most probable.
	Partitions bool
	// Prob is the least probability, of jobs that have nothing to do with one another, that will
	// do.
	Prob   float64
	Prefer elastic.Preferences
}

// Choose returns slots for each part, all of one size and with one start, or none if there is no
// such start. Of several it is what the user prefers of: the last end, the nodes and the cost of
// all parts, and the probability that of each part one starts. A part has all slots that fit, those
// first that the user prefers.
func (t *Together) Choose(answers []Answer) []Choice {
	type key struct {
		start int64
		nodes int32
	}
	together := map[key][]Choice{}
	for i := range answers {
		a := &answers[i]
		part := 1 + slices.IndexFunc(t.Parts, func(sites []string) bool { return slices.Contains(sites, a.Site) })
		for n := range a.Slots {
			s := &a.Slots[n]
			k := key{s.Start, s.Nodes}
			same := slices.IndexFunc(together[k], func(c Choice) bool { return c.Site == a.Site && (!t.Partitions || c.Partition == s.Partition) })
			switch {
			case same < 0:
				together[k] = append(together[k], Choice{Site: a.Site, Slot: *s, Part: part})
			case s.Estimate > together[k][same].Estimate:
				together[k][same].Slot = *s
			}
		}
	}
	var slots []elastic.Slot
	of := map[elastic.Slot][][]Choice{}
	for k, members := range together {
		parts := t.split(members)
		whole := elastic.Slot{Site: "all", Start: k.start, Prob: 1}
		for _, part := range parts {
			add(&whole, part)
		}
		if whole.Prob > 0 && whole.Prob >= t.Prob {
			slots = append(slots, whole)
			of[whole] = parts
		}
	}
	for group := range elastic.Rank([][]elastic.Slot{slots}, t.Prefer, 0) {
		return bounded(of[*group[0]])
	}
	return nil
}

// split returns the slots of each part, in the order in which the user prefers them.
func (t *Together) split(members []Choice) [][]Choice {
	parts := make([][]Choice, len(t.Parts))
	for part := range parts {
		var slots []elastic.Slot
		index := map[elastic.Slot]int{}
		for i := range members {
			if m := &members[i]; m.Part == part+1 {
				s := slotOf(m.Site, &m.Slot)
				slots, index[s] = append(slots, s), i
			}
		}
		for group := range elastic.Rank([][]elastic.Slot{slots}, t.Prefer, 0) {
			for _, s := range group {
				parts[part] = append(parts[part], members[index[*s]])
			}
		}
	}
	return parts
}

// add adds a part to all parts together. Of its alternatives one runs, and the nodes of all may
// idle before.
func add(whole *elastic.Slot, part []Choice) {
	none, work := 1., 0.
	for i := range part {
		m := &part[i]
		idle := 0.
		if units := m.Work.BillingSeconds + m.Worst.BillingSeconds; units > 0 {
			idle = m.Cost * m.Worst.BillingSeconds / units
		}
		whole.End, whole.Limit = max(whole.End, m.End), max(whole.Limit, m.Limit)
		whole.Cost += idle
		work, none = max(work, m.Cost-idle), none*(1-m.Estimate)
		if i == 0 {
			whole.Nodes += m.Nodes
		}
	}
	whole.Cost += work
	whole.Prob *= 1 - none
}

// bounded returns the members of all parts, no more than a group may have: the first of each part,
// and so on.
func bounded(parts [][]Choice) (members []Choice) {
	most := 0
	for _, part := range parts {
		most = max(most, len(part))
	}
	for n := range most {
		for _, part := range parts {
			if n < len(part) && (n == 0 || len(members) < api.MaxGroupMembers) {
				members = append(members, part[n])
			}
		}
	}
	slices.SortStableFunc(members, func(a, b Choice) int { return cmp.Compare(a.Part, b.Part) })
	return members
}

// why says why there is no time at which all jobs can run: some of the parts have no slot at all,
// or none that fits those of the others.
func (t *Together) why(answers []Answer) string {
	for _, part := range t.Parts {
		silent, offered := []string{}, false
		for i := range answers {
			a := &answers[i]
			if !slices.Contains(part, a.Site) {
				continue
			}
			offered = offered || len(a.Slots) > 0
			if a.Error != "" {
				silent = append(silent, a.Site)
			}
		}
		switch names := strings.Join(part, " or "); {
		case offered:
		case len(silent) == len(part):
			return fmt.Sprintf("a job is to run at %s, which has not answered as it should: try again once it does (varq sites tells), or leave it out of --clusters", names)
		default:
			return fmt.Sprintf("a job is to run at %s, which offers nothing: try a wider window, other partitions, or a lower --min-prob, or leave it out of --clusters", names)
		}
	}
	return "there is no time at which all clusters offer enough: try a wider window, more --slots, or a lower --min-prob"
}
