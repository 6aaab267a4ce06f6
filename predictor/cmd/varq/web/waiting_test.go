package web

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// The user sees when her jobs that wait start and end, how likely that is by some times, why they
// wait, and what was promised.
func TestWaiting(t *testing.T) {
	l := newLab(t, "")
	status, text := l.get(t, "/waiting")
	if status != http.StatusOK {
		t.Error(status)
	}
	contains(t, text, "When do my jobs start?", `<a href="waiting-job?job=4711">4711</a> <small>train</small>`,
		`"Starts, as likely as not, by">Sat 13:30<`, `"Starts in nine cases of ten by">Sat 15:00<`, `"Ends, as likely as not, by">Sat 14:30<`, `"Ends in nine cases of ten by">Sat 17:00<`,
		`"Starts by Sat 14:00 with probability">0.61<`, `"Starts by Sun 00:00 with probability">0.97<`, `"Starts by Sun 08:00 with probability">0.99<`,
		`"Slurm expects it to start">Sat 13:40<`, "Priority: other jobs go first; 3 jobs before it.", `<a href="reservation?job=4711">Promised</a> by Sat 14:15 with probability 0.90`,
		"4720_[0-30%4]", `"Starts in nine cases of ten by">beyond<`, "Tue 01:00",
		"it waits for other jobs (afterok:4711), and starts some time after these have ended as it needs", `"Starts by Sat 14:00 with probability">-<`,
		`aria-labelledby="bars-title"`, "An arrow leads on beyond the picture", "when Slurm expects to start it", "by when a start is promised")
	if strings.Contains(text, "bob") || strings.Contains(text, "4800") {
		t.Error("it shows one of bob's")
	}
	if asked := l.varqd.requests(); !slices.Contains(asked, `when "" [] []`) {
		t.Errorf("varqd was asked %q", asked)
	}
}

// The jobs of others, and those of a partition, are shown as far as varqd tells of them.
func TestWaitingOfOthers(t *testing.T) {
	l := newLab(t, "")
	_, text := l.get(t, "/waiting?user=*&partition=gpu,big")
	contains(t, text, `<a href="waiting-job?job=4800">4800</a>`, `data-name="User">bob<`, `value="*"`, `<option selected>gpu,big</option>`)
	if strings.Contains(text, "4711") || strings.Contains(text, "Promised") {
		t.Error("it shows a job of another partition, or what was promised to bob")
	}
	if asked := l.varqd.requests(); !slices.Contains(asked, `when "*" [] ["gpu" "big"]`) {
		t.Errorf("varqd was asked %q", asked)
	}
	l.varqd.operator = true
	_, text = l.get(t, "/waiting?user=bob")
	contains(t, text, `<a href="story?job=4800">Promised</a>`)
	_, text = l.get(t, "/waiting-job?job=4800")
	contains(t, text, `<a href="story?job=4800">What was promised`)
	l.varqd.private = true
	_, text = l.get(t, "/waiting?user=bob")
	contains(t, text, "No such job waits, or Slurm does not let you see it.")
	if status, text := l.get(t, "/waiting-job?job=4800"); status != http.StatusNotFound || !strings.Contains(text, "job 4800 does not wait: it has started, has not been seen yet, or is not yours to see") {
		t.Errorf("%d %s", status, text)
	}
}

// The page about a job tells all that the command does, and what would help.
func TestWaitingJob(t *testing.T) {
	l := newLab(t, "")
	status, text := l.get(t, "/waiting-job?job=4711")
	if status != http.StatusOK {
		t.Error(status)
	}
	contains(t, text, "When does job 4711 start?", "as likely as not by 2026-11-21T13:30:00; in nine cases of ten by 2026-11-21T15:00:00", "by 2026-11-22T08:00:00 with probability 0.99",
		"with --time=01:00:00: as likely as not by 2026-11-21T13:10:00 (scontrol update jobid=4711 timelimit=01:00:00)", `<a href="reservation?job=4711">What was promised`, `aria-labelledby="bars-title"`)
	_, text = l.get(t, "/waiting-job?job=4730")
	contains(t, text, "not forecast: it waits for other jobs (afterok:4711)")
	if strings.Contains(text, "<svg") || strings.Contains(text, "What was promised") {
		t.Error("it draws what is not forecast, or tells of a promise that is none")
	}
}

