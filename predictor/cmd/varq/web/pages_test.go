package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/client"
)

// contains checks that a page says all of these, however its words are laid out.
func contains(t *testing.T, text string, wants ...string) {
	t.Helper()
	text = strings.NewReplacer("<span>", "", "</span>", "").Replace(text)
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q:\n%s", want, text)
		}
	}
}

// What can be promised comes with its picture and the line to paste.
func TestPromise(t *testing.T) {
	l := newLab(t, "")
	status, text := l.get(t, "/?nodes=4&time=1:00:00&begin-by=2026-11-21T17:00&work=then&prob=0.8")
	if status != http.StatusOK {
		t.Error(status)
	}
	contains(t, text, "Can be promised: running by 2026-11-21T17:00:00 with probability 0.80 (estimate 0.80), for at most 8.80 node-hours of idle nodes.", "<polyline", "(cheapest)",
		"sbatch --nodes=4 --time=01:00:00 --begin-by=2026-11-21T17:00:00 --prob=0.8 job.sh", "0.80 asked",
		"As of 2026-11-21T13:00:00; all times are UTC.", `(asked)`, "0.80 can be promised, for at most ")
	asked := l.varqd.requests()
	if len(asked) > 42 { // by two pages: the first was that of the address printed
		t.Errorf("varqd was asked %q", asked)
	}
}

// What cannot be promised comes with what can, each with a link or a line.
func TestRefusal(t *testing.T) {
	l := newLab(t, "")
	_, text := l.get(t, "/answer?nodes=16&time=2:00:00&begin-by=2026-11-21T17:00&work=then&prob=0.99")
	contains(t, text, "Cannot be promised: the job starts by the deadline with a probability of", "The best probability for this deadline", "The room of the offers is kept for you until", "prob=0.74&amp;", ": probability 0.74, for at most 32.00 node-hours of idle nodes", "at any time until the deadline</a>: probability 0.99, at no extra cost", "work=any", "begin-by=2026-11-21T18%3A30", "--best-effort")
	if strings.Contains(text, "<html") {
		t.Error("the part of a page is a whole page")
	}
	if strings.Contains(text, "Filled:") {
		t.Error("it explains what is not in the picture")
	}
	_, text = l.get(t, "/sizes?nodes=16&time=2:00:00&begin-by=2026-11-21T17:00&work=then&prob=0.99")
	contains(t, text, "<b>0.74</b> (asked)", "only 0.74 can be promised, for at most 32.00 node-hours of idle nodes")
}

// Work that starts at any time until the deadline is what is asked about unless the form says
// otherwise: no nodes idle for it.
func TestAnyTime(t *testing.T) {
	l := newLab(t, "")
	_, text := l.get(t, "/?nodes=4&time=1:00:00&begin-by=2026-11-21T17:00&prob=0.8")
	contains(t, text, "with probability 0.80 (estimate 0.86), at no extra cost.", "sbatch --nodes=4 --time=01:00:00 --begin-by=2026-11-21T17:00:00 --prob=0.8 --best-effort job.sh",
		"(earliest)", "A probability of <a", "prob=0.86", "can be promised at the same cost", "By --best-effort", "as soon as the job does", "nothing more", "0.80 can be promised, at no extra cost", "work=any")
	if strings.Contains(text, "max_hold") {
		t.Error("it tells of a limit on holding nodes, and holds none")
	}
	_, text = l.get(t, "/answer?nodes=16&time=2:00:00&begin-by=2026-11-21T17:00&prob=0.99")
	contains(t, text, "Cannot be promised", "The best probability for this deadline")
	if strings.Contains(text, "With work that starts as soon as") {
		t.Error("it offers what was asked for")
	}
}

