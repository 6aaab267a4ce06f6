package scenario

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// With every method, the same seed chooses the same jobs and gives the same result, and
// Callbacks.Answered is called for each request.
func TestMethods(t *testing.T) {
	jobs := busy(1500)
	for _, m := range []Method{QBETS, History, Blend} {
		s := Scenario{Procs: 64, Backfill: sched.EASY, Seed: 6,
			Reservations: Reservations{VARQ: &VARQ{Share: .1, Prob: .5, Every: 6 * 3600, Method: m}}}
		if m == Blend {
			jobs = jobs[:300]
		}
		refused, promised, kept := 0, 0, 0
		got, err := s.Run(each(jobs), Callbacks{Answered: func(r Outcome) {
			switch {
			case r.Refusal != "":
				refused++
			case r.Prob < .5 || r.Begin < r.Asked || r.Start < r.Begin || r.Deadline%(6*3600) != 0:
				t.Errorf("%v: %+v", m, r)
			case r.Kept():
				kept++
				fallthrough
			default:
				promised++
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if v := got.VARQ; v.Promised == 0 || refused != v.Asked-v.Promised || promised != v.Promised || kept != v.Kept {
			t.Errorf("%v: Answered counted %d refusals and %d promises, %d of them kept, with %+v", m, refused, promised, kept, got.VARQ)
		}
		if diff := cmp.Diff(got, simulate(t, s, jobs)); diff != "" {
			t.Errorf("%v: not the same again:\n%s", m, diff)
		}
	}
}
