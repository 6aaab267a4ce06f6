package wrapper

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/wrapper/ticket"
)

// queue is a Slurm with one job. It records all requests.
type queue struct {
	job   Job
	err   error
	asked []string
}

func (q *queue) Job(id int64) (Job, error) {
	q.asked = append(q.asked, fmt.Sprint("job ", id))
	return q.job, q.err
}

func (q *queue) SetLimit(id, minutes int64) error {
	q.asked = append(q.asked, fmt.Sprint("limit ", id, " ", minutes))
	return q.err
}

func (q *queue) Cancel(id int64) error {
	q.asked = append(q.asked, fmt.Sprint("cancel ", id))
	return q.err
}

// clock is a Clock whose sleeps take no real time.
type clock int64

func (c *clock) Now() int64 { return int64(*c) }

func (c *clock) SleepUntil(at int64) error {
	if at < 0 {
		return errors.New("invalid argument") // as the kernel says
	}
	*c = max(*c, clock(at))
	return nil
}

func TestWait(t *testing.T) {
	const now = 1795262400
	strict := func(deadline int64) ticket.Ticket {
		return ticket.Ticket{HoldUntil: deadline, BeginBy: deadline, WorkLimit: 600}
	}
	bestEffort := strict(now + 3600)
	bestEffort.HoldUntil = 0
	for _, test := range []struct {
		name  string
		hold  Hold
		queue queue
		want  error
		asked []string
		trim  string // "" for no trimming
		log   string // the log contains it; "" stands for an empty log
	}{
		{name: "held", hold: Hold{Ticket: strict(now + 2), Job: 7, Lead: true}, trim: fmt.Sprint("7 ", now+2, " 600")},
		{name: "held, another task", hold: Hold{Ticket: strict(now + 2), Job: 7}},
		{name: "best effort", hold: Hold{Ticket: bestEffort, Job: 7, Lead: true}, trim: fmt.Sprint("7 ", now, " 600")},
		{name: "outside of a job", hold: Hold{Ticket: strict(now), Lead: true}},
		{
			name: "late", hold: Hold{Ticket: strict(now - 90), Job: 7, Lead: true},
			trim: fmt.Sprint("7 ", now, " 600"), log: "varq: started 00:01:30",
		},
		{name: "late, another task", hold: Hold{Ticket: strict(now - 90), Job: 7}},
		{
			name: "requeued", hold: Hold{Ticket: strict(now - 90), Cancel: true, Job: 7, Restarts: 1, Lead: true},
			trim: fmt.Sprint("7 ", now, " 600"), log: "requeued, and started again after the deadline",
		},
		{
			name: "missed", hold: Hold{Ticket: strict(now - 90), Cancel: true, Job: 7, Lead: true}, queue: queue{job: Job{Start: now - 89}},
			want: ErrCancelled, asked: []string{"job 7", "cancel 7"}, log: "the work does not run, as --on-miss=cancel says",
		},
		{
			name: "missed, another task", hold: Hold{Ticket: strict(now - 90), Cancel: true, Job: 7}, queue: queue{job: Job{Start: now - 89}},
			want: ErrCancelled, asked: []string{"job 7"},
		},
		{name: "missed, outside of a job", hold: Hold{Ticket: strict(now - 90), Cancel: true, Lead: true}, want: ErrCancelled, log: "has passed"},
		{
			name: "started in time", hold: Hold{Ticket: strict(now - 90), Cancel: true, Job: 7, Lead: true}, queue: queue{job: Job{Start: now - 90}},
			asked: []string{"job 7"}, trim: fmt.Sprint("7 ", now, " 600"), log: "started 00:01:30",
		},
		{
			name: "forgotten by slurmctld", hold: Hold{Ticket: strict(now - 90), Cancel: true, Job: 7, Lead: true}, queue: queue{job: Job{Start: now + 60, Pending: true}},
			asked: []string{"job 7"}, trim: fmt.Sprint("7 ", now, " 600"), log: "started 00:01:30",
		},
		{
			name: "missed, or not", hold: Hold{Ticket: strict(now - 90), Cancel: true, Job: 7, Lead: true}, queue: queue{err: errors.New("no\nSlurm")},
			asked: []string{"job 7"}, trim: fmt.Sprint("7 ", now, " 600"), log: "and so the work runs: no; Slurm\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var log strings.Builder
			var trimmed string
			h := test.hold
			clock := clock(now)
			h.Queue, h.Clock, h.Log = &test.queue, &clock, &log
			h.Trim = func(job, begin int64, of ticket.Ticket) error {
				trimmed = fmt.Sprint(job, " ", begin, " ", of.WorkLimit)
				return nil
			}
			if err := h.Wait(); !errors.Is(err, test.want) {
				t.Errorf("got error %v, want %v", err, test.want)
			}
			if want := max(now, h.HoldUntil); clock.Now() != want {
				t.Errorf("returned %+d s from its time", clock.Now()-want)
			}
			if trimmed != test.trim {
				t.Errorf("trimmed %q, want %q", trimmed, test.trim)
			}
			if diff := cmp.Diff(test.asked, test.queue.asked); diff != "" {
				t.Error(diff)
			}
			if got := log.String(); !strings.Contains(got, test.log) || (test.log == "") != (got == "") {
				t.Errorf("logged %q, want %q", got, test.log)
			}
		})
	}
}

