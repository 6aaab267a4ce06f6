package smith

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/logs/trace"
	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/test/archive"
	"github.com/varq-project/varq/test/studytest"
)

// TestPaper: on the beginnings of two logs, without backfilling, the numbers have the
// signs and the orders of magnitude of those in Smith (2000).
func TestPaper(t *testing.T) {
	o := study.Options{Quick: true, Seeds: 1, Traces: trace.Folder(archive.Folder(t))}
	r := study.ResultsOf(studytest.Outcomes(t, Study{}, o, func(c study.Case) bool {
		return strings.HasSuffix(c.Name, " none 20%")
	}), o.Seeds)
	all := choice{}
	studytest.Between(t, "3.1, 20 % reserve: others wait longer by %", r.Interval(all.longer(strict)), 15, 300)
	studytest.Between(t, "3.2, 20 % reserve: offset in min", r.Interval(all.offset()), 80, 1500)
	studytest.Between(t, "3.2, offset of FCFS over LWF, %", r.Interval(choice{order: "fcfs"}.offsetOver(choice{order: "lwf"})), 5, 200)
	studytest.Between(t, "3.3, half of the queue protected: offset, %", r.Interval(all.against(hardKind(50), strict, "offset")), -70, -10)
	studytest.Between(t, "3.3, none of the queue protected: offset, %", r.Interval(all.against(hardKind(0), strict, "offset")), -97, -60)
	studytest.Between(t, "3.3, none of the queue protected: wait, %", r.Interval(all.against(hardKind(0), strict, "wait")), 1, 80)
	studytest.Between(t, "4.3, jobs can be restarted: offset, %", r.Interval(all.against(restartKind(9), strict, "offset")), -90, -30)
}
