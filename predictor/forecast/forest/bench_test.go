package forest

import (
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
)

// BenchmarkLearn learns cases of 60 features. From time to time, it grows a tree of each
// kind.
func BenchmarkLearn(b *testing.B) {
	for name, effort := range map[string]Effort{"light": Light, "thorough": Thorough} {
		b.Run(name, func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 1))
			m, x := New(60, effort, random, func(task func()) { go task() }), make([]float32, 60)
			for b.Loop() {
				draw(x, random)
				m.Learn(m.Case(x), float64(x[0]*x[1]*1000))
				m.Grow()
			}
		})
	}
}

func BenchmarkPredict(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	m := learnt(20_000, random, steep)
	x := make([]float32, 20)
	draw(x, random)
	var d delay.Distribution
	for b.Loop() {
		m.Predict(m.Case(x), &d)
	}
}

// BenchmarkTree grows one tree of each kind from 55,000 cases of 80 features, a third of which have
// few values and some of which are alike.
func BenchmarkTree(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	c, x := cases{width: 81}, make([]float32, 81)
	for range 55_000 {
		draw(x, random)
		for f := range 27 {
			x[f] = float32(int(x[f] * float32(1+f)))
		}
		x[40], x[50] = x[30], x[30]
		c.push(x, 7+x[1]+x[60]*x[70]+random.Float32(), 0)
	}
	g := newGrowers(random)
	g.use(&c)
	b.Run("greedy", func(b *testing.B) {
		for b.Loop() {
			c.drawRows(Thorough.boost.sample, random, &g.random.rows)
			g.tree(Thorough.boost, c.width-1, c.target)
		}
	})
	b.Run("random", func(b *testing.B) {
		for b.Loop() {
			c.drawRows(Thorough.forest.sample, random, &g.random.rows)
			g.tree(Thorough.forest, c.width, c.target)
		}
	})
}
