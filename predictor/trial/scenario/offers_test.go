package scenario

import (
	"testing"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/promise/trajectory"
)

// TestTakeOffers: with take-offers, those who are refused take the later deadline that they are
// offered. Without it nobody gets an offer.
func TestTakeOffers(t *testing.T) {
	const share = "varq=20%,prob=.75,forecaster=qbets"
	for text, taken := range map[string]bool{share: false, share + ",take-offers": true} {
		reservations, err := ParseReservations(text)
		if err != nil {
			t.Fatal(err)
		}
		later, kept, refused, jobs := 0, 0, 0, busy(1500)
		s := Scenario{Procs: 64, Backfill: sched.EASY, Seed: 3, Reservations: reservations}
		r, err := s.Run(each(jobs), Callbacks{Answered: func(o Outcome) {
			switch {
			case o.Refusal != "":
				refused++
			case o.Deadline > o.Wanted:
				later++
				if o.Deadline > o.Wanted+24*3600 {
					t.Errorf("%d takes a deadline that is %d s later", o.Job, o.Deadline-o.Wanted)
				}
				if o.Kept() {
					kept++
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		v := r.VARQ
		if taken != (v.Offers != nil) || taken != (later > 0) || v.Asked != v.Promised+later+refused {
			t.Fatalf("%s: %+v, %d later and %d refused", text, v, later, refused)
		}
		if o := v.Offers; taken && (o.Kinds[trajectory.OfferLater] < later || o.Refused != later+refused || o.Later != later || o.Kept != kept || o.Offered < later || o.Offered > o.Refused ||
			o.KeptLow > float64(kept)/float64(later) || o.KeptHigh < float64(kept)/float64(later)) {
			t.Errorf("%+v, of %d refused %d later, %d of them kept", o, refused, later, kept)
		}
		waited, others := 0., 0
		for _, w := range r.Weeks {
			waited, others = waited+w.Wait, others+w.Others
		}
		if mean := waited / float64(others); others != r.Others.Jobs || mean/r.Others.Mean < .999999 || mean/r.Others.Mean > 1.000001 {
			t.Errorf("%s: in all weeks %d others, who wait for %v; %d, %v", text, others, mean, r.Others.Jobs, r.Others.Mean)
		}
	}
}
