package broker

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// errDown is the error of a client whose varqd does not answer.
var errDown = errors.New("varqd is not reachable")

// options returns options with a clock that begins at 0.
func options() Options {
	began := time.Now()
	clock := func() time.Time { return time.Unix(0, 0).Add(time.Since(began)) }
	return Options{Prefer: elastic.DefaultPreferences(), Tries: 9, Tentative: 60, Pause: 500 * time.Millisecond, Now: clock}
}

// A slot is taken, or nothing of it is left, whatever the site says, and when.
func TestTake(t *testing.T) {
	conflict := api.Fault(api.ErrConflict, "the promise was not confirmed in time, and is taken back")
	promised := sbatch.Submission{Plan: &api.Plan{ID: "a"}, Job: 7}
	never := func(context.Context) error { return errDown }
	hangs := func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		<-ctx.Done()
		return errDown
	}
	for name, c := range map[string]struct {
		site  scripted
		calls string // at the first site
		other string // at the second
		taken string // a site, or nothing
		why   string // of the first failure, or the error
		takes time.Duration
	}{
		"all is well": {calls: "submit by 1000, confirm a 7", taken: "a"},
		"another size is promised": {
			site:  scripted{promises: func(p *api.Plan) { p.SizeNodes = 9 }},
			calls: "submit by 1000, release a", other: "submit by 2000, confirm b 7", taken: "b", why: "the cluster promises another slot: a start by 1970-01-01T00:16:40Z, for 00:10:00 of work",
		},
		"a longer limit is promised": {
			site:  scripted{promises: func(p *api.Plan) { p.WorkLimit *= 2 }},
			calls: "submit by 1000, release a", other: "submit by 2000, confirm b 7", taken: "b", why: "the cluster promises another slot: a start by 1970-01-01T00:16:40Z, for 00:20:00 of work",
		},
		"it costs more by now": {
			site:  scripted{promises: func(p *api.Plan) { p.Worst.BillingSeconds += 60 }},
			calls: "submit by 1000, release a", other: "submit by 2000, confirm b 7", taken: "b", why: "by now it costs 1.10 times as much",
		},
		"its user lets it cost more than is told": {
			site:  scripted{promises: func(p *api.Plan) { p.HoldUntil, p.Earliest = 1000, 400 }},
			calls: "submit by 1000, release a", other: "submit by 2000, confirm b 7", taken: "b", why: "by its --max-cost it may cost 2.00 times as much as is told of it: leave that out, or lower it",
		},
		"it costs a little more": {
			site:  scripted{promises: func(p *api.Plan) { p.Worst.BillingSeconds += 6 }},
			calls: "submit by 1000, confirm a 7", taken: "a",
		},
		"refused": {
			site: scripted{submit: func(context.Context) (sbatch.Submission, error) {
				return sbatch.Submission{}, &sbatch.Refused{Refusal: api.Refusal{Reason: "the limit allows 1 job"}}
			}},
			calls: "submit by 1000", other: "submit by 2000, confirm b 7", taken: "b", why: "the limit allows 1 job",
		},
		"sbatch fails before the promise": {
			site:  scripted{submit: func(context.Context) (sbatch.Submission, error) { return sbatch.Submission{}, errors.New("sbatch: no") }},
			calls: "submit by 1000", other: "submit by 2000, confirm b 7", taken: "b", why: "the cluster reserves nothing: sbatch: no",
		},
		"sbatch fails after the promise": {
			site: scripted{submit: func(context.Context) (sbatch.Submission, error) {
				return sbatch.Submission{Plan: &api.Plan{ID: "a"}}, errors.New("sbatch: no")
			}},
			calls: "submit by 1000, release a", other: "submit by 2000, confirm b 7", taken: "b", why: "the cluster reserves nothing: sbatch: no",
		},
		"sbatch fails after the promise, and varqd is gone": {
			site: scripted{submit: func(context.Context) (sbatch.Submission, error) {
				return sbatch.Submission{Plan: &api.Plan{ID: "a"}}, errors.New("sbatch: no")
			}, release: never},
			calls: "submit by 1000, release a", other: "submit by 2000, confirm b 7", taken: "b", why: "the cluster reserves nothing: sbatch: no", takes: 5 * time.Second,
		},
		"sbatch fails after the job, and varqd is gone": {
			site:  scripted{submit: func(context.Context) (sbatch.Submission, error) { return promised, errors.New("sbatch: no") }, release: never},
			calls: "submit by 1000, release a, cancel a 7", other: "submit by 2000, confirm b 7", taken: "b", why: "the cluster reserves nothing: sbatch: no", takes: 5 * time.Second,
		},
		"sbatch never ends": {
			site: scripted{submit: func(ctx context.Context) (sbatch.Submission, error) {
				<-ctx.Done()
				return sbatch.Submission{Plan: &api.Plan{ID: "a"}}, ctx.Err()
			}},
			calls: "submit by 1000, release a", other: "submit by 2000, confirm b 7", taken: "b",
			why: "the cluster reserves nothing: the job could not be submitted within 60 s: context deadline exceeded", takes: 60 * time.Second,
		},
		"the hold has expired": {
			site:  scripted{confirm: func(context.Context) error { return conflict }},
			calls: "submit by 1000, confirm a 7, release a", other: "submit by 2000, confirm b 7", taken: "b",
			why: "the promise was not confirmed in time, and is taken back",
		},
		"the confirmation is answered late": {
			site:  scripted{confirm: answers(errDown, errDown, nil)},
			calls: "submit by 1000, confirm a 7", taken: "a", takes: time.Second,
		},
		"the confirmation is never answered, but was made": {
			site:  scripted{confirm: never, release: func(context.Context) error { return conflict }},
			calls: "submit by 1000, confirm a 7, release a", taken: "a", takes: 60500 * time.Millisecond,
		},
		"the confirmation is never answered, nor was made": {
			site:  scripted{confirm: never},
			calls: "submit by 1000, confirm a 7, release a", other: "submit by 2000, confirm b 7", taken: "b",
			why: "the cluster reserves nothing: the promise could not be confirmed, and is taken back: varqd is not reachable", takes: 60500 * time.Millisecond,
		},
		"Slurm does not answer varqd": {
			site:  scripted{confirm: func(context.Context) error { return api.Fault(api.ErrUnavailable, "Slurm cannot be asked now") }},
			calls: "submit by 1000, confirm a 7, release a", other: "submit by 2000, confirm b 7", taken: "b",
			why: "the cluster reserves nothing: the promise could not be confirmed, and is taken back: Slurm cannot be asked now", takes: 60500 * time.Millisecond,
		},
		"Slurm has lost the job": {
			site:  scripted{confirm: func(context.Context) error { return api.Fault(api.ErrForbidden, "you have no job 7 in the queue") }},
			calls: "submit by 1000, confirm a 7, release a", other: "submit by 2000, confirm b 7", taken: "b",
			why: "the promise could not be confirmed, and is taken back: you have no job 7 in the queue",
		},
		"taking it back is answered at the second time": {
			site:  scripted{confirm: never, release: answers(api.Fault(api.ErrUnavailable, "the promise is being confirmed; try again"), conflict)},
			calls: "submit by 1000, confirm a 7, release a", taken: "a", takes: 61 * time.Second,
		},
		"varqd is gone, and Slurm cancels the job": {
			site:  scripted{confirm: never, release: never},
			calls: "submit by 1000, confirm a 7, release a, cancel a 7", other: "submit by 2000, confirm b 7", taken: "b",
			why: "the cluster reserves nothing: job 7 is cancelled, as nobody has confirmed its promise: varqd is not reachable", takes: 65500 * time.Millisecond,
		},
		"varqd hangs, and Slurm cancels the job": {
			site:  scripted{confirm: hangs, release: hangs},
			calls: "submit by 1000, confirm a 7, release a, cancel a 7", other: "submit by 2000, confirm b 7", taken: "b",
			why: "the cluster reserves nothing: job 7 is cancelled, as nobody has confirmed its promise: varqd is not reachable", takes: 66 * time.Second,
		},
		"varqd is gone, and the job runs": {
			site:  scripted{confirm: never, release: never, cancel: func(context.Context) (bool, error) { return true, nil }},
			calls: "submit by 1000, confirm a 7, release a, cancel a 7", taken: "a", takes: 65500 * time.Millisecond,
		},
		"varqd and Slurm are gone": {
			site: scripted{confirm: never, release: never, cancel: func(ctx context.Context) (bool, error) {
				<-ctx.Done()
				return false, ctx.Err()
			}},
			calls: "submit by 1000, confirm a 7, release a, cancel a 7",
			why: "cluster a has job 7, but does not answer, so that nobody knows whether it is reserved: varqd is not reachable; as soon as varqd answers there, " +
				"'varq status --site=a 7' tells, and if it was not confirmed the job is cancelled by itself", takes: 80500 * time.Millisecond,
		},
		"varqd has forgotten the plan": { // its ledger is lost
			site:  scripted{confirm: answers(api.Fault(api.ErrNotFound, "you have no such plan")), release: answers(api.Fault(api.ErrNotFound, "you have no such plan"))},
			calls: "submit by 1000, confirm a 7, release a, cancel a 7", other: "submit by 2000, confirm b 7", taken: "b",
			why: "the cluster reserves nothing: job 7 is cancelled, as nobody has confirmed its promise: you have no such plan",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := &c.site, &scripted{name: "b"}
				a.name = "a"
				began := time.Now()
				out, err := Reserve(t.Context(), []Site{a, b}, offers(a, b), options())
				if got := time.Since(began); got != c.takes {
					t.Errorf("it takes %v, not %v", got, c.takes)
				}
				if got := a.said(); got != c.calls {
					t.Errorf("site a: %s\nwant    %s", got, c.calls)
				}
				if got := b.said(); got != c.other {
					t.Errorf("site b: %s\nwant    %s", got, c.other)
				}
				taken, why := "", ""
				if out.Taken != nil {
					taken = out.Taken.Site
				}
				var doubt *Doubt
				switch {
				case err != nil && !errors.As(err, &doubt):
					t.Errorf("no doubt, but %v", err)
				case err != nil:
					why = err.Error()
				case len(out.Tried) > 0:
					why = out.Tried[0].Why
				}
				if taken != c.taken || why != c.why {
					t.Errorf("%q is taken: %s\nwant %q: %s", taken, why, c.taken, c.why)
				}
			})
		})
	}
}

