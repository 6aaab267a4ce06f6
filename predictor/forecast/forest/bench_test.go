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