// The end of a job can be asked about: with the line to paste, other deadlines, and how likely
// other sizes have ended by then.
func TestEnd(t *testing.T) {
	l := newLab(t, "")
	_, text := l.get(t, "/?nodes=1&time=1:00:00&begin-by=2026-11-22T01:00&work=end&prob=0.8")
	contains(t, text, "Can be promised: finished by 2026-11-22T01:00:00 with probability 0.80 (estimate 0.90), at no extra cost.", "as likely as not by 2026-11-21T13:20:00; it is submitted at once", "the job goes on",
		"sbatch --nodes=1 --time=01:00:00 --finish-by=2026-11-22T01:00:00 --prob=0.8 job.sh", "Finished by 2026-11-22T10:00:00</a>: probability 0.95, at no extra cost",
		"begin-by=2026-11-22T10%3A00", "sbatch --nodes=1 --time=01:00:00 --finish-by=2026-11-22T10:00:00 --prob=0.95 job.sh", `<option value="end" selected>`, "work=end",
		"A probability of <a", "prob=0.9", "how probable it is at best that it has ended by the same time, and how long", "<b>0.90</b> (asked)", "<b>0.81</b>")
	for _, odd := range []string{"<polyline", "best-effort", "cannot be promised", "starts by"} {
		if strings.Contains(text, odd) {
			t.Errorf("it says %q of an end", odd)
		}
	}
	_, text = l.get(t, "/answer?nodes=4&time=1:00:00&begin-by=2026-11-22T01:00&work=end&prob=0.8")
	contains(t, text, "Cannot be promised: an end by the deadline can be promised with probability 0.64 at best", "Finished by 2026-11-24T22:00:00", "A shorter job", "time=00%3A30%3A00",
		"sbatch --nodes=4 --time=00:30:00 --finish-by=2026-11-22T01:00:00 --prob=0.8 job.sh")
}

// A partition is chosen from a list of those that are open to the user. What was asked for stays
// chosen, whatever it is, and where varqd tells of none it is typed.
func TestPartitionList(t *testing.T) {
	l := newLab(t, "")
	_, text := l.get(t, "/")
	contains(t, text, `<select id="partition"`, `<option value="" selected>the default (main)</option><option>gpu</option><option>main</option></select>`)
	_, text = l.get(t, "/?partition=gpu")
	contains(t, text, `<option value="">the default (main)</option><option selected>gpu</option><option>main</option></select>`)
	for _, path := range []string{"/?partition=nope%3C", "/waiting?partition=nope%3C"} {
		_, text = l.get(t, path)
		contains(t, text, `<option>main</option><option selected>nope&lt;</option></select>`)
	}
	_, text = l.get(t, "/waiting?partition=main")
	contains(t, text, `<option value="">all</option><option>gpu</option><option selected>main</option></select>`)
	pages, varqd := newFake()
	varqd.older = true
	if got := pages.partitions(t.Context(), "gpu"); len(got.Names) > 0 || got.Chosen != "gpu" {
		t.Errorf("%+v", got)
	}
	varqd.older = false
	if got := pages.partitions(t.Context(), "gpu"); len(got.Names) > 0 {
		t.Errorf("it asks again at once: %+v", got)
	}
	pages.env.Now = func() int64 { return now + goodFor }
	if got := pages.partitions(t.Context(), "gpu"); len(got.Names) != 2 {
		t.Errorf("it does not ask again: %+v", got)
	}
	varqd.err = errors.New("down")
	pages.env.Now = func() int64 { return now + 2*goodFor }
	if got := pages.partitions(t.Context(), "gpu"); len(got.Names) != 2 {
		t.Errorf("it forgets what it knew: %+v", got)
	}
}