// TestPromised: the work of a job is held as its ticket says, unless varqd says that nothing is
// promised about the job any more.
func TestPromised(t *testing.T) {
	const now, deadline = 1795262400, 1795262400 + 3600
	for name, test := range map[string]struct {
		answer api.GateAnswer
		err    error
		starts int64
	}{
		"promised":         {answer: api.GateAnswer{Answer: api.GateGo, At: deadline}, starts: deadline},
		"nothing promised": {answer: api.GateAnswer{Answer: api.GateGo}, starts: now},
		"no answer":        {err: errors.New("no varqd"), starts: deadline},
		"later than said":  {answer: api.GateAnswer{Answer: api.GateGo, At: deadline + 60}, starts: deadline},
		"another answer":   {answer: api.GateAnswer{Answer: api.GateLost}, starts: deadline},
	} {
		var log, asked strings.Builder
		var trimmed int64
		clock := clock(now)
		h := Hold{
			Ticket: ticket.Ticket{HoldUntil: deadline, BeginBy: deadline, WorkLimit: 600, Plan: "aaaaaaaaaaaa"},
			Job:    9, Array: 7, Lead: true, Clock: &clock, Log: &log,
			Gate: func(plan string, job int64) (api.GateAnswer, error) {
				fmt.Fprint(&asked, plan, " ", job)
				return test.answer, test.err
			},
			Trim: func(_, begin int64, _ ticket.Ticket) error {
				trimmed = begin
				return nil
			},
		}
		if err := h.Wait(); err != nil || clock.Now() != test.starts || trimmed != test.starts || asked.String() != "aaaaaaaaaaaa 7" {
			t.Errorf("%s: starts %+d, trimmed for %+d, asked %q: %v", name, clock.Now()-now, trimmed-now, &asked, err)
		}
		if said := strings.Contains(log.String(), "nothing is promised about this job any more"); said != (test.starts == now) {
			t.Errorf("%s: says %q", name, &log)
		}
	}
}

func TestWallClock(t *testing.T) {
	var c WallClock
	for _, at := range []int64{0, c.Now() + 1} {
		if err := c.SleepUntil(at); err != nil || c.Now() < at {
			t.Errorf("until %d: returned at %d, %v", at, c.Now(), err)
		}
	}
}

