package fit

import (
	"cmp"
	"slices"
)

// grid returns places all over the family's parameters.
func (f *family) grid() [][]float64 {
	places := [][]float64{nil}
	for _, steps := range f.steps {
		var finer [][]float64
		for _, p := range places {
			for i := range steps + 1 {
				finer = append(finer, append(slices.Clone(p), float64(i)/float64(steps)))
			}
		}
		places = finer
	}
	return places
}

// search returns a place where a loss is least, near some places: from each of the best of these it
// steps in each direction, diagonals included, while that helps, and then by half as much (compass
// search; Kolda, Lewis and Torczon 2003). Parameters are numbers from 0 to 1.
func (f *family) search(starts [][]float64, loss func([]float64) float64) []float64 {
	const tried = 5
	all := make([]placed, len(starts))
	for i, u := range starts {
		all[i] = placed{u, loss(u)}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.loss, b.loss) })
	best := all[0]
	for _, p := range all[:min(tried, len(all))] {
		if p = f.descend(p, loss); p.loss < best.loss {
			best = p
		}
	}
	return best.at
}

// placed is a place with its loss.
type placed struct {
	at   []float64
	loss float64
}

// descend steps from a place to a better one until there is none nearby.
func (f *family) descend(from placed, loss func([]float64) float64) placed {
	const (
		first = 1. / 16
		last  = 1. / 8192
	)
	here := placed{slices.Clone(from.at), from.loss}
	next := make([]float64, f.parameters)
	for step := first; step >= last; {
		better := false
		for _, way := range f.ways() {
			for i, u := range here.at {
				next[i] = min(1, max(0, u+step*way[i]))
			}
			if l := loss(next); l < here.loss {
				copy(here.at, next)
				here.loss, better = l, true
			}
		}
		if !better {
			step /= 2
		}
	}
	return here
}

// ways returns the directions of steps.
func (f *family) ways() [][]float64 {
	if f.parameters == 1 {
		return [][]float64{{-1}, {1}}
	}
	return [][]float64{{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, -1}, {1, 1}, {-1, 1}, {1, -1}}
}