// What can be promised of most sizes is said once, and of the others in their cells.
func TestSharedOffer(t *testing.T) {
	const most, other = "0.90 can be promised, at no extra cost", "only 0.71 can be promised, at no extra cost"
	for _, c := range []struct {
		offers []string
		told   string
		varied bool
	}{
		{[]string{most, most, most}, most, false},
		{[]string{other, most, "", most}, most, true},
		{[]string{most, other, ""}, "", false},
		{[]string{"", ""}, "", false}, // and that is told once
	} {
		var table sizes
		for _, offer := range c.offers {
			table.Rows = append(table.Rows, sizeRow{Cells: []sizeCell{{Offer: offer}}})
		}
		table.shareOffer()
		if table.Offer != c.told || table.Varied != c.varied || table.None != (strings.Join(c.offers, "") == "") {
			t.Errorf("%q: %+v", c.offers, table)
		}
		for i, row := range table.Rows {
			if said := row.Cells[0].Said; said != ((c.told != "" || table.None) && c.offers[i] == c.told) {
				t.Errorf("%q: %d: %t", c.offers, i, said)
			}
		}
	}
	l := newLab(t, "")
	_, text := l.get(t, "/sizes?nodes=1&time=30&begin-by=2026-11-22T01:00&prob=0.5")
	if n := strings.Count(text, "can be promised, at no extra cost"); n != 1 {
		t.Errorf("it is said %d times: %s", n, text)
	}
}

// Where varqd only watches, the page says what it would have promised, once that nothing is, and
// offers nothing.
func TestShadowed(t *testing.T) {
	l := newLab(t, "")
	l.varqd.shadow = true
	_, text := l.get(t, "/?nodes=1&time=30&begin-by=2026-11-22T01:00&prob=0.5")
	contains(t, text, "Cannot be promised: varqd only watches on this cluster; it would have promised a start", "Nothing can be promised of any size.", "<b>0.95</b> (asked)")
	for _, odd := range []string{"cannot be promised", "promised either", "What can be promised instead"} {
		if strings.Contains(text, odd) {
			t.Errorf("it says %q: %s", odd, text)
		}
	}
}

// A short wait beside a probability that is not near 1 is explained.
func TestPuzzle(t *testing.T) {
	for _, c := range []struct {
		cell sizeCell
		want bool
	}{
		{sizeCell{best: .82, Wait: "00:00:04", wait: 4}, true},
		{sizeCell{best: .97, Wait: "00:00:04", wait: 4}, false},
		{sizeCell{best: .82, Wait: "00:20:00", wait: 1200}, false},
		{sizeCell{best: .82}, false},
		{sizeCell{Wait: "00:00:04", wait: 4}, false},
	} {
		table := sizes{Rows: []sizeRow{{Cells: []sizeCell{c.cell}}}}
		if got := table.puzzles(45 * 60); got != c.want {
			t.Errorf("%+v: %t", c.cell, got)
		}
	}
	l := newLab(t, "")
	_, text := l.get(t, "/sizes?nodes=1&time=5&begin-by=2026-11-21T17:00&work=then")
	contains(t, text, "A short wait can stand beside a probability well below 1")
}

// A small job is looked at on four numbers of nodes, and each job with four time limits.
func TestAround(t *testing.T) {
	for _, nodes := range []string{"1", "2", "4"} {
		l := newLab(t, "")
		_, text := l.get(t, "/sizes?nodes="+nodes)
		for _, n := range []int{1, 2, 4, 8} {
			contains(t, text, fmt.Sprintf(`<th scope="row">%d<`, n))
		}
	}
	for _, c := range []struct {
		n, step int64
		want    []int64
	}{
		{3600, 60, []int64{900, 1800, 3600, 7200}},
		{3630, 60, []int64{900, 1800, 3630, 7260}},
		{30, 60, []int64{30, 60}},
		{3, 1, []int64{1, 2, 3, 6}},
	} {
		if got := around(c.n, c.step); !slices.Equal(got, c.want) {
			t.Errorf("around %d: %d, want %d", c.n, got, c.want)
		}
	}
}

// Why a shorter job has a lower probability is told if one has, and nodes would be held.
func TestShorterIsLess(t *testing.T) {
	table := sizes{Rows: []sizeRow{{Cells: []sizeCell{{best: .9}, {best: .8}}}, {Cells: []sizeCell{{best: .8}, {best: .8}}}}}
	if table.growing() {
		t.Error("no longer job has more")
	}
	table.Rows[1].Cells[1].best = .85
	if !table.growing() {
		t.Error("a longer job has more")
	}
}

// A reason that is that of all sizes is told once.
func TestNoSize(t *testing.T) {
	l := newLab(t, "")
	_, text := l.get(t, "/sizes?nodes=512")
	if n := strings.Count(text, "no more than 64 nodes"); n != 1 {
		t.Errorf("it is told %d times: %s", n, text)
	}
}

