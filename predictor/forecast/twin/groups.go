package twin

import "github.com/varq-project/varq/predictor/stats"

// alike are jobs of equal requests of one user. They are taken to end together: who submits
// many such jobs does with each what she does with the others. All others are taken to end
// independently. On real logs the room that is so forecast comes about as often as it should.
type alike struct {
	user, cpus int32
	limit      int64
}

func (c *occupant) alike() alike { return alike{c.user, c.size.CPUs, c.limit} }

// groups is a sum over occupants, those that are alike together.
type groups struct {
	index map[alike]int
	list  [][]stats.Part
}

// add adds what an occupant adds to the sum with a probability.
func (g *groups) add(c *occupant, size int64, prob float64) {
	if g.index == nil {
		g.index = make(map[alike]int)
	}
	key := c.alike()
	i, ok := g.index[key]
	if !ok {
		i = len(g.list)
		g.index[key], g.list = i, append(g.list, nil)
	}
	g.list[i] = append(g.list[i], stats.Part{Size: size, Prob: prob})
}

// atMost returns the probability that the sum is at most a bound.
func (g *groups) atMost(bound int64) float64 { return stats.SumAtMost(g.list, bound) }