func TestWaitingWrong(t *testing.T) {
	l := newLab(t, "")
	for _, path := range []string{"/waiting?user=" + strings.Repeat("x", 300), "/waiting?partition=a,,b", "/waiting?user=a%0Ab", "/waiting-job", "/waiting-job?job=x", "/waiting-job?job=-1"} {
		if status, _ := l.get(t, path); status != http.StatusBadRequest {
			t.Errorf("%s: %d", path, status)
		}
	}
	for _, asked := range l.varqd.requests() {
		if strings.HasPrefix(asked, "when") {
			t.Errorf("varqd was asked %q", asked)
		}
	}
	l.varqd.waiting = nil
	_, text := l.get(t, "/waiting")
	contains(t, text, "None of your jobs waits.")
	if strings.Contains(text, "<table") || strings.Contains(text, "<svg") {
		t.Error("it shows a table or picture of nothing")
	}
}

// What is not told of is counted, and a varqd that still learns, or whose queue is old, is told of.
func TestWaitingMore(t *testing.T) {
	l := newLab(t, "")
	l.varqd.more, l.varqd.learning, l.varqd.age = 17, true, 300
	_, text := l.get(t, "/waiting")
	const old = "the queue was read 00:05:00 ago, and jobs that came since are not counted"
	contains(t, text, "17 more wait and are not told of", "varqd has learnt only the newest part of the past", old)
	_, text = l.get(t, "/waiting-job?job=4711")
	contains(t, text, old)
	_, text = l.get(t, "/?nodes=32&time=10:00:00&begin-by=2026-11-21T14:00")
	contains(t, text, "Cannot be promised: ", "; "+old)
}

// All jobs have one axis. The bar of one of which little is known leads beyond it, so that those of
// the others can be seen.
func TestBars(t *testing.T) {
	job := func(median, late int64) api.Waiting {
		return api.Waiting{Job: 1, Start: &api.Forecast{Median: median, Late: late}}
	}
	b := newBars([]api.Waiting{job(now+1800, now+3600), job(now+900, now+5400), job(now+600, 0), {Job: 2, Unknown: "held"}, job(0, 0)}, now, time.UTC)
	if len(b.Rows) != 3 {
		t.Fatalf("%d bars", len(b.Rows))
	}
	const half = (barsLeft + right) / 2
	for i, want := range []bar{{From: half, To: right}, {From: barsLeft + (right-barsLeft)/4., To: right - tipLength, Beyond: true}, {To: right - tipLength, Beyond: true}} {
		got := b.Rows[i]
		if want.From != 0 && got.From != want.From || got.To != want.To || got.Beyond != want.Beyond || got.Beyond != (got.Tip != "") {
			t.Errorf("bar %d: %+v, want %+v", i, got, want)
		}
	}
	if !b.Beyond || b.Slurm || b.Promise {
		t.Errorf("%+v", b)
	}
	for i, row := range b.Rows {
		if row.Y < b.Top || row.Y > b.Bottom || i > 0 && row.Y <= b.Rows[i-1].Y {
			t.Errorf("row %d is at %d, between %d and %d", i, row.Y, b.Top, b.Bottom)
		}
	}
	if b := newBars([]api.Waiting{{Job: 2, Unknown: "held"}, job(0, 0)}, now, time.UTC); b != nil {
		t.Errorf("%+v of nothing", b)
	}
	if b := newBars([]api.Waiting{job(now-60, now-30)}, now, time.UTC); b.Rows[0].From != barsLeft || b.Rows[0].To != barsLeft {
		t.Errorf("what should have started before: %+v", b.Rows[0])
	}
	many := newBars(slices.Repeat([]api.Waiting{job(now+60, now+120)}, api.MostWhen), now, time.UTC)
	if len(many.Rows) != mostBars || many.More != api.MostWhen-mostBars {
		t.Errorf("%d bars, and %d more", len(many.Rows), many.More)
	}
}

// A long picture names the days.
func TestBarsNameDays(t *testing.T) {
	b := newBars([]api.Waiting{{Job: 1, Start: &api.Forecast{Median: now + 30000, Late: now + 86400}}}, now, time.UTC)
	if !slices.ContainsFunc(b.Times, func(m mark) bool { return m.Text == "Nov 22" }) {
		t.Errorf("%+v", b.Times)
	}
}
