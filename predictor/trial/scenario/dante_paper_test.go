package scenario

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// QBETS (Nurmi, Brevik and Wolski 2008), section 4.6: while the machine dante was down,
// predictions fell short of ever longer waits. Here the machines are down for 6 h every
// other day. Some are full and some nearly idle, and some go down after only one day.
// Plain QBETS keeps at most half of the promises that it makes during outages. The method
// History knows the queue: once an outage has lasted for some hours, it keeps every
// promise that it still makes, and its refusals say that the cluster seems to be down. It
// keeps three quarters of all its promises.
func TestSection46Dante(t *testing.T) {
	for _, d := range []dante{
		{seed: 1, gap: 105, first: 1, within: 2},
		{seed: 2, gap: 105, first: 3, within: 2},
		{seed: 4, gap: 150, first: 2, within: 2},
		// nearly none of 1000 jobs had to wait before it started
		{seed: 6, gap: 250, first: 3, within: 4},
	} {
		t.Run(fmt.Sprintf("%+v", d), d.test)
	}
}

// dante is a machine that breaks down.
type dante struct {
	seed   uint64
	gap    float64 // seconds between two submissions on average
	first  int64   // days before the first outage
	within int64   // hours after which History has noticed an outage
}

func (d dante) test(t *testing.T) {
	t.Parallel()
	const day = 86_400
	random := rand.New(rand.NewPCG(d.seed, 6))
	var jobs []sched.Job
	for at, id := int64(0), int64(0); at < (d.first+3)*day; id++ {
		limit := int64(300) << random.IntN(5)
		jobs = append(jobs, sched.Job{
			ID: id, Submit: at, Procs: 1 + random.Int32N(8), Limit: limit, Run: int64(float64(limit) * random.Float64()),
		})
		at += 1 + int64(d.gap*random.ExpFloat64())
	}
	s := Scenario{Procs: 64, Backfill: sched.EASY, Seed: d.seed, Background: func(task func()) { go task() }, Outage: Outage{Lasts: 6 * 3600, After: d.first * day, Every: 2 * day}}
	type count struct{ promised, kept, down int }
	of := func(m Method) (all, during, late count, utilisation float64, why string) {
		s.Reservations.VARQ = &VARQ{Share: .1, Prob: .75, Every: 3600, Replan: 900, Method: m}
		r, err := s.Run(each(jobs), Callbacks{Answered: func(r Outcome) {
			since := r.Asked - jobs[0].Submit - s.Outage.After
			counts := []*count{&all}
			if since >= 0 && since%s.Outage.Every < s.Outage.Lasts {
				counts = append(counts, &during)
				if since%s.Outage.Every >= d.within*3600 {
					counts = append(counts, &late)
				}
			}
			for _, c := range counts {
				if r.Refusal == "" {
					c.promised++
				}
				if r.Kept() {
					c.kept++
				}
				if r.Down {
					c.down++
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if r.VARQ.Down != all.down {
			t.Errorf("%v: %d refused because of outages, Answered counted %d", m, r.VARQ.Down, all.down)
		}
		return all, during, late, r.Utilisation, r.VARQ.Why
	}
	plain, plainDuring, plainLate, utilisation, _ := of(QBETS)
	t.Logf("qbets: %+v, during outages %+v, late in them %+v; utilisation %.2f", plain, plainDuring, plainLate, utilisation)
	all, during, late, _, why := of(History)
	t.Logf("history: %+v, during outages %+v, late in them %+v; %s", all, during, late, why)
	if plainLate.promised < 5 || 2*plainDuring.kept > plainDuring.promised || plain.down > 0 {
		t.Error("plain QBETS keeps its promises: no outage was enacted")
	}
	if 4*all.kept < 3*all.promised || late.kept < late.promised || during.promised > plainDuring.promised {
		t.Error("promises are broken")
	}
	if late.down == 0 || during.down < all.down/2 ||
		!regexp.MustCompile(`^no job has started for ([1-6]h([0-9]+m)?|[1-5][0-9]m) while \d+ waits?: the cluster seems to be down$`).MatchString(why) {
		t.Errorf("%d of %d refusals during outages, the last: %q", during.down, all.down, why)
	}
}
