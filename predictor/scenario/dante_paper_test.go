package scenario

import (
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/varq-project/varq/predictor/sched"
)

// QBETS (Nurmi, Brevik and Wolski 2008), section 4.6: while the machine dante was
// down, predictions necessarily fell short of ever longer waits. Here a machine is
// down for 6 h every other day. Of what plain QBETS promises meanwhile, next to
// nothing is kept; one that knows what waits promises little, says why, and keeps
// its promises as a whole.
func TestSection46Dante(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: not in short mode")
	}
	const day = 86_400
	random := rand.New(rand.NewPCG(4, 6))
	var jobs []sched.Job
	for at, id := int64(0), int64(0); at < 10*day; id++ {
		limit := int64(300) << random.IntN(5)
		jobs = append(jobs, sched.Job{
			ID: id, Submit: at, Procs: 1 + random.Int32N(8), Limit: limit, Run: int64(float64(limit) * random.Float64()),
		})
		at += 1 + int64(105*random.ExpFloat64())
	}
	s := Scenario{Procs: 64, Backfill: sched.EASY, Seed: 6, Outage: Outage{Lasts: 6 * 3600, After: 5 * day, Every: 2 * day}}
	type count struct{ promised, kept, down int }
	of := func(f Forecaster) (all, during count, why string) {
		s.Reservations.VARQ = &VARQ{Share: .1, Prob: .75, Every: 3600, Replan: 900, Forecaster: f}
		r, err := s.Run(each(jobs), Watch{Answered: func(r Reservation) {
			since := r.Asked - jobs[0].Submit - s.Outage.After
			counts := []*count{&all}
			if since >= 0 && since%s.Outage.Every < s.Outage.Lasts {
				counts = append(counts, &during)
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
			t.Errorf("%v: %d refused during outages, told of %d", f, r.VARQ.Down, all.down)
		}
		return all, during, r.VARQ.Why
	}
	plain, plainDuring, _ := of(QBETS)
	t.Logf("qbets: %+v, during outages %+v", plain, plainDuring)
	all, during, why := of(History)
	t.Logf("history: %+v, during outages %+v; %s", all, during, why)
	if plainDuring.promised < 5 || 2*plainDuring.kept > plainDuring.promised || plain.down > 0 {
		t.Error("plain QBETS keeps its promises: no outage was enacted")
	}
	if 4*all.kept < 3*all.promised || 2*during.promised > plainDuring.promised {
		t.Error("promises are broken")
	}
	if during.down == 0 || during.down < all.down/2 ||
		!regexp.MustCompile(`^no job has started for [1-6]h[0-9]+m while \d+ wait: the cluster seems to be down$`).MatchString(why) {
		t.Errorf("%d of %d refusals during outages, the last: %q", during.down, all.down, why)
	}
}
