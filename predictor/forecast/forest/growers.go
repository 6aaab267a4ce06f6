package forest

import (
	"math"
	"math/rand/v2"
)

// growers are the two ways to grow trees, on the same cases.
type growers struct {
	binned binned
	random grower
	greedy greedy
}

// newGrowers returns growers with a random source of their own, since trees grow in the background.
func newGrowers(rng *rand.Rand) growers {
	return growers{random: grower{rng: rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))}}
}

// use makes c the cases that trees are grown from.
func (g *growers) use(c *cases) {
	g.binned.bin(c)
	g.random.cases, g.random.binned = c, &g.binned
	g.greedy.binned = &g.binned
}

// tree grows a tree from the rows of g.random. It uses the given number of features, the first ones
// of the cases, or all but the last of them if it tries all.
func (g *growers) tree(how growth, features int, target []float32) grown {
	if how.tries == math.MaxInt {
		return g.greedy.tree(how, g.random.rows, target, g.greedy.median)
	}
	return g.random.tree(how, features, target)
}
