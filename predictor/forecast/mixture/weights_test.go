package mixture

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestWeights holds the running sums against the definition, worked out from the
// whole past.
func TestWeights(t *testing.T) {
	const experts, outcomes = 3, 400
	random := rand.New(rand.NewPCG(1, 1))
	classes := [...]string{"a", "b"}
	w := New(experts)
	var class [outcomes]string
	var losses [outcomes][experts]float64
	for n := range outcomes {
		class[n] = classes[random.IntN(len(classes))]
		for i := range experts {
			losses[n][i] = random.Float64() * float64(i+1) / experts
		}
		w.Learn(class[n], losses[n][:])
	}
	for _, c := range append(classes[:], "new") {
		var want, got [experts]float64
		sum := 0.
		for i := range experts {
			total, age := 0., 0
			for n := outcomes - 1; n >= 0; n-- {
				total += math.Pow(poolDecay, float64(outcomes-1-n)) * losses[n][i]
				if class[n] == c {
					total += math.Pow(classDecay, float64(age)) * losses[n][i]
					age++
				}
			}
			want[i] = math.Exp(-rate * total)
			sum += want[i]
		}
		w.Of(c, got[:])
		for i := range experts {
			if math.Abs(got[i]-want[i]/sum) > 1e-9 {
				t.Errorf("class %s: expert %d weighs %v, want %v", c, i, got[i], want[i]/sum)
			}
		}
	}
}

// TestClassesAreBounded: classes without end do not take memory without end.
func TestClassesAreBounded(t *testing.T) {
	w := New(1)
	for i := range 2*mostClasses + 5 {
		w.Learn(string(rune(i)), []float64{.5})
	}
	if len(w.classes) > mostClasses {
		t.Errorf("%d classes are remembered", len(w.classes))
	}
}
