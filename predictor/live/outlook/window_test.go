package outlook

import (
	"testing"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/synthetic"
)

// closing is a site that knows a past, with a clock and processors that are closed for four hours,
// two hours from now.
type closing struct {
	*Outlook
	*Model
	now    int64
	procs  int32
	closed rollout.Window
}

// newClosing returns a site, with a past of jobs on so many processors, after the submission of the
// last of them.
func newClosing(t *testing.T, procs int32, past []workload.Job) *closing {
	t.Helper()
	s := &closing{procs: procs, now: past[len(past)-1].End + day}
	for i := range past {
		s.now = max(s.now, past[i].End+600)
	}
	s.Outlook = New(Options{Confidence: .95, Now: func() int64 { return s.now }})
	s.closed = rollout.Window{From: s.now + 2*3600, To: s.now + 6*3600}
	s.Model = s.NewModel(s.pools(nil))
	if err := s.Learn(t.Context(), past, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	s.Serve()
	return s
}

func (s *closing) pools(w rollout.Windows) twin.Pools {
	return func(workload.Place) twin.Pool {
		return twin.Pool{Name: "main", Size: workload.Size{CPUs: s.procs}, Windows: w}
	}
}

// pile lets so many jobs wait that take an eighth of the processors each, for three hours.
func (s *closing) pile(like workload.Request, jobs int64) {
	for id := range jobs {
		j := workload.Job{ID: 1<<40 + id, Request: like, Submit: s.now, Eligible: s.now, State: workload.Pending}
		j.CPUs, j.Limit = s.procs/8, 3*3600
		s.Observe(&forecast.Event{At: s.now, Kind: forecast.Submitted, Job: &j})
	}
}

// within returns how likely a job with a limit starts in so many seconds at least, if it is
// submitted at a time.
func (s *closing) within(r workload.Request, submit, limit, seconds int64) float64 {
	est := make([]workload.Estimate, 1)
	s.Forecast(r, s.now, []workload.Candidate{{Submit: submit, Limit: limit, Budget: seconds}}, est)
	return est[0].Prob
}

// TestPileAfterAWindow: while jobs wait for the end of a maintenance that need the processors for
// three hours from then on, nothing is promised for one hour after it, neither to a job that comes
// then nor to one that waits with them. Without them, or long after them, forecasts are as ever.
func TestPileAfterAWindow(t *testing.T) {
	calm := varied(now-40*day, now-7200)
	for i := range calm {
		calm[i].Start = calm[i].Submit + 1
		calm[i].End = calm[i].Start + 7200
	}
	for name, c := range map[string]struct {
		procs int32
		past  []workload.Job
	}{
		"calm": {8, calm},
		"busy": {128, synthetic.Scheduled(synthetic.Policies[0].Policy, 128, .3, 4000)},
	} {
		t.Run(name, func(t *testing.T) {
			s, like := newClosing(t, c.procs, c.past), c.past[len(c.past)-1].Request
			like.CPUs = 1
			ask := func() (hour, day, waiting float64) {
				const long = 3 * 3600
				return s.within(like, s.closed.To, 3600, 3600), s.within(like, s.closed.To, 3600, 24*3600), s.within(like, s.now, long, s.closed.To+3600-s.now)
			}
			hour, late, _ := ask()
			s.Hear(expert.News{Pools: s.pools(rollout.Windows{s.closed})})
			if got, then, waiting := ask(); got < hour-.01 || then < late-.01 || waiting < .9 {
				t.Errorf("when nobody waits, within an hour of the maintenance with probability %v, %v without it; within a day %v, %v; one that waits %v", got, hour, then, late, waiting)
			}
			s.pile(like, 8)
			if got, then, waiting := ask(); got > .5 || then < late-.1 || waiting > .5 {
				t.Errorf("behind the others, within an hour of the maintenance with probability %v; within a day %v, %v without them; one that waits %v", got, then, late, waiting)
			}
			s.Hear(expert.News{Pools: s.pools(nil)})
			if got, _, _ := ask(); got < hour-.1 {
				t.Errorf("the maintenance is not known, and within an hour of it with probability %v, %v without the others", got, hour)
			}
		})
	}
}

// TestPileIsAheadOfWhatComesLater: behind a pile such as never was, a job that comes later is not
// forecast to start sooner than one that waits from now on.
func TestPileIsAheadOfWhatComesLater(t *testing.T) {
	past := synthetic.Scheduled(synthetic.Policies[0].Policy, 128, .3, 4000)
	s, like := newClosing(t, 128, past), past[len(past)-1].Request
	like.CPUs = 1
	s.pile(like, 8*30)
	for hours := range int64(11) {
		lead, limit := 6*hours*3600, int64(3*3600)
		for _, wait := range []int64{60, 3600, 6 * 3600} {
			now, later := s.within(like, s.now, limit, lead+wait), s.within(like, s.now+lead, limit, wait)
			if later > now+.02 {
				t.Errorf("submitted in %d hours and started %d s after that with probability %v, submitted now and started by then with %v", 6*hours, wait, later, now)
			}
		}
	}
}
