package scenario

import (
	"fmt"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// TestMaxCost: no job holds its processors for longer than MaxCost times what was quoted with
// its promise. Without MaxCost, some jobs do.
func TestMaxCost(t *testing.T) {
	for _, c := range []struct {
		method Method
		jobs   int
	}{{QBETS, 6000}, {Blend, 800}} {
		jobs := busy(c.jobs)
		for _, times := range []float64{1, 1.5, 0} {
			t.Run(fmt.Sprintf("%v at most %v", c.method, times), func(t *testing.T) {
				t.Parallel()
				promised, above := 0, 0
				s := Scenario{Procs: 64, Backfill: sched.EASY, Seed: 3,
					Reservations: Reservations{VARQ: &VARQ{Share: .2, Prob: .75, Every: 6 * 3600, Replan: 900, Method: c.method, MaxCost: times}}}
				_, err := s.Run(each(jobs), Callbacks{Answered: func(o Outcome) {
					if o.Refusal != "" {
						return
					}
					promised++
					if o.Held > max(1, times)*o.Quoted {
						above++
					}
				}})
				if err != nil {
					t.Fatal(err)
				}
				if promised < 30 {
					t.Errorf("only %d promises", promised)
				}
				if (times > 0) != (above == 0) {
					t.Errorf("%d of %d promises held longer than their ceiling", above, promised)
				}
			})
		}
	}
}