// answers returns a function that returns these errors one after the other.
func answers(errs ...error) func(context.Context) error {
	return func(context.Context) error {
		err := errs[0]
		errs = errs[1:]
		return err
	}
}

// A slot whose time is over when its turn comes is not tried. Other slots of its site are tried.
func TestPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &scripted{name: "a"}, &scripted{name: "b"}
		a.submit = func(ctx context.Context) (sbatch.Submission, error) {
			<-ctx.Done()
			return sbatch.Submission{}, ctx.Err()
		}
		answers := offers(a, b)
		answers[0].Slots[0], answers[1].Slots[0] = slotAt(5), slotAt(59)
		out, err := Reserve(t.Context(), []Site{a, b}, answers, options())
		if calls := b.said(); err != nil || len(out.Tried) != 2 || out.Tried[1].Why != "its time is over" || calls != "submit by 102000, confirm b 7" {
			t.Errorf("%+v, %v: %s", out, err, calls)
		}
	})
}

// Some slots' time is over when all sites have answered. They do not keep later slots of their
// sites from being tried.
func TestSlowSite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &scripted{name: "a"}, &scripted{name: "b"}
		answers := offers(a, b)
		answers[0].Slots, answers[1] = nil, Answer{Site: "b", Error: "no answer within 10s"}
		for _, s := range []int64{1, 5, 9, 11, 300} {
			answers[0].Slots = append(answers[0].Slots, slotAt(s))
		}
		o := options()
		time.Sleep(10 * time.Second)
		out, err := Reserve(t.Context(), []Site{a, b}, answers, o)
		if err != nil || len(out.Tried) != 0 || out.Taken == nil || out.Taken.Start != slotAt(300).Start {
			t.Errorf("%+v, %v", out, err)
		}
	})
}

