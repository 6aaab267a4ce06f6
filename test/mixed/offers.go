package mixed

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/test/cluster"
)

// patience are after how many seconds users take an offer, as they read it first.
var patience = []int{3, 20, 60}

// latest is by how much later a deadline may be at most that a user takes instead.
const latest = 10 * time.Minute

// Offers are what became of the offers that users took after some time, or of those for which no
// room was kept.
type Offers struct{ Taken, Held int }

// takeOffer takes one of the offers that came with the refusal of a job, after a while.
func (c *campaign) takeOffer(ctx context.Context, j *job, random *rand.Rand) {
	var usable []*job
	for line := range strings.Lines(j.Said) {
		if _, options, ok := strings.Cut(line, "possible: "); ok {
			options, _, _ = strings.Cut(options, "   (")
			if taken := j.with(strings.Fields(options)); taken != nil {
				usable = append(usable, taken)
			}
		}
	}
	if len(usable) == 0 {
		return
	}
	taken := usable[random.IntN(len(usable))]
	taken.Patience = patience[random.IntN(len(patience))]
	taken.Kept = strings.Contains(j.Said, "kept for you until")
	if cluster.Sleep(ctx, time.Duration(taken.Patience)*time.Second) == nil {
		c.submit(ctx, taken)
	}
}

// with returns a job with more options, which an offer names. It is nil if the offer is a time
// limit in which the work does not end, a deadline much later, or fewer tasks.
func (j *job) with(options []string) *job {
	taken := *j
	taken.Name += "again"
	taken.Args = append(slices.Clone(j.Args), options...)
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		switch name {
		case "--prob":
			taken.Prob, _ = strconv.ParseFloat(value, 64)
		case "--best-effort":
			taken.Mode = bestEffort
		case "--begin-by", "--finish-by":
			at, err := slurmtime.Parse(value, time.Now().Unix(), time.Local)
			if err != nil || at > j.Deadline+int64(latest.Seconds()) {
				return nil
			}
			taken.Deadline = at
		case "--time":
			if limit, err := slurmtime.ParseDuration(value); err != nil || limit <= int64(j.Run) {
				return nil
			}
		case "--tasks": // how many of them start in time is not noted
			return nil
		}
	}
	return &taken
}

// offer counts an offer that its user has taken.
func (r *Report) offer(j *job) {
	key := j.Patience
	if !j.Kept {
		key = 0
	}
	o := of(r.Offers, key)
	o.Taken++
	if j.ID != 0 {
		o.Held++
		return
	}
	said, _, _ := strings.Cut(j.Said, "\n")
	r.Broken = append(r.Broken, fmt.Sprintf("%s after %d s, %s: %s", j.Name, j.Patience, strings.Join(j.Args, " "), said))
}

// writeOffers writes which share of the offers held.
func (r *Report) writeOffers(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "\noffers, taken after\ttaken\theld\tshare\t.95 interval\n")
	for _, seconds := range slices.Sorted(maps.Keys(r.Offers)) {
		o, after := r.Offers[seconds], fmt.Sprintf("%d s", seconds)
		if seconds == 0 {
			after = "any time, without room kept"
		}
		low, high := stats.ProportionInterval(o.Held, o.Taken, .95)
		fmt.Fprintf(w, "%s\t%d\t%d\t%.3f\t%.3f to %.3f\n", after, o.Taken, o.Held, share(o.Held, o.Taken), low, high)
	}
	return w.Flush()
}
