package study

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/logs/trace"
	"github.com/varq-project/varq/test/archive"
)

// outcomes runs the cases of a study that use takes.
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

// between checks one number.
func between(t *testing.T, what string, got Interval, low, high float64) {
	t.Helper()
	t.Logf("%s: %.3g", what, got.Mean)
	if got.N == 0 || !(got.Mean >= low && got.Mean <= high) {
		t.Errorf("%s: %.3g of %d seeds, want %g to %g", what, got.Mean, got.N, low, high)
	}
}

// TestSmithPaper finds the signs, and the orders of magnitude, of Smith (2000) in
// the beginnings of two logs, without backfilling.
func TestSmithPaper(t *testing.T) {
	if testing.Short() {
		t.Skip("replays logs: not in short mode")
	}
	o := Options{Quick: true, Seeds: 1, Traces: trace.Folder(archive.Folder(t))}
	r := smithReport{seeds: o.Seeds, results: resultsOf(outcomes(t, Smith{}, o, func(c Case) bool {
		return strings.HasSuffix(c.Name, " none 20%")
	}))}
	all := hardKind(100)
	between(t, "3.1, 20 % reserve: others wait longer by %", r.longer(choice{}, all), 15, 300)
	between(t, "3.2, 20 % reserve: offset in min", r.level(choice{}, all, "offset", 1./60), 80, 1500)
	between(t, "3.2, offset of FCFS over LWF, %", r.offsetRatio(choice{order: "fcfs"}, choice{order: "lwf"}, all), 5, 200)
	between(t, "3.3, half of the queue protected: offset, %", r.against(choice{}, hardKind(50), all, "offset"), -70, -10)
	between(t, "3.3, none of the queue protected: offset, %", r.against(choice{}, hardKind(0), all, "offset"), -97, -60)
	between(t, "3.3, none of the queue protected: wait, %", r.against(choice{}, hardKind(0), all, "wait"), 1, 80)
	between(t, "4.3, jobs can be restarted: offset, %", r.against(choice{}, restartKind(9), all, "offset"), -90, -30)
}