// A slot whose time is over when its job has been submitted is lost. Other slots of its site are
// not.
func TestLateSubmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &scripted{name: "a"}
		a.submit = func(context.Context) (sbatch.Submission, error) {
			a.submit = nil
			time.Sleep(4 * time.Second)
			return sbatch.Submission{}, errors.New("sbatch: --begin-by: it is in the past")
		}
		answers := offers(a)
		answers[0].Slots = []api.Slot{slotAt(3), slotAt(300)}
		out, err := Reserve(t.Context(), []Site{a}, answers, options())
		if err != nil || len(out.Tried) != 1 || !strings.HasPrefix(out.Tried[0].Why, "its time is over: ") || out.Taken == nil || out.Taken.Start != slotAt(300).Start {
			t.Errorf("%+v, %v", out, err)
		}
	})
}

// A slot whose time is over when it has been confirmed, as Slurm was slow, is lost with its job,
// unless the job has started.
func TestLateConfirmation(t *testing.T) {
	for _, started := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			a := &scripted{name: "a", cancel: func(context.Context) (bool, error) { return started, nil }}
			a.confirm = func(context.Context) error {
				a.confirm = nil
				time.Sleep(9 * time.Second)
				return nil
			}
			answers := offers(a)
			answers[0].Slots = []api.Slot{slotAt(8), slotAt(300)}
			out, err := Reserve(t.Context(), []Site{a}, answers, options())
			if err != nil || out.Taken == nil || (out.Taken.Start == slotAt(8).Start) != started || (len(out.Tried) == 1) == started {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}

// A user who interrupts the command has reserved nothing, or what she is told.
func TestInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		during  string // the call in which she interrupts
		release error
		started bool
		unknown error
		calls   string
		taken   bool
		doubt   bool
	}{
		"before all":                              {during: "probe"},
		"during sbatch":                           {during: "submit", calls: "submit by 1000, release a"},
		"at the confirmation":                     {during: "confirm", calls: "submit by 1000, confirm a 7, release a"},
		"when it was confirmed":                   {during: "confirm", release: api.Fault(api.ErrConflict, "the promise was confirmed"), calls: "submit by 1000, confirm a 7, release a", taken: true},
		"when varqd does not answer":              {during: "confirm", release: errDown, calls: "submit by 1000, confirm a 7, release a, cancel a 7"},
		"when its job runs":                       {during: "confirm", release: errDown, started: true, calls: "submit by 1000, confirm a 7, release a, cancel a 7", taken: true},
		"when nobody answers":                     {during: "confirm", release: errDown, unknown: errDown, calls: "submit by 1000, confirm a 7, release a, cancel a 7", doubt: true},
		"when the job of a failed sbatch is left": {during: "submit", release: errDown, calls: "submit by 1000, release a, cancel a 7"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				a, b := &scripted{name: "a"}, &scripted{name: "b"}
				a.submit = func(context.Context) (sbatch.Submission, error) {
					got := sbatch.Submission{Plan: &api.Plan{ID: "a"}, Job: 7}
					if c.during == "submit" {
						interrupt()
						return got, ctx.Err()
					}
					return got, nil
				}
				a.confirm = func(context.Context) error {
					interrupt()
					return errDown
				}
				a.release = func(ctx context.Context) error {
					if ctx.Err() != nil {
						t.Error("asked without time to answer")
					}
					return c.release
				}
				a.cancel = func(ctx context.Context) (bool, error) {
					if ctx.Err() != nil {
						t.Error("asked without time to answer")
					}
					return c.started, c.unknown
				}
				if c.during == "probe" {
					interrupt()
				}
				o := options()
				o.Pause = 700 * time.Millisecond // not at a multiple of the time-out
				out, err := Reserve(ctx, []Site{a, b}, offers(a, b), o)
				var doubt *Doubt
				if got := a.said(); got != c.calls || b.calls != nil || (out.Taken != nil) != c.taken || errors.As(err, &doubt) != c.doubt || errors.Is(err, ErrInterrupted) != (!c.taken && !c.doubt) {
					t.Errorf("%s, then %s at the other: %+v, %v", got, b.said(), out.Taken, err)
				}
			})
		})
	}
}

