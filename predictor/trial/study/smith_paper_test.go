package study

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/logs/trace"
	"github.com/varq-project/varq/test/archive"
)

// outcomes runs the cases of a study for which use returns true.
func outcomes(t *testing.T, s Study, o Options, use func(Case) bool) []Outcome {
	t.Helper()
	var all []Outcome
	for _, c := range s.Cases(o) {
		if use(c) {
			values, err := s.Run(o, c)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, Outcome{c, values})
		}
	}
	return all
}

// between fails the test if a number is out of bounds.
func between(t *testing.T, what string, got Interval, low, high float64) {
	t.Helper()
	t.Logf("%s: %.3g", what, got.Mean)
	if got.N == 0 || !(got.Mean >= low && got.Mean <= high) {
		t.Errorf("%s: %.3g of %d seeds, want %g to %g", what, got.Mean, got.N, low, high)
	}
}

// TestSmithPaper: on the beginnings of two logs, without backfilling, the numbers have the
// signs and the orders of magnitude of those in Smith (2000).
func TestSmithPaper(t *testing.T) {
	o := Options{Quick: true, Seeds: 1, Traces: trace.Folder(archive.Folder(t))}
	r := ResultsOf(outcomes(t, Smith{}, o, func(c Case) bool {
		return strings.HasSuffix(c.Name, " none 20%")
	}), o.Seeds)
	all := choice{}
	between(t, "3.1, 20 % reserve: others wait longer by %", r.Interval(all.longer(strict)), 15, 300)
	between(t, "3.2, 20 % reserve: offset in min", r.Interval(all.offset()), 80, 1500)
	between(t, "3.2, offset of FCFS over LWF, %", r.Interval(choice{order: "fcfs"}.offsetOver(choice{order: "lwf"})), 5, 200)
	between(t, "3.3, half of the queue protected: offset, %", r.Interval(all.against(hardKind(50), strict, "offset")), -70, -10)
	between(t, "3.3, none of the queue protected: offset, %", r.Interval(all.against(hardKind(0), strict, "offset")), -97, -60)
	between(t, "3.3, none of the queue protected: wait, %", r.Interval(all.against(hardKind(0), strict, "wait")), 1, 80)
	between(t, "4.3, jobs can be restarted: offset, %", r.Interval(all.against(restartKind(9), strict, "offset")), -90, -30)
}
