package mixed

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/stats"
)

// Promises are what became of some requests for promises. Of the promises that somebody took back
// nothing is counted: nobody does that here.
type Promises struct {
	Asked, Refused, Kept, Missed int
	// Prob is the sum of the probabilities promised.
	Prob float64
}

// Granted returns how many promises there were.
func (p *Promises) Granted() int { return p.Kept + p.Missed }

// Waits are how the waits of some plain jobs were forecast.
type Waits struct {
	Jobs    int // that were forecast
	Unknown int // without a forecast
	// Within and Below are, by quantile, how many waits were no longer than it, and how many were
	// shorter. Where it is a time at which many jobs start, these differ.
	Within, Below map[float64]int
}

// Report is what a campaign has found.
type Report struct {
	// Kinds, Modes and Bands are the promises by the kind of job, by what is promised, and by the
	// probability.
	Kinds, Modes map[string]*Promises
	Bands        map[float64]*Promises
	Waits        map[string]*Waits // by the kind of job
	Offers       map[int]*Offers   // by the seconds after which they were taken
	Moves        []int             // how often varq moved the begin time of a promised job
	// Reasons are why requests were refused, and Unforecast why waits were not forecast, with N for
	// numbers, and how often.
	Reasons, Unforecast map[string]int
	// Wrong are promises of which varq and the job say different things, one a line, and Missed those
	// that were not kept.
	Wrong, Missed []string
	// Broken are offers that could no longer be promised when they were taken.
	Broken []string
}

func newReport() *Report {
	return &Report{
		Kinds: map[string]*Promises{}, Modes: map[string]*Promises{}, Bands: map[float64]*Promises{},
		Waits: map[string]*Waits{}, Offers: map[int]*Offers{}, Reasons: map[string]int{}, Unforecast: map[string]int{},
	}
}

// all and taken are the names of the rows for all jobs, and for those whose users took an offer.
const (
	all   = "all"
	taken = "offered, and taken"
)

// of returns the counts of a row, which is new if there is none yet.
func of[K comparable, V any](rows map[K]*V, key K) *V {
	if rows[key] == nil {
		rows[key] = new(V)
	}
	return rows[key]
}

// each calls use for all rows of promises in which a job counts.
func (r *Report) each(j *job, use func(*Promises)) {
	rows := []*Promises{of(r.Kinds, all), of(r.Kinds, j.kind.name), of(r.Modes, j.Mode), of(r.Bands, j.Prob)}
	if j.Patience != 0 {
		rows = append(rows, of(r.Modes, taken))
	}
	for _, p := range rows {
		p.Asked++
		use(p)
	}
}

var number = regexp.MustCompile(`[0-9][0-9:.TZ-]*`)

// refused counts a request that was refused.
func (r *Report) refused(j *job) {
	r.each(j, func(p *Promises) { p.Refused++ })
	r.Reasons[j.why()]++
}

// why returns the first line that a command wrote about a job, with N for numbers, so that like
// lines are the same.
func (j *job) why() string {
	line, _, _ := strings.Cut(strings.TrimSpace(j.Said), "\n")
	return j.kind.name + ": " + number.ReplaceAllString(line, "N")
}

// promised counts a promise that was kept or not. v is what varq says of it, or nil.
func (r *Report) promised(j *job, v *api.Reservation) {
	state, note := "unknown", ""
	if v != nil {
		state, note = v.State, v.Note
	}
	kept := j.InTime || !j.Late && state == api.StateKept
	r.each(j, func(p *Promises) {
		p.Prob += j.Prob
		if kept {
			p.Kept++
		} else {
			p.Missed++
		}
	})
	line := fmt.Sprintf("%s, job %d, %s, %s, %v, %s: %s: %s", j.Name, j.ID, j.kind.name, j.Mode, j.Prob, strings.Join(j.Args, " "), state, note)
	if !kept {
		r.Missed = append(r.Missed, line)
	}
	if varqs := state == api.StateKept; j.InTime && !varqs || j.Late && varqs {
		r.Wrong = append(r.Wrong, line)
	}
}