func TestTrimLimit(t *testing.T) {
	const (
		start   = 1795262400
		minute  = 60
		work    = 60 * minute
		waiting = 20 * minute // between the job's eligible time and its start
	)
	for _, test := range []struct {
		name                   string
		limit, holdUntil, late int64
		atOnce, pending        bool   // eligible from its submission on; forgotten by slurmctld
		task                   bool   // of an array
		want                   string // "" stands for nothing to do
	}{
		{name: "held for ten minutes", holdUntil: start + 10*minute, limit: work + 30*minute, want: "limit 7 70"},
		{name: "up to whole minutes", holdUntil: start + 601, limit: work + 31*minute, want: "limit 7 71"},
		{name: "short enough", holdUntil: start + 10*minute, limit: work + 10*minute},
		{name: "never raised", holdUntil: start + 10*minute, limit: work},
		{name: "started late", holdUntil: start - 10*minute, late: 10*minute + 1, limit: work + 10*minute, want: "limit 7 61"},
		{name: "given a minute more", holdUntil: start + 10*minute, limit: work + 31*minute},
		{name: "submitted slowly", atOnce: true, holdUntil: start + 10*minute, limit: work + 32*minute, want: "limit 7 70"},
		{name: "given more time", holdUntil: start + 10*minute, limit: work + 40*minute},
		{name: "best effort, given more time", limit: 3 * work},
		{name: "forgotten by slurmctld", pending: true, holdUntil: start + 10*minute, limit: work + 30*minute},
		{name: "eligible late", holdUntil: start - 21*minute, late: 21 * minute, limit: work + 1*minute},
		{name: "a task, eligible late", task: true, holdUntil: start - 20*minute - 30, late: 20*minute + 30, limit: work + 1*minute, want: "limit 7 60"},
		{name: "a task, given more time", task: true, holdUntil: start - 20*minute - 30, late: 20*minute + 30, limit: 2 * work},
		{name: "made unlimited", holdUntil: start + 10*minute, limit: slurmtime.Unlimited},
	} {
		q := queue{job: Job{Submit: start - waiting - minute, Eligible: start - waiting, Start: start, Limit: test.limit, Pending: test.pending, Task: test.task}}
		if test.atOnce {
			q.job.Submit = q.job.Eligible
		}
		of := ticket.Ticket{HoldUntil: test.holdUntil, WorkLimit: work}
		if err := TrimLimit(&q, 7, max(start, test.holdUntil+test.late), of); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(q.asked[1:], " "); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	q := queue{err: errors.New("no Slurm")}
	if err := TrimLimit(&q, 7, start, ticket.Ticket{WorkLimit: work}); err == nil {
		t.Error("without an answer: no error")
	}
}

func TestParseJob(t *testing.T) {
	const times = "7    2026-11-21T11:58:00           2026-11-21T11:59:00           2026-11-21T12:00:00           2026-11-22T14:05:00           "
	// Another task of the array comes first.
	got, err := parseJob("8"+times[1:]+"9:00 PENDING\n"+times+"1-02:03:04                    RUNNING                       \n", 7)
	if diff := cmp.Diff(Job{Submit: 1795262280, Eligible: 1795262340, Start: 1795262400, End: 1795356300, Limit: 26*3600 + 184}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if got, err := parseJob(times+"1:00 PENDING", 7); err != nil || !got.Pending || got.End != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := parseJob(times+"UNLIMITED RUNNING", 7); err != nil || got.End != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := parseJob(strings.Replace(times, "2026-11-22T14:05:00", "N/A", 1)+"1:00 RUNNING", 7); err != nil || got.End != got.Start+60 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, line := range []string{"", "7 N/A N/A N/A 1:00", "8" + times[1:] + "1:00 PENDING", times, times + "1:00", times + "long RUNNING", times + "1:00 RUNNING more"} {
		if got, err := parseJob(line, 7); err == nil {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

func FuzzParseJob(f *testing.F) {
	f.Add("7 2026-11-21T11:58:00 2026-11-21T11:59:00 2026-11-21T12:00:00 2026-11-22T14:05:00 1-02:03:04 RUNNING\n")
	f.Fuzz(func(t *testing.T, line string) {
		if got, err := parseJob(line, 7); err == nil && got.Limit < 0 {
			t.Errorf("%q: limit %d", line, got.Limit)
		}
	})
}

func TestPlain(t *testing.T) {
	got := plain([]string{"PATH=/bin", "TZ=Asia/Tokyo", "SQUEUE_FORMAT=%i", "SLURM_TIME_FORMAT=relative", "SLURM_CONF=/etc/slurm.conf"})
	if diff := cmp.Diff([]string{"PATH=/bin", "SLURM_CONF=/etc/slurm.conf", "TZ=UTC"}, got); diff != "" {
		t.Error(diff)
	}
}
