package mixture

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestWeights compares the running sums with the definition, computed from the whole past.
func TestWeights(t *testing.T) {
	const experts, outcomes = 3, 400
	random := rand.New(rand.NewPCG(1, 1))
	groups := [...]string{"a", "b"}
	w := New(experts)
	var group [outcomes]string
	var losses [outcomes][experts]float64
	var weight [outcomes]float64
	for n := range outcomes {
		group[n] = groups[random.IntN(len(groups))]
		for i := range experts {
			losses[n][i] = random.Float64() * float64(i+1) / experts
		}
		weight[n] = random.Float64()
		w.Learn(group[n], losses[n][:], weight[n])
	}
	for _, c := range append(groups[:], "new") {
		var want, got [experts]float64
		sum := 0.
		for i := range experts {
			total, age, groupAge := 0., 0., 0. // ages are the weights of later outcomes
			for n := outcomes - 1; n >= 0; n-- {
				total += weight[n] * math.Pow(poolDecay, age) * losses[n][i]
				age += weight[n]
				if group[n] == c {
					total += weight[n] * math.Pow(groupDecay, groupAge) * losses[n][i]
					groupAge += weight[n]
				}
			}
			want[i] = math.Exp(-rate * total)
			sum += want[i]
		}
		w.Fill(got[:], c)
		for i := range experts {
			if math.Abs(got[i]-want[i]/sum) > 1e-9 {
				t.Errorf("group %s: expert %d weighs %v, want %v", c, i, got[i], want[i]/sum)
			}
		}
	}
}

// TestGroupsAreBounded: the number of groups in memory is bounded.
func TestGroupsAreBounded(t *testing.T) {
	w := New(1)
	for i := range 2*mostGroups + 5 {
		w.Learn(string(rune(i)), []float64{.5}, 1)
	}
	if len(w.groups) > mostGroups {
		t.Errorf("%d groups are remembered", len(w.groups))
	}
}