// Which number of nodes starts first, with the limit asked for, is said as exactly as it is known:
// those that a minute or a tenth tells apart count as equal.
func TestFirst(t *testing.T) {
	const other = 5 // of a job with another limit
	for _, c := range []struct {
		waits []float64 // of 1, 2, 4 nodes, and so on
		says  string
	}{
		{[]float64{60, 140}, "a job of 00:30:00 on 1 node would start first: after about 00:01:00."},
		{[]float64{15, 60, 137}, "a job of 00:30:00 on 1 node or 2 nodes would start first: after about 00:00:15."},
		{[]float64{6600, 6000, 9000}, "a job of 00:30:00 on 1 node or 2 nodes would start first: after about 01:40:00."},
		{[]float64{60, 61}, "a job of 00:30:00 would start about as soon on any of these numbers of nodes: after about 00:01:00."},
		{[]float64{160, 60, 300}, "a job of 00:30:00 on 2 nodes would start first: after about 00:01:00."},
	} {
		table := sizes{Limits: []string{"00:15:00", "00:30:00"}, asked: 1}
		columns := make([]api.SizeAnswer, 2)
		for i, wait := range c.waits {
			table.Rows = append(table.Rows, sizeRow{Nodes: 1 << i, Cells: make([]sizeCell, 2)})
			for column, wait := range []float64{other, wait} {
				columns[column].Sizes = append(columns[column].Sizes, api.SizeForecast{Wait: &wait})
			}
		}
		table.wait(columns)
		if want := "Submitted now, without a promise, " + c.says; table.First != want {
			t.Errorf("%v: %q, want %q", c.waits, table.First, want)
		}
	}
}

func TestBadQuestion(t *testing.T) {
	for query, want := range map[string]string{
		"nodes=0":                           "is not a number of nodes",
		"nodes=two":                         "is not a number of nodes",
		"nodes=" + strings.Repeat("1", 200): "more than 100 characters",
		"time=UNLIMITED":                    "UNLIMITED are no limit",
		"time=soon":                         "Time limit: ",
		"begin-by=yesterday":                "Deadline: ",
		"begin-by=2026-11-20T17:00":         "this time is over",
		"work=later":                        "is neither any nor then nor end",
		"prob=1":                            "certainty",
		"partition=a,b":                     "is not the name of one partition",
		"partition=%3Cscript%3E+x":          "&lt;script&gt;",
	} {
		l := newLab(t, "")
		before := len(l.varqd.requests())
		for _, path := range []string{"/?", "/answer?", "/sizes?"} {
			status, text := l.get(t, path+query)
			if status != http.StatusUnprocessableEntity {
				t.Errorf("%s%s: %d", path, query, status)
			}
			if path == "/?" {
				contains(t, text, want, `aria-invalid="true"`)
			}
			if strings.Contains(text, "<script>") {
				t.Errorf("%s%s: what was filled in is not escaped", path, query)
			}
		}
		if asked := l.varqd.requests()[before:]; len(asked) > 0 {
			t.Errorf("%s: varqd was asked %q", query, asked)
		}
	}
}

// FuzzQuestion: whatever is filled in, what is asked for is a job, or a field says what is wrong.
func FuzzQuestion(f *testing.F) {
	f.Add("4", "1:00:00", "main", "2026-11-21T17:00", "0.9")
	f.Add("-1", "0", "a b", "now+1hour", "90%")
	pages, _ := newFake()
	f.Fuzz(func(t *testing.T, nodes, limit, partition, begin, prob string) {
		q := read(url.Values{fieldNodes: {nodes}, fieldTime: {limit}, fieldPartition: {partition}, fieldBeginBy: {begin}, fieldProb: {prob}}, pages.env)
		r := q.request
		if len(q.wrong()) == 0 && (r.Job.Nodes < 1 || r.Job.Limit <= 0 || r.BeginBy <= now || r.Prob < 0 || r.Prob >= 1) {
			t.Errorf("%+v", r)
		}
	})
}