// forecast counts the wait of a plain job, in seconds.
func (r *Report) forecast(j *job, wait int64) {
	if j.Forecast[quantiles[0]] == nil {
		r.Unforecast[j.why()]++
	}
	for _, w := range []*Waits{of(r.Waits, all), of(r.Waits, j.kind.name)} {
		if w.Within == nil {
			w.Within, w.Below = map[float64]int{}, map[float64]int{}
		}
		if j.Forecast[quantiles[0]] == nil {
			w.Unknown++
			continue
		}
		w.Jobs++
		for _, q := range quantiles {
			switch bound := j.Forecast[q]; {
			case bound == nil: // so late that nobody knows when
				w.Within[q]++
				w.Below[q]++
			case float64(wait) < *bound:
				w.Below[q]++
				fallthrough
			case float64(wait) < *bound+1: // waits are whole seconds
				w.Within[q]++
			}
		}
	}
}

// Write writes the report for people.
func (r *Report) Write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	head := func(what string) {
		fmt.Fprintf(w, "\n%s\tasked\trefused\tpromised\tkept\tmean probability\tkept, share\t.95 interval\n", what)
	}
	head("kind of job")
	for _, k := range slices.Sorted(maps.Keys(r.Kinds)) {
		line(w, k, r.Kinds[k])
	}
	head("promise")
	for _, k := range slices.Sorted(maps.Keys(r.Modes)) {
		line(w, k, r.Modes[k])
	}
	head("probability")
	for _, k := range slices.Sorted(maps.Keys(r.Bands)) {
		line(w, fmt.Sprint(k), r.Bands[k])
	}
	fmt.Fprint(w, "\nkind of plain job\tforecast\tunknown")
	for _, q := range quantiles {
		fmt.Fprintf(w, "\twithin %v\tbelow it", q)
	}
	fmt.Fprintln(w)
	for _, k := range slices.Sorted(maps.Keys(r.Waits)) {
		v := r.Waits[k]
		fmt.Fprintf(w, "%s\t%d\t%d", k, v.Jobs, v.Unknown)
		for _, q := range quantiles {
			fmt.Fprintf(w, "\t%.3f\t%.3f", share(v.Within[q], v.Jobs), share(v.Below[q], v.Jobs))
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := r.writeOffers(out); err != nil {
		return err
	}
	var b strings.Builder
	if n := len(r.Moves); n > 0 {
		slices.Sort(r.Moves)
		fmt.Fprintf(&b, "\nMoves of a promised job: median %d, .9 of them at most %d, most %d\n", r.Moves[n/2], r.Moves[n*9/10], r.Moves[n-1])
	}
	reasons(&b, "Refused", r.Reasons)
	reasons(&b, "Not forecast", r.Unforecast)
	for _, list := range []struct {
		title string
		lines []string
	}{{"Not kept", r.Missed}, {"Of these varq says something else", r.Wrong}, {"Offers that could no longer be promised", r.Broken}} {
		fmt.Fprintf(&b, "\n%s: %d\n", list.title, len(list.lines))
		for _, l := range list.lines {
			fmt.Fprintf(&b, "  %s\n", l)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// reasons lists reasons, the most frequent first.
func reasons(b *strings.Builder, title string, counts map[string]int) {
	fmt.Fprintf(b, "\n%s:\n", title)
	for _, why := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	}) {
		fmt.Fprintf(b, "%6d  %s\n", counts[why], why)
	}
}

func line(w io.Writer, name string, p *Promises) {
	n := p.Granted()
	low, high := stats.ProportionInterval(p.Kept, max(1, n), .95)
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%.3f\t%.3f\t%.3f to %.3f\n", name, p.Asked, p.Refused, n, p.Kept, p.Prob/float64(max(1, n)), share(p.Kept, n), low, high)
}

func share(n, of int) float64 { return float64(n) / float64(max(1, of)) }
