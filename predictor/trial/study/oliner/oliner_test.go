package oliner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/predictor/trial/study/oliner/qos"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/studytest"
)

// TestMadeUp compares the report of a quick study of small logs with a file.
func TestMadeUp(t *testing.T) {
	o := study.Options{Quick: true, Seeds: 3, Traces: studytest.Logs{}}
	report := Study{}.Report(o, studytest.Outcomes(t, Study{}, o, func(study.Case) bool { return true }))
	studytest.Markdown(t, "oliner_made_up", report)
	if len(report.Figures) != 12 {
		t.Errorf("%d figures", len(report.Figures))
	}
}

// nodesThatFail is a log of 130 nodes with a failure an hour after another, of one after the other.
func nodesThatFail(failures int) *study.NodeFailures {
	f := &study.NodeFailures{}
	for i := range machineNodes + 2 {
		f.Nodes = append(f.Nodes, fmt.Sprint(i))
	}
	for i := range failures {
		f.Failures = append(f.Failures, workload.Failure{Node: f.Nodes[i%len(f.Nodes)], Down: 1_000_000_000 + 3600*int64(i)})
	}
	return f
}

// TestFailures: of each seed the log has the same mean time between failures, and its first 128
// nodes fail as often as in the file.
func TestFailures(t *testing.T) {
	for seed := range uint64(20) {
		for _, test := range []struct {
			mtbf   float64
			period int64
		}{{8.5 * 3600, 8.5 * 3600 * 2 * machineNodes}, {0, 2*130*3600 - 2*3600 + 3600*257/255}} {
			log, period, err := failuresOf(nodesThatFail(2*130), test.mtbf, rand.New(rand.NewPCG(seed, 0)))
			if err != nil {
				t.Fatal(err)
			}
			if off := period - test.period; off < -3600 || off > 3600 {
				t.Errorf("seed %d, MTBF %v: the period is %d s, want %d", seed, test.mtbf, period, test.period)
			}
			known, n := log.Oracle(1), 0
			all := make(qos.Set, 2)
			all[0], all[1] = ^uint64(0), ^uint64(0)
			for at := known.Next(0, 0); at <= period; at = known.Next(0, at) {
				n++
			}
			if n != 2*machineNodes || known.Nodes(0, all, 0, period) == 0 {
				t.Errorf("seed %d: %d failures in a period", seed, n)
			}
		}
	}
	long := nodesThatFail(2)
	long.Failures[1].Down = math.MaxInt64
	if _, _, err := failuresOf(long, 0, rand.New(rand.NewPCG(1, 0))); err == nil {
		t.Error("a log may end with time")
	}
	for _, n := range []int{0, 1} {
		if _, _, err := failuresOf(nodesThatFail(n), 0, rand.New(rand.NewPCG(1, 0))); err == nil {
			t.Errorf("%d failures are enough", n)
		}
	}
}

// TestOwnFailures: failures of a site's own take the place of Los Alamos', at their own rate.
func TestOwnFailures(t *testing.T) {
	o := study.Options{Quick: true, Seeds: 1, Traces: studytest.Logs{}, Failures: nodesThatFail(500)}
	var names []string
	for _, c := range (Study{}).Cases(o) {
		names = append(names, c.Name)
	}
	if strings.Contains(strings.Join(names, " "), string(ownRate)) {
		t.Errorf("the cases are %q", names)
	}
	setting := setting{log: sdscLog, u: 9}
	use := func(c study.Case) bool { return c.Name == setting.name() }
	own := study.ResultsOf(studytest.Outcomes(t, Study{}, o, use), 1)
	o.Failures = nil
	theirs := study.ResultsOf(studytest.Outcomes(t, Study{}, o, use), 1)
	more, fewer := own.Interval(setting.of(0, "interrupted")).Mean, theirs.Interval(setting.of(0, "interrupted")).Mean
	if !(more > fewer) {
		t.Errorf("a failure an hour interrupts %v jobs, one in 8.5 hours %v", more, fewer)
	}
	if text := (Study{}).Report(study.Options{Failures: nodesThatFail(2)}, nil).Markdown(); strings.Contains(text, "LA-UR") || !strings.Contains(text, "--failures") {
		t.Errorf("the report does not say whose failures they are:\n%s", text)
	}
}