// The user sees her own reservations, and nobody else's, even if she is an operator.
func TestReservations(t *testing.T) {
	for _, operator := range []bool{false, true} {
		l := newLab(t, "")
		l.varqd.operator = operator
		_, text := l.get(t, "/reservations")
		contains(t, text, "job 4711", "endangered: Accept would restore it, for up to 4.34 node-hours of idle nodes in all", "plan aaaaaaaaaaaa", "promised; its job waits, endangered", "HOLDING", "00:15:00")
		if strings.Contains(text, "4800") || strings.Contains(text, "4601") {
			t.Error("it shows one of bob's, or an old one")
		}
		contains(t, text, "flow &#34;nightly&#34; (flowflowflow) of alice: 2 jobs to have ended by 2026-11-21T23:00:00 with probability 0.90; 0.93 now\n  4711 &lt;i&gt;prepare&lt;/i&gt;: runs, ",
			"\n  └─ 4730 train: waits, and has ended as likely as not by 2026-11-21T15:00:00; critical\n")
		if _, text := l.get(t, "/reservations?old"); !strings.Contains(text, "4601") {
			t.Error("it does not show an old one")
		}
		for _, path := range []string{"/reservations", "/reservations?old", "/cluster"} {
			if _, text := l.get(t, path); strings.Contains(text, "unusedunused") || strings.Contains(text, "neverneverne") {
				t.Errorf("%s shows what no job has taken up", path)
			}
		}
		_, text = l.get(t, "/reservation?plan=unusedunused")
		contains(t, text, "taken back")
		_, text = l.get(t, "/reservation?job=4655")
		contains(t, text, "MISSED", "may be missed 10 times in 100", "the queue was slower than forecast", "begin time moved from 2026-11-21T10:30:00 to 2026-11-21T10:00:00", "00:10:00 after the deadline")
		for _, path := range []string{"/reservation?job=4800", "/reservation?plan=bbbbbbbbbbbb"} {
			if status, text := l.get(t, path); status != http.StatusNotFound || strings.Contains(text, "PENDING") {
				t.Errorf("%s: %d %s", path, status, text)
			}
		}
		for _, path := range []string{"/reservation", "/reservation?job=-1", "/reservation?job=x", "/reservation?plan=%3Cb%3E"} {
			if status, _ := l.get(t, path); status != http.StatusBadRequest {
				t.Errorf("%s: %d", path, status)
			}
		}
		for _, path := range []string{"/cancel", "/accept"} {
			if status, _ := l.post(t, path, url.Values{paramJob: {"4800"}, paramMost: {"1"}}, true); status != http.StatusNotFound {
				t.Errorf("%s of bob's: %d", path, status)
			}
		}
		if asked := l.varqd.requests(); slices.ContainsFunc(asked, func(s string) bool { return strings.Contains(s, "cancel") || strings.HasPrefix(s, "accept") }) {
			t.Errorf("%q", asked)
		}
	}
}