// All sites are asked concurrently. No site waits for another, and none is asked for longer than
// its client allows.
func TestProbeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sites []Site
		for i := range 100 {
			s := &scripted{name: "site" + strconv.Itoa(i)}
			s.probe = func(ctx context.Context) (api.ProbeAnswer, error) {
				ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
				defer cancel()
				if i%2 == 0 {
					<-ctx.Done()
					return api.ProbeAnswer{}, errDown
				}
				return api.ProbeAnswer{Slots: []api.Slot{slotAt(1000)}, Unit: "billing-hours"}, nil
			}
			sites = append(sites, s)
		}
		began := time.Now()
		answers := Probe(t.Context(), sites, request())
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("it takes %v", took)
		}
		for i, a := range answers {
			if even := i%2 == 0; a.Site != sites[i].Name() || even != (a.Error == errDown.Error()) || even != (len(a.Slots) == 0) {
				t.Errorf("%d: %+v", i, a)
			}
		}
	})
}

func request() api.ProbeRequest {
	r := api.ProbeRequest{Earliest: 500, Latest: 200_000, Slots: 2, Prob: .5}
	r.Sizes = make([]api.Size, 1)
	r.Sizes[0].Nodes, r.Sizes[0].Limit = 2, 600
	return r
}

// Unsound parts of an answer are removed.
func TestGarbage(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *api.Slot)
		why    string
	}{
		"sound":                {func(*api.Slot) {}, ""},
		"too early":            {func(s *api.Slot) { s.Start = 499 }, "it is not in the window"},
		"too late":             {func(s *api.Slot) { s.Start, s.End = 200_001, 200_601 }, "it is not in the window"},
		"reversed":             {func(s *api.Slot) { s.End = s.Start }, "it ends at 1000, and begins at 1000"},
		"before time":          {func(s *api.Slot) { s.Start, s.End = -5, 400 }, "-5 to 400 is not a time"},
		"after time":           {func(s *api.Slot) { s.End = math.MaxInt64 }, "1000 to 9223372036854775807 is not a time"},
		"no nodes":             {func(s *api.Slot) { s.Nodes = 0 }, "0 is not a number of nodes from 1 to 1048576"},
		"other nodes":          {func(s *api.Slot) { s.Nodes = 3 }, "nobody asked for 3 nodes"},
		"too long":             {func(s *api.Slot) { s.Limit = 601 }, "a time limit of 601 s is not one from 1 to 600 s"},
		"no limit":             {func(s *api.Slot) { s.Limit = 0 }, "a time limit of 0 s is not one from 1 to 600 s"},
		"free of cost":         {func(s *api.Slot) { s.Cost = 0 }, ""},
		"it pays":              {func(s *api.Slot) { s.Cost = -1 }, "-1 is not a cost"},
		"cost is not a number": {func(s *api.Slot) { s.Cost = math.NaN() }, "NaN is not a cost"},
		"certain":              {func(s *api.Slot) { s.Prob, s.Estimate = 1, 1 }, "1 is not a probability below 1"},
		"improbable":           {func(s *api.Slot) { s.Prob = .49 }, "it is less probable than asked for"},
		"prob is not a number": {func(s *api.Slot) { s.Prob = math.NaN() }, "NaN is not a probability below 1"},
		"more than certain":    {func(s *api.Slot) { s.Estimate = 1.5 }, "1.5 is not a probability"},
		"bad rates":            {func(s *api.Slot) { s.ESR = &api.ESR{Static: 2} }, "its success rates are none"},
		"bad partition":        {func(s *api.Slot) { s.Partition = "a\x1b[2J" }, `its partition "a\x1b[2J" cannot be shown`},
		"long partition":       {func(s *api.Slot) { s.Partition = strings.Repeat("p", 300) }, `its partition "pppppppppppppppppppp"... is too long`},
	} {
		s := &scripted{name: "a"}
		s.probe = func(context.Context) (api.ProbeAnswer, error) {
			bad := slotAt(1000)
			c.change(&bad)
			return api.ProbeAnswer{Slots: []api.Slot{bad, slotAt(2000)}, Note: strings.Repeat("n", 9999)}, nil
		}
		got := Probe(t.Context(), []Site{s}, request())[0]
		want, left := "", 2
		if c.why != "" {
			want, left = "1 of its slots make no sense: "+c.why, 1
		}
		if got.Error != want || len(got.Slots) != left || len(got.Note) > mostReason+3 {
			t.Errorf("%s: %d slots are left, and a note of %d bytes: %s", name, len(got.Slots), len(got.Note), got.Error)
		}
	}
}

