package wrapper

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/wrapper/ticket"
)

// The work of a member of a group runs when varqd says so, and never otherwise.
func TestGate(t *testing.T) {
	const now = 1795262400
	down := errors.New("no answer")
	type said struct {
		answer api.GateAnswer
		err    error
	}
	wait, goes := said{answer: api.GateAnswer{Answer: api.GateWait}}, said{answer: api.GateAnswer{Answer: api.GateGo}}
	lost := said{answer: api.GateAnswer{Answer: api.GateLost, Why: "job 23 at beta started first"}}
	silent, broken := said{err: down}, said{err: api.Fault(api.ErrUnavailable, "the home does not answer")}
	for name, test := range map[string]struct {
		answers []said // the last one is repeated for ever
		other   bool   // not the lead task
		hold    int64  // HoldUntil is so many seconds ahead
		want    error
		after   int64 // seconds
		asked   []string
		log     string
	}{
		"first":           {answers: []said{goes}},
		"after a while":   {answers: []said{wait, wait, wait, goes}, after: 3},
		"at a time":       {answers: []said{wait, {answer: api.GateAnswer{Answer: api.GateGo, At: now + 7}}}, after: 7},
		"at a past time":  {answers: []said{{answer: api.GateAnswer{Answer: api.GateGo, At: now - 7}}}},
		"held":            {answers: []said{goes}, hold: 60, after: 60},
		"held, together":  {answers: []said{wait, wait, {answer: api.GateAnswer{Answer: api.GateGo, At: now + 60}}}, hold: 60, after: 60},
		"held, late":      {answers: append(slices.Repeat([]said{wait}, 20), said{answer: api.GateAnswer{Answer: api.GateGo, At: now + 75}}), hold: 60, after: 75},
		"held, lost":      {answers: []said{wait, lost}, hold: 60, want: ErrLost, after: 51, asked: []string{"cancel 7"}, log: "does not run"},
		"at a far time":   {answers: []said{{answer: api.GateAnswer{Answer: api.GateGo, At: 1 << 40}}}, hold: 60, after: 60 + 35},
		"wait, for ever":  {answers: []said{wait}, want: ErrLost, after: 60 + 35 + 600, asked: []string{"cancel 7"}, log: "the cluster that keeps its group does not decide"},
		"escapes":         {answers: []said{{answer: api.GateAnswer{Answer: api.GateLost, Why: "\x1b[31mred\nvarq: x"}}}, want: ErrLost, asked: []string{"cancel 7"}, log: "does not run: ?[31mred; varq: x\n"},
		"lost":            {answers: []said{lost}, want: ErrLost, asked: []string{"cancel 7"}, log: "varq: the work of this job does not run: job 23 at beta started first\n"},
		"lost, not first": {answers: []said{lost}, other: true, want: ErrLost},
		"down, then go":   {answers: append(slices.Repeat([]said{silent, broken}, 290), goes), after: 580, log: "the work waits, as nobody says yet"},
		"down":            {answers: []said{silent}, want: ErrLost, after: 600, asked: []string{"cancel 7"}, log: "does not run: nobody says that it may: no answer"},
		"down, then wait": {answers: append(append(slices.Repeat([]said{silent}, 400), wait), silent), want: ErrLost, after: 60 + 35 + 600, asked: []string{"cancel 7"}, log: "nobody says"},
		"refused":         {answers: []said{silent, {err: api.Fault(api.ErrNotFound, "you have no such plan")}}, want: ErrLost, after: 1, asked: []string{"cancel 7"}, log: "you have no such plan"},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			var q queue
			c := clock(now)
			asked := 0
			h := Hold{
				Ticket: ticket.Ticket{Plan: "aaaaaaaaaaaa", Group: "gggggggggggg", HoldUntil: now + test.hold, BeginBy: now + 60}, Job: 7, Lead: !test.other, Queue: &q, Clock: &c, Log: &log,
				Gate: func(plan string, job int64) (api.GateAnswer, error) {
					if plan != "aaaaaaaaaaaa" || job != 7 {
						t.Errorf("asked for plan %s and job %d", plan, job)
					}
					s := test.answers[min(asked, len(test.answers)-1)]
					asked++
					return s.answer, s.err
				},
			}
			if err := h.Wait(); !errors.Is(err, test.want) || err == nil && test.want != nil {
				t.Errorf("Wait = %v", err)
			}
			if after := int64(c) - now; after != test.after || !slices.Equal(q.asked, test.asked) {
				t.Errorf("after %d s, asked of Slurm: %q", after, q.asked)
			}
			if !strings.Contains(log.String(), test.log) || test.log == "" && log.Len() > 0 {
				t.Errorf("log: %s", log.String())
			}
		})
	}
}
