package expert

import (
	"sort"

	"github.com/varq-project/varq/predictor/forecast/features"
)

// moments remember what was known at some times in the last maxLead seconds. The longer
// ago a time is, the less exact it need be, so the spacing of moments grows with their age.
//
// Invariant: past is in the order of time. Take any time of the last maxLead seconds, but
// after the first event. The last moment before it is earlier by not much more than the
// larger of spacing and 1/coarseness of the moment's age.
type moments struct {
	extractor *features.Extractor // what is known now
	newest    int64               // the time of the last event
	past      []moment
}

// moment is what was known at a time.
type moment struct {
	at int64
	*features.Extractor
}

const (
	spacing    = 600 // seconds
	coarseness = 8
)

// at returns what was known at about a time. It reports false if that is forgotten.
func (m *moments) at(time int64) (moment, bool) {
	if m.present(time) {
		return moment{time, m.extractor}, true
	}
	after := sort.Search(len(m.past), func(i int) bool { return m.past[i].at > time })
	if after == 0 {
		return moment{}, false
	}
	return m.past[after-1], true
}

// present reports whether nothing has happened since a time.
func (m *moments) present(time int64) bool { return time >= m.newest }

// remember is called just before an event changes what is known. It stores a moment, unless
// the last moment is nearer than spacing.
func (m *moments) remember(at int64) {
	n := len(m.past)
	if at > m.newest && (n == 0 || at >= m.past[n-1].at+spacing) {
		m.past = append(thinned(m.past, at), moment{at, m.extractor.Snapshot()})
	}
	m.newest = max(m.newest, at)
}

// thinned drops, in place, the moments that are older than maxLead at a time. It also drops
// a moment if its neighbours are near enough to each other for their age.
func thinned(past []moment, at int64) []moment {
	old := sort.Search(len(past), func(i int) bool { return float64(at-past[i].at) <= maxLead })
	kept := past[:0]
	for i := old; i < len(past); i++ {
		if k := len(kept); k >= 2 && coarseness*(past[i].at-kept[k-2].at) <= at-kept[k-2].at {
			kept = kept[:k-1] // past[i] is near enough to the one before it
		}
		kept = append(kept, past[i])
	}
	clear(past[len(kept):])
	return kept
}