// A site without slots or reasons is reported as such. If a site has a reason, the reason is
// reported.
func TestNoAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		answer api.ProbeAnswer
		want   string
	}{
		"nothing":        {api.ProbeAnswer{}, "it answers with neither slots nor a reason why it has none: see varq sites"},
		"a reason":       {api.ProbeAnswer{Reasons: []string{"too long"}}, ""},
		"too late":       {api.ProbeAnswer{Cut: true}, ""},
		"an old picture": {api.ProbeAnswer{Note: "silent since"}, ""},
	} {
		s := &scripted{name: "a", probe: func(context.Context) (api.ProbeAnswer, error) { return c.answer, nil }}
		if got := Probe(t.Context(), []Site{s}, request())[0]; got.Error != c.want {
			t.Errorf("%s: %q", name, got.Error)
		}
	}
}

// Surplus and repeated slots of a site's answer do not count.
func TestAnswersTwice(t *testing.T) {
	a, b := &scripted{name: "a"}, &scripted{name: "b"}
	a.probe = func(context.Context) (api.ProbeAnswer, error) {
		var slots []api.Slot
		for range 1000 {
			slots = append(slots, slotAt(1000))
		}
		return api.ProbeAnswer{Slots: slots}, nil
	}
	a.submit = func(context.Context) (sbatch.Submission, error) { return sbatch.Submission{}, &sbatch.Refused{} }
	b.probe = func(context.Context) (api.ProbeAnswer, error) {
		return api.ProbeAnswer{Slots: []api.Slot{slotAt(2000)}}, nil
	}
	sites := []Site{a, b}
	got := Probe(t.Context(), sites, request())
	if len(got[0].Slots) != 2 {
		t.Errorf("%d slots are left", len(got[0].Slots))
	}
	out, err := Reserve(t.Context(), sites, got, options())
	if err != nil || out.Taken == nil || out.Taken.Site != "b" {
		t.Errorf("%+v, %v", out, err)
	}
}

// There is nothing to choose from, or nothing left to choose.
func TestNothing(t *testing.T) {
	out, err := Reserve(t.Context(), nil, nil, options())
	if out.Taken != nil || out.Untried || err != nil {
		t.Errorf("%+v, %v", out, err)
	}
	a := &scripted{name: "a", submit: func(context.Context) (sbatch.Submission, error) { return sbatch.Submission{}, &sbatch.Refused{} }}
	o := options()
	o.Tries = 1
	out, err = Reserve(t.Context(), []Site{a}, offers(a), o)
	if out.Taken != nil || !out.Untried || len(out.Tried) != 1 || err != nil {
		t.Errorf("%+v, %v", out, err)
	}
}
