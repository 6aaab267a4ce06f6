package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/slurmrestd"
	"github.com/varq-project/varq/predictor/workload"
)

// fakeSlurm is a Slurm with a queue, whose answers may be errors.
type fakeSlurm struct {
	queue                  []slurm.QueueEntry
	submit, update, favour error
	cancel                 error
	interrupt              func() // called by SubmitHeld
	expires                time.Time
	ahead                  time.Duration
	operators              []string
	others                 bool // varqd's user may act as others
}

func (f *fakeSlurm) About(context.Context) (slurmrestd.About, error) {
	return slurmrestd.About{Release: "24.11.5", API: "v0.0.42"}, nil
}
func (f *fakeSlurm) TokenExpires() (time.Time, error) { return f.expires, nil }
func (f *fakeSlurm) Clock(context.Context) (ahead, uncertainty time.Duration, err error) {
	return f.ahead, time.Second, nil
}
func (f *fakeSlurm) Accounted(context.Context, int64) ([]workload.Job, error) { return nil, nil }
func (f *fakeSlurm) Operators(context.Context) ([]string, error)              { return f.operators, nil }
func (f *fakeSlurm) Queue(ctx context.Context) ([]slurm.QueueEntry, error) {
	return f.queue, ctx.Err()
}
func (f *fakeSlurm) SubmitHeld(ctx context.Context, name string) (int64, error) {
	if f.submit == nil {
		f.queue = append(f.queue, job(100, name, "varq"))
	}
	if f.interrupt != nil {
		f.interrupt()
	}
	return 100, errors.Join(f.submit, ctx.Err())
}
func (f *fakeSlurm) Update(ctx context.Context, u slurm.Update) error {
	switch {
	case u.Owner != "" && f.others:
		return slurm.ErrNotFound
	case u.Owner != "":
		return slurm.ErrPermission
	}
	return errors.Join(f.update, ctx.Err())
}
func (f *fakeSlurm) Favour(ctx context.Context, _ int64) error {
	return errors.Join(f.favour, ctx.Err())
}
func (f *fakeSlurm) Cancel(ctx context.Context, id int64) error {
	if f.cancel == nil {
		f.queue = slices.DeleteFunc(slices.Clone(f.queue), func(j slurm.QueueEntry) bool { return j.ID == id })
	}
	return errors.Join(f.cancel, ctx.Err())
}

func job(id int64, name, user string) slurm.QueueEntry {
	return slurm.QueueEntry{Job: workload.Job{ID: id, Request: workload.Request{User: user}}, Name: name, Held: true}
}

// Whatever becomes of the trial, its job and those of earlier trials do not stay, and other jobs
// do.
func TestTrialLeavesNothing(t *testing.T) {
	now := time.Unix(1_750_000_000, 0)
	for name, test := range map[string]struct {
		slurm fakeSlurm
		want  Verdict
	}{
		"operator":                    {fakeSlurm{}, OK},
		"no operator":                 {fakeSlurm{favour: fmt.Errorf("no: %w", slurm.ErrPermission)}, Failure},
		"refused":                     {fakeSlurm{update: slurm.ErrRefused}, Failure},
		"no submission, an operator":  {fakeSlurm{submit: slurm.ErrRefused, operators: []string{"varq"}}, Warning},
		"no submission, no operator":  {fakeSlurm{submit: slurm.ErrRefused, operators: []string{"root"}}, Failure},
		"interrupted":                 {fakeSlurm{}, Failure},
		"interrupted without answers": {fakeSlurm{submit: slurm.ErrUnavailable}, Failure},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		s := &test.slurm
		if name[:3] == "int" {
			s.interrupt = cancel
		}
		s.queue = []slurm.QueueEntry{job(1, "varq-doctor", "varq"), job(2, "varq-doctor", "alice"), job(3, "work", "varq")}
		if got := rights(ctx, s, "varq", actsAsOthers(ctx, s), now); got.Verdict != test.want || (got.Verdict == OK) != (got.Remedy == "") {
			t.Errorf("%s: %+v", name, got)
		}
		var left []int64
		for _, j := range s.queue {
			left = append(left, j.ID)
		}
		if !slices.Equal(left, []int64{2, 3}) {
			t.Errorf("%s: jobs %v are left", name, left)
		}
		cancel()
	}
	s := &fakeSlurm{cancel: slurm.ErrUnavailable}
	if got := rights(t.Context(), s, "varq", actsAsOthers(t.Context(), s), now); got.Verdict != Failure || got.Remedy != "scancel --name=varq-doctor" {
		t.Errorf("the job cannot be cancelled: %+v", got)
	}
}

func TestLimits(t *testing.T) {
	for _, others := range []bool{true, false} {
		s := &fakeSlurm{others: others, submit: slurm.ErrRefused}
		if got := limits("slurm", actsAsOthers(t.Context(), s)); got.Verdict != OK || strings.Contains(got.Found, "as submitted") == others {
			t.Errorf("acts as others: %v; %+v", others, got)
		}
		if got := rights(t.Context(), s, "slurm", actsAsOthers(t.Context(), s), time.Unix(1_750_000_000, 0)); (got.Verdict == OK) != others {
			t.Errorf("acts as others: %v; %+v", others, got)
		}
	}
}

func TestExpiry(t *testing.T) {
	now := time.Unix(1_750_000_000, 0)
	for left, want := range map[time.Duration][2]Verdict{ // renewed by varqd, or by the site
		-time.Second:   {Failure, Failure},
		time.Hour:      {OK, Warning},
		30 * time.Hour: {OK, OK},
		0:              {Failure, Failure},
	} {
		for i, renewed := range []bool{true, false} {
			if got := expiry(Access{Client: &fakeSlurm{expires: now.Add(left)}, Renewed: renewed}, now); got.Verdict != want[i] {
				t.Errorf("%v left, renewed %v: %+v", left, renewed, got)
			}
		}
	}
	if got := expiry(Access{Client: &fakeSlurm{expires: time.Unix(0, 0)}}, now); got.Verdict != OK {
		t.Errorf("without an end: %+v", got)
	}
}

func TestClock(t *testing.T) {
	for ahead, want := range map[time.Duration]Verdict{
		0: OK, 3 * time.Second: OK, -3 * time.Second: OK, 3001 * time.Millisecond: Warning, -time.Minute: Warning,
	} {
		if got, err := clock(t.Context(), &fakeSlurm{ahead: ahead}); got.Verdict != want || err != nil {
			t.Errorf("ahead by %v: %+v, %v", ahead, got, err)
		}
	}
}

// TestRemedy: what to do about an error of slurmrestd depends on the error.
func TestRemedy(t *testing.T) {
	for err, want := range map[error]string{
		slurm.ErrVersion:     "-d v0.0.45,v0.0.44",
		slurm.ErrPermission:  "slurmrestd.token_file",
		slurm.ErrUnavailable: "slurmrestd.url",
	} {
		if got := askSlurmrestd(fmt.Errorf("asking: %w", err)); !strings.Contains(got, want) {
			t.Errorf("%v: %s", err, got)
		}
	}
}