// Open reservations come first, of these the nearest deadline, and those whose jobs run are open.
// Of the others the latest comes first.
func TestOrder(t *testing.T) {
	l := newLab(t, "")
	l.varqd.operator = true
	rows := regexp.MustCompile(`<tr>\s*<th scope="row"><a href="[a-z]+\?(?:job|plan)=([^"]+)"`)
	for path, want := range map[string]string{
		"/reservations?old": "4714 4712 4711 4713 aaaaaaaaaaaa 4655 4601",
		"/cluster":          "4713 4714 4712 4711 4800 aaaaaaaaaaaa",
	} {
		_, text := l.get(t, path)
		var got []string
		for _, row := range rows.FindAllStringSubmatch(text, -1) {
			got = append(got, row[1])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// An operator follows the link of a promise to its story, whosever it is, and can do nothing there.
// Others see their own alone.
func TestStory(t *testing.T) {
	l := newLab(t, "")
	for path, want := range map[string]int{
		"/story?job=4711": http.StatusOK, "/story?job=4800": http.StatusNotFound, "/story?plan=aaaaaaaaaaaa": http.StatusForbidden,
		"/story?job=x": http.StatusBadRequest, "/story": http.StatusBadRequest,
	} {
		if status, text := l.get(t, path); status != want || want != http.StatusOK && strings.Contains(text, "bob") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	l.varqd.operator = true
	_, text := l.get(t, "/cluster")
	contains(t, text, `<a href="story?job=4800">`, `<a href="story?plan=aaaaaaaaaaaa">`)
	for path, says := range map[string]string{"/story?job=4800": "of bob", "/story?job=4713": "of alice", "/story?plan=aaaaaaaaaaaa": "plan aaaaaaaaaaaa of alice"} {
		status, text := l.get(t, path+"&ask=cancel")
		if status != http.StatusOK {
			t.Errorf("%s: %d", path, status)
		}
		contains(t, text, says, "What was promised, and what became of it")
		if strings.Contains(text, "<form") || strings.Contains(text, "ask=") {
			t.Errorf("%s: there is something to do: %s", path, text)
		}
	}
}

// A cancellation and a consent are asked for first, done by a form, and their results told.
func TestActs(t *testing.T) {
	l := newLab(t, "")
	_, text := l.get(t, "/reservation?job=4711&ask=cancel")
	if strings.Contains(text, "has done so far") {
		t.Error("a job that has not started has done something")
	}
	contains(t, text, "Cancel job 4711", "scancel 4711", `name="form" value="`+l.guard.form+`"`)
	_, text = l.get(t, "/reservation?job=4713&ask=accept")
	contains(t, text, "Let nodes idle for longer", "with probability 0.91", `name="most" value="4.34"`)
	for _, c := range []struct {
		path string
		form url.Values
		says string
		asks string
	}{
		{"/cancel", url.Values{paramJob: {"4711"}}, "Slurm ends job 4711", "scancel 4711"},
		{"/cancel", url.Values{paramPlan: {"aaaaaaaaaaaa"}}, "Plan aaaaaaaaaaaa is taken back", "cancel plan aaaaaaaaaaaa"},
		{"/accept", url.Values{paramJob: {"4713"}, paramMost: {"4.34"}}, "It was moved", "accept 4713 15624"},
	} {
		status, text := l.post(t, c.path, c.form, true)
		if status != http.StatusOK {
			t.Errorf("%s: %d", c.path, status)
		}
		contains(t, text, c.says)
		if asked := l.varqd.requests(); asked[len(asked)-1] != c.asks {
			t.Errorf("%s: %q", c.path, asked)
		}
	}
	for _, most := range []string{"", "0", "-1", "NaN", "1e99", "2x", "x"} {
		if status, _ := l.post(t, "/accept", url.Values{paramJob: {"4713"}, paramMost: {most}}, true); status != http.StatusBadRequest {
			t.Errorf("most %q: %d", most, status)
		}
	}
}

// When varqd does not answer, or refuses, the page says so, why, and what to do.
func TestTrouble(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		says   string
	}{
		{fmt.Errorf("%w at unix:///run/varq: connection refused", client.ErrUnreachable), http.StatusBadGateway, "varq doctor"},
		{api.Fault(api.ErrUnavailable, "still loading history"), http.StatusServiceUnavailable, "still loading history"},
		{api.Fault(api.ErrForbidden, "ask <b>nobody</b>"), http.StatusForbidden, "ask &lt;b&gt;nobody"},
		{errors.New("line\nbreak"), http.StatusBadGateway, "line?break"},
	} {
		l := newLab(t, "")
		l.varqd.err = c.err
		status, text := l.get(t, "/reservations")
		if status != c.status {
			t.Errorf("%v: %d", c.err, status)
		}
		contains(t, text, c.says)
		status, text = l.get(t, "/?nodes=2")
		if status != http.StatusOK {
			t.Errorf("the form, with %v: %d", c.err, status)
		}
		contains(t, text, c.says, `id="nodes"`)
	}
}

// How honest forecasts and promises were is told with numbers and dates.
func TestHonesty(t *testing.T) {
	l := newLab(t, "")
	status, text := l.get(t, "/honesty?days=90")
	if status != http.StatusOK {
		t.Error(status)
	}
	contains(t, text, "from 2026-08-23T13:00:00 to 2026-11-21T13:00:00", "Of 40,000 waits, this share was within what was said:", "with 0.9: 0.902 (95 % interval 0.890 to 0.913): as promised",
		"<circle", "2026-08", "hour", "0.410 [0.370, 0.450]", "Promises made to me",
		`"Promises">65<`, `"Open">2<`, `"Cancelled">3<`, `"Kept">56<`, `"Missed">4<`)
	for _, days := range []string{"0", "31", "x"} {
		if status, _ := l.get(t, "/honesty?days="+days); status != http.StatusBadRequest {
			t.Errorf("days %s: %d", days, status)
		}
	}
	l.varqd.unscored = true
	if _, text = l.get(t, "/honesty"); strings.Contains(text, "Where it is worst") {
		t.Error("it judges groups of forecasts of which none was scored")
	}
	contains(t, text, "there is nothing to tell yet")
}

// Waits of too few weeks tell nothing, and it is said why. An interval that says nothing is not
// shown.
func TestFewWeeks(t *testing.T) {
	row := api.CalibrationRow{Of: api.OfWait, Forecasts: 74, Weeks: 1, Quantiles: []api.QuantileCoverage{{Quantile: .9, Covered: .946, High: 1}}}
	v := newVerdict(&row)
	if !slices.Equal(v.Held, []string{"with 0.9: 0.946"}) || !strings.Contains(v.Few, "these are of about 1 week.") {
		t.Errorf("%+v", v)
	}
	row.Weeks = 0 // an older varqd
	if v = newVerdict(&row); !slices.Equal(v.Held, []string{"with 0.9: 0.946: too little to tell"}) || v.Few != "" {
		t.Errorf("%+v", v)
	}
	if got := interval(.946, 0, 1); got != "0.946" {
		t.Error(got)
	}
}

// A picture of how often probabilities came true has no dot that rests on a few of them, as a young
// site has. Its table has all.
func TestYoungDiagram(t *testing.T) {
	row := api.CalibrationRow{Of: api.OfWait, Forecasts: 12, Reliability: []api.ReliabilityBin{
		{Count: 1, Mean: .02, True: 1}, {Count: leastDrawn - 1, Mean: .5, True: .2}, {Count: leastDrawn, Mean: .9, True: .92},
	}}
	d := newDiagram(&row)
	if len(d.Dots) != 1 || len(d.Bins) != 3 || d.Few != 2 || strings.Count(d.Line, ",") != 1 {
		t.Errorf("%+v", d)
	}
	row.Reliability = row.Reliability[:2]
	if d := newDiagram(&row); len(d.Dots) != 0 || d.Few != 2 {
		t.Errorf("%+v", d)
	}
	l := newLab(t, "")
	l.varqd.young = true
	_, text := l.get(t, "/honesty")
	contains(t, text, "Too few probabilities are known yet to draw how often they came true", "<summary>The numbers so far")
	if strings.Contains(text, "<circle") || strings.Contains(text, "<polyline") {
		t.Error("it draws what is not known")
	}
}

// Operators see everybody's promises and the nodes. Others are told why they do not.
func TestCluster(t *testing.T) {
	l := newLab(t, "")
	status, text := l.get(t, "/cluster")
	if status != http.StatusForbidden || strings.Contains(text, "bob") {
		t.Errorf("%d %s", status, text)
	}
	contains(t, text, "for the operators of the cluster", "only operators see the reservations of others")
	l.varqd.operator = true
	status, text = l.get(t, "/cluster")
	if status != http.StatusOK {
		t.Error(status)
	}
	contains(t, text, "bob", "1; by the present forecasts 0.7 of the open promises will be missed", "node7", "11 more are no more likely to fail",
		"Of what would have been promised with probability 0.90, 0.889 [0.869, 0.909] would have been kept: as promised.")
}
