package forest

import (
	"math"
	"math/rand/v2"
)

// Hazards learns online how likely something that is still awaited is to happen within each of a
// few horizons, as a job that waits is to start. It learns from sights: what is awaited, seen at a
// moment, in features.
//
// That is survival analysis in discrete time (Cox 1972; Singer and Willett 1993): a logistic model
// tells which share of what is awaited at a moment happens within the next step. A delay that has
// not ended, which is censored, teaches all the same: that it outlasts the horizons of its sights.
// So Hazards knows of a change one horizon after it, while the delays that it prolongs end much
// later.
//
// A sight counts for a horizon once that is over, even if what was awaited happened long before. If
// it counted at once, the newest sights would all be of what happened soon. A sight of what was
// withdrawn within the horizon does not count.
//
// Each model is a boosted ensemble of small trees (Friedman 2001), renewed all the time as those of
// a Model are. LogOdds changes nothing, and may run at the same time as itself. The other methods
// must not run at the same time as any. Trees grow in the background.
type Hazards struct {
	horizons []int64 // seconds
	sights   sights
	models   []chance    // by horizon
	outcomes [][]outcome // by horizon: what trees grow from
	growers  growers
	nursery
}

// hazardPeriod is the number of sights between two growths of trees.
const hazardPeriod = 250

// NewHazards returns Hazards of horizons, in seconds, that has seen nothing. Sights have a number
// of features. With a nil Background, trees grow at once.
func NewHazards(features int, horizons []int64, rng *rand.Rand, b Background) *Hazards {
	return &Hazards{
		horizons: horizons,
		sights:   newSights(features),
		models:   make([]chance, len(horizons)),
		outcomes: make([][]outcome, len(horizons)),
		growers:  newGrowers(rng),
		nursery:  newNursery(b),
	}
}

// SlowDown makes Grow grow trees less often, as Model.SlowDown does.
func (h *Hazards) SlowDown(factor int) { h.slowDown(factor) }

// See takes in the features of something at a time. An id names it.
func (h *Hazards) See(features []float32, id, at int64) {
	h.protect(h.sights.pushed)
	h.sights.add(features, id, at)
}

// Happened takes in that what id names happened at a time.
func (h *Hazards) Happened(id, at int64) { h.sights.end(id, at, true) }

// Withdrawn takes in that what id names was withdrawn at a time. If it has happened before,
// Withdrawn changes nothing.
func (h *Hazards) Withdrawn(id, at int64) { h.sights.end(id, at, false) }

// Grow begins to grow trees if enough was seen since trees last began to grow. Those come into use.
// Grow waits for them if they are not ready.
func (h *Hazards) Grow(now int64) {
	if !h.renew(h.sights.pushed, hazardPeriod) {
		return
	}
	stable := h.sights.stable()
	trees := make([][]*tree, len(h.models))
	for i, horizon := range h.horizons {
		h.outcomes[i] = h.sights.outcomes(h.outcomes[i][:0], horizon, now)
		h.models[i].begin(h.outcomes[i])
	}
	h.begin(h.sights.pushed, func() {
		h.growers.use(&stable)
		for i := range h.models {
			trees[i] = h.models[i].grow(&h.growers, h.outcomes[i])
		}
	}, func() {
		for i := range h.models {
			for _, t := range trees[i] {
				h.models[i].put(t, chanceTrees)
			}
		}
	})
}

// LogOdds appends to list, for each horizon, the logarithm of the odds that what has these features
// now happens within the horizon. It is 0 as long as nothing is known.
func (h *Hazards) LogOdds(list, features []float32) []float32 {
	const most = 9
	for i := range h.models {
		list = append(list, max(-most, min(h.models[i].logOdds(features), most)))
	}
	return list
}

// sights are the newest sights.
type sights struct {
	cases // with nothing for their targets, and 0 for the prediction of an ensemble
	of    []sight
	// by id: the numbers of its sights, from 0, ascending, while its end is not known
	open map[int64][]uint64
	row  []float32 // scratch
}

// sight is what is known of a sight, beside its features.
type sight struct {
	id, at   int64
	end      int64 // when it happened or was withdrawn, or open
	happened bool
}

// open is the end of what is still awaited.
const open = math.MaxInt64

func newSights(features int) sights {
	return sights{cases: cases{width: features + 1}, open: map[int64][]uint64{}, row: make([]float32, features+1)}
}

func (s *sights) add(features []float32, id, at int64) {
	this := sight{id: id, at: at, end: open}
	if s.n < window {
		s.of = append(s.of, this)
	} else {
		s.forget(s.of[s.next].id)
		s.of[s.next] = this
	}
	s.open[id] = append(s.open[id], s.pushed)
	copy(s.row, features)
	s.push(s.row, 0, 0)
}

// forget forgets that the oldest sight, which is of id, is open, if it is.
func (s *sights) forget(id int64) {
	switch list := s.open[id]; {
	case len(list) == 0 || list[0] != s.pushed-window:
	case len(list) == 1:
		delete(s.open, id)
	default:
		s.open[id] = list[1:]
	}
}

// end notes the end of what id names.
func (s *sights) end(id, at int64, happened bool) {
	for _, number := range s.open[id] {
		of := &s.of[number%window]
		of.end, of.happened = at, happened
	}
	delete(s.open, id)
}

// outcome says whether what a row is a sight of happened within a horizon: 1 or 0.
type outcome struct {
	row      int32
	happened float32
}

// mostOutcomes is the most outcomes that trees are fitted to.
const mostOutcomes = 30_000

// outcomes appends to list, which is empty, the newest outcomes that are known of the sights that
// stable returns. One that has given way to newer ones never comes back.
func (s *sights) outcomes(list []outcome, horizon, now int64) []outcome {
	stable := s.stable()
	for age := 0; age < stable.n && len(list) < mostOutcomes; age++ {
		row := s.at(age)
		of := &s.of[row]
		switch over := of.at + horizon; {
		case over >= now:
		case of.end > over:
			list = append(list, outcome{int32(row), 0})
		case of.happened:
			list = append(list, outcome{int32(row), 1})
		}
	}
	return list
}
