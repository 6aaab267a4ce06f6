package chaos

import (
	"testing"
)

// The moments of the story in these tests: a strict reservation whose job starts 60 s before its
// deadline and works for 10 s.
const (
	t0       = 1_800_000_000 // submitted
	started  = t0 + 60
	deadline = t0 + 120
	finished = deadline + 10
)

const said = `varq: promised: running by 2027-01-15T08:02:00 with probability 0.60 (estimate 0.73)
varq: eligible from 2027-01-15T08:01:00, time limit 00:02:00
varq: the work costs 0.02 node-hours, 0.02 billing-hours; the reservation at most 0.02 node-hours, 0.02 billing-hours more, 1.00 times the work
`

// story returns evidence in which nothing is wrong. change may spoil it.
func story(change func(e *Evidence, s *Submission, r *JobRun, row *Row)) *Evidence {
	s := &Submission{
		Name: "c1", User: "alice", Kind: "strict", Reserved: true, Limit: 60, Nodes: 1, Began: t0, Done: t0 + 1, Said: said, Job: 7,
		Promise: &Promise{BeginBy: deadline, Prob: "0.60", Eligible: t0 + 60, Limit: "00:02:00", Ceiling: .02},
	}
	run := JobRun{
		Job: 7, State: "COMPLETED", Submit: t0, Eligible: started, Start: started, End: finished, Limit: 120,
		Partition: "main", QOS: "normal", Nodes: 1, Comment: "varq:abcdefghijkl",
	}
	row := Row{
		ID: "abcdefghijkl", User: "alice", Job: 7, BeginTime: t0 + 60, TimeLimit: 120, BeginBy: deadline, HoldUntil: deadline,
		WorkLimit: 60, Nodes: 1, Prob: .6, OnMiss: "run", State: "KEPT", Start: started,
	}
	e := &Evidence{
		Submissions: []*Submission{s}, End: t0 + 1000,
		Stamps: map[string][]Stamp{"c1": {{true, deadline + .1, 0}, {false, finished, 0}}},
	}
	if change != nil {
		change(e, s, &run, &row)
	}
	e.Runs = map[string][]JobRun{"c1": {run}}
	if row.ID != "" {
		e.Rows = append(e.Rows, row)
	}
	return e
}

// The checker finds what is wrong, and nothing else.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(e *Evidence, s *Submission, r *JobRun, row *Row)
		want   string
	}{
		{"all is well", nil, ""},
		{"no reservation", func(_ *Evidence, _ *Submission, _ *JobRun, row *Row) { row.ID = "" }, lost},
		{"forgotten by slurmctld", func(_ *Evidence, _ *Submission, r *JobRun, row *Row) {
			r.State, r.End, r.Comment, row.Open, row.State = "RUNNING", 0, "", true, "RUNNING"
		}, ""},
		{"another deadline", func(_ *Evidence, _ *Submission, _ *JobRun, row *Row) { row.BeginBy++ }, lost},
		{"another job", func(_ *Evidence, _ *Submission, _ *JobRun, row *Row) { row.Job = 8 }, lost},
		{"changed before varqd had found it", func(_ *Evidence, s *Submission, r *JobRun, row *Row) {
			s.Acts = []Act{{What: actPartition, Began: t0 + 1, Done: t0 + 2}}
			r.Start, r.End, row.Job, row.State = deadline+20, deadline+30, 0, "CANCELLED"
		}, ""},
		{"changed before varqd had found it, and in time all the same", func(_ *Evidence, s *Submission, _ *JobRun, row *Row) {
			s.Acts = []Act{{What: actPartition, Began: t0 + 1, Done: t0 + 2}}
			row.Job, row.State = 0, "CANCELLED"
		}, ""},
		{"it came late", func(_ *Evidence, _ *Submission, _ *JobRun, row *Row) {
			row.Job, row.State = 0, "CANCELLED"
			row.Events = []Event{{At: t0 + 200, Kind: "note", Text: "job 7 has taken up the plan after it was taken back, and by then there is no room; so nothing is promised about the job, which stays as it is"}}
		}, ""},
		{"accounting has made one row of two jobs", func(_ *Evidence, _ *Submission, r *JobRun, row *Row) {
			r.Job, r.Start, r.End, row.State, row.Open = 8, t0+1, t0+1, "HOLDING", true
		}, ""},
		{"kept, called missed", func(_ *Evidence, _ *Submission, _ *JobRun, row *Row) { row.State = "MISSED" }, wrong},
		{"not settled", func(_ *Evidence, _ *Submission, _ *JobRun, row *Row) { row.State = "PENDING" }, wrong},
		{"late, called kept", func(_ *Evidence, _ *Submission, r *JobRun, _ *Row) { r.Start, r.End = deadline+20, deadline+30 }, wrong},
		{"late, called missed", func(_ *Evidence, _ *Submission, r *JobRun, row *Row) {
			r.Start, r.End, row.State = deadline+20, deadline+30, "MISSED"
		}, ""},
		{"ended during its hold, called missed", func(_ *Evidence, _ *Submission, r *JobRun, row *Row) {
			r.State, r.End, row.State = "FAILED", deadline-30, "MISSED"
		}, ""},
		{"not accepted by Slurm, called missed", func(_ *Evidence, s *Submission, r *JobRun, row *Row) {
			s.Code, s.Promise, s.Job = 1, nil, 0
			r.State, r.Start, r.End, row.State = "FAILED", 0, r.Submit, "MISSED"
		}, wrong},
		{"late after a change, called missed", func(_ *Evidence, s *Submission, r *JobRun, row *Row) {
			s.Acts = []Act{{What: actPartition, Began: t0 + 10, Done: t0 + 11}}
			r.Start, r.End, row.State = deadline+20, deadline+30, "MISSED"
		}, wrong},
		{"late after a change that varqd may not have seen", func(e *Evidence, s *Submission, r *JobRun, row *Row) {
			s.Acts = []Act{{What: actPartition, Began: t0 + 10, Done: t0 + 11}}
			e.Faults = []Fault{{Kind: "varqd stopped", Began: t0 + 11, Done: deadline}}
			r.Start, r.End, row.State = deadline+20, deadline+30, "MISSED"
		}, ""},
		{"a change after the deadline is not an excuse", func(_ *Evidence, s *Submission, r *JobRun, row *Row) {
			s.Acts = []Act{{What: actPartition, Began: deadline + 20, Done: deadline + 21}}
			r.Start, r.End, row.State = deadline+40, deadline+50, "CANCELLED"
		}, wrong},
		{"a change after the deadline, before varqd could see that the job is late", func(e *Evidence, s *Submission, r *JobRun, row *Row) {
			s.Acts = []Act{{What: actPartition, Began: deadline + 20, Done: deadline + 21}}
			e.Faults = []Fault{{Kind: "varqd stopped", Began: deadline - 10, Done: deadline + 20}}
			r.Start, r.End, row.State = deadline+40, deadline+50, "CANCELLED"
		}, ""},
		{"accounting has lost the start, and the work began as the deadline passed", func(e *Evidence, s *Submission, r *JobRun, row *Row) {
			r.Start, row.State, row.HoldUntil, s.Promise.From = 0, "MISSED", deadline-30, deadline-30
			e.Stamps["c1"][0].At = deadline + 1
		}, ""},
		{"kept by a start that the job has seen, and accounting has not", func(_ *Evidence, _ *Submission, r *JobRun, _ *Row) {
			r.Start = deadline - 10
		}, ""},
		{"cancelled by nobody", func(_ *Evidence, _ *Submission, r *JobRun, row *Row) {
			r.State, r.Start, r.End, row.State = "CANCELLED", 0, deadline+3, "MISSED"
		}, stopped},
		{"cancelled on a miss", func(_ *Evidence, s *Submission, r *JobRun, row *Row) {
			s.OnMiss, r.State, r.Start, r.End, row.State = true, "CANCELLED", 0, deadline+3, "MISSED"
		}, ""},
		{"cancelled before the deadline", func(_ *Evidence, s *Submission, r *JobRun, row *Row) {
			s.OnMiss, r.State, r.Start, r.End, row.State = true, "CANCELLED", 0, deadline-27, "CANCELLED"
		}, stopped},
		{"cancelled by its user", func(_ *Evidence, s *Submission, r *JobRun, row *Row) {
			s.Acts = []Act{{What: actCancel, Began: t0 + 10, Done: t0 + 11}}
			r.State, r.Start, r.End, row.State = "CANCELLED", 0, t0+11, "CANCELLED"
		}, ""},
		{"cancelled by a user who means an earlier job of hers with its number", func(e *Evidence, s *Submission, r *JobRun, row *Row) {
			e.Submissions = append(e.Submissions, &Submission{
				Name: "c0", User: s.User, Kind: "plain", Limit: 60, Nodes: 1, Job: s.Job, Acts: []Act{{What: actCancel, Began: t0 + 10, Done: t0 + 11}},
			})
			r.State, r.Start, r.End, row.State = "CANCELLED", 0, t0+11, "CANCELLED"
		}, ""},
		{"cancelled by another user", func(e *Evidence, s *Submission, r *JobRun, row *Row) {
			e.Submissions = append(e.Submissions, &Submission{
				Name: "c0", User: "bob", Kind: "plain", Limit: 60, Nodes: 1, Job: s.Job, Acts: []Act{{What: actCancel, Began: t0 + 10, Done: t0 + 11}},
			})
			r.State, r.Start, r.End, row.State = "CANCELLED", 0, t0+11, "CANCELLED"
		}, stopped},
		{"changed by a user who means an earlier job of hers with its number", func(e *Evidence, s *Submission, r *JobRun, row *Row) {
			e.Submissions = append(e.Submissions, &Submission{
				Name: "c0", User: s.User, Kind: "plain", Limit: 60, Nodes: 1, Job: s.Job, Acts: []Act{{What: actQOS, Began: t0 + 10, Done: t0 + 11}},
			})
			r.Start, r.End, row.State = deadline+300, deadline+310, "CANCELLED"
		}, ""},
		{"changed by another user", func(e *Evidence, s *Submission, r *JobRun, row *Row) {
			e.Submissions = append(e.Submissions, &Submission{
				Name: "c0", User: "bob", Kind: "plain", Limit: 60, Nodes: 1, Job: s.Job, Acts: []Act{{What: actQOS, Began: t0 + 10, Done: t0 + 11}},
			})
			r.Start, r.End, row.State = deadline+300, deadline+310, "CANCELLED"
		}, wrong},
		{"cancelled though held", func(_ *Evidence, s *Submission, r *JobRun, row *Row) {
			s.Acts = []Act{{What: actHold, Began: t0 + 10, Done: t0 + 11}}
			s.OnMiss, r.State, r.Start, r.End, row.State = true, "CANCELLED", 0, deadline+3, "CANCELLED"
		}, stopped},
		{"changed, and cancelled as it started late", func(_ *Evidence, s *Submission, r *JobRun, row *Row) {
			s.Acts = []Act{{What: actFeatures, Began: t0 + 10, Done: t0 + 11}}
			s.OnMiss, r.Allocated, r.State, r.Start, r.End, row.State = true, true, "CANCELLED", deadline+30, deadline+30, "CANCELLED"
		}, ""},
		{"changed, and cancelled as it waited", func(_ *Evidence, s *Submission, r *JobRun, row *Row) {
			s.Acts = []Act{{What: actFeatures, Began: t0 + 10, Done: t0 + 11}}
			s.OnMiss, r.State, r.Start, r.End, row.State = true, "CANCELLED", deadline+30, deadline+30, "CANCELLED"
		}, stopped},
		{"requeued and forgotten, not settled", func(_ *Evidence, _ *Submission, r *JobRun, row *Row) {
			r.State, r.End, row.State, row.Open = "REQUEUED", deadline-30, "HOLDING", true
		}, ""},
		{"requeued and forgotten, called kept", func(_ *Evidence, _ *Submission, r *JobRun, _ *Row) { r.State, r.End = "REQUEUED", deadline-30 }, wrong},
		{"all its time", func(_ *Evidence, _ *Submission, r *JobRun, _ *Row) { r.State, r.End = "TIMEOUT", deadline+60 }, ""},
		{"not all its time", func(_ *Evidence, _ *Submission, r *JobRun, _ *Row) { r.State, r.End = "TIMEOUT", deadline+50 }, shortened},
		{"the hold that its user has added", func(_ *Evidence, s *Submission, r *JobRun, row *Row) {
			s.Acts = []Act{{What: actBegin, Args: []string{"StartTime=now"}}}
			r.Start, row.Start, r.State, r.End = t0+20, t0+20, "TIMEOUT", t0+20+120
		}, ""},
		{"not all its time, though its user has added to the hold", func(_ *Evidence, s *Submission, r *JobRun, row *Row) {
			s.Acts = []Act{{What: actBegin, Args: []string{"StartTime=now"}}}
			r.Start, row.Start, r.State, r.End = t0+20, t0+20, "TIMEOUT", t0+20+119
		}, shortened},
		{"accounting has lost the start", func(_ *Evidence, _ *Submission, r *JobRun, _ *Row) { r.Start = 0 }, ""},
		{"accounting has lost the start, seen by varqd, not settled", func(_ *Evidence, _ *Submission, r *JobRun, row *Row) {
			r.Start, row.State, row.Open = 0, "RUNNING", true
		}, wrong},
		{"accounting has lost the start, not settled", func(_ *Evidence, _ *Submission, r *JobRun, row *Row) {
			r.Start, row.State, row.Open = 0, "PENDING", true
		}, ""},
		{"accounting has lost the start, called missed", func(_ *Evidence, _ *Submission, r *JobRun, row *Row) { r.Start, row.State = 0, "MISSED" }, wrong},
		{"held too long", func(_ *Evidence, _ *Submission, r *JobRun, row *Row) { r.Start, row.Start = t0, t0 }, overheld},
		{"held longer, as agreed", func(_ *Evidence, _ *Submission, r *JobRun, row *Row) {
			r.Start, row.Start, row.Events = t0, t0, []Event{{Kind: "agreed"}}
		}, ""},
		{"work before its time", func(e *Evidence, _ *Submission, _ *JobRun, _ *Row) { e.Stamps["c1"][0].At = deadline - 1 }, early},
		{"above the limit", func(e *Evidence, _ *Submission, _ *JobRun, _ *Row) {
			e.Sights = map[string][]Sight{"c1": {{started, "RUNNING", 8 * 60, limitedPartition, "normal", "None"}}}
		}, exceeded},
		{"above the limit, so it waits", func(e *Evidence, _ *Submission, _ *JobRun, _ *Row) {
			e.Sights = map[string][]Sight{"c1": {{started, "PENDING", 8 * 60, limitedPartition, "normal", "PartitionTimeLimit"}}}
		}, ""},
		{"held by Slurm", func(e *Evidence, _ *Submission, r *JobRun, row *Row) {
			e.Sights = map[string][]Sight{"c1": {{started, "PENDING", 60, "main", "normal", heldBySlurm}}}
			r.Start, r.End, row.State = deadline+20, deadline+30, "CANCELLED"
		}, ""},
		{"varqd ended", func(e *Evidence, _ *Submission, _ *JobRun, _ *Row) { e.Endings = []Ending{{t0, "exit status 2"}} }, unwell},
		{"a promise without a job", func(e *Evidence, _ *Submission, _ *JobRun, _ *Row) {
			e.Rows = []Row{{ID: "other", State: "PROMISED", Open: true, BeginTime: t0}}
		}, wrong},
		{"plain and well", func(_ *Evidence, s *Submission, r *JobRun, row *Row) {
			s.Reserved, s.Said, s.Promise, r.Comment, r.Limit, row.ID = false, "", nil, "", 60, ""
		}, ""},
		{"plain and refused by varq", func(_ *Evidence, s *Submission, r *JobRun, row *Row) {
			s.Reserved, s.Said, s.Promise, r.Comment, r.Limit, row.ID = false, "varq: ", nil, "", 60, ""
		}, hindered},
		{"plain with another limit", func(_ *Evidence, s *Submission, r *JobRun, row *Row) {
			s.Reserved, s.Said, s.Promise, r.Comment, row.ID = false, "", nil, "", ""
		}, hindered},
	} {
		found := check(story(c.change))
		switch {
		case c.want == "" && len(found) > 0, c.want != "" && (len(found) != 1 || found[0].Kind != c.want):
			t.Errorf("%s: %+v, want %q", c.name, found, c.want)
		}
	}
}

// A killed slurmctld may forget a run of which accounting then knows nothing. The job's stamps do.
func TestCheckForgottenRun(t *testing.T) {
	for again, violations := range map[int]int{1: 0, 0: 1} {
		e := story(func(_ *Evidence, s *Submission, r *JobRun, _ *Row) {
			s.Acts = []Act{{What: actHold, Began: deadline + 2, Done: deadline + 3}, {What: actRelease, Began: deadline + 4, Done: deadline + 5}}
			r.Start, r.End = deadline+300, deadline+310
		})
		e.Stamps["c1"] = append(e.Stamps["c1"], Stamp{Begin: true, At: deadline + 300, Restarts: again})
		if found := check(e); len(found) != violations {
			t.Errorf("restarted %d times: %+v", again, found)
		}
	}
}

// Accounting may know that a run was requeued, and not that it had started.
func TestCheckRunWithoutStart(t *testing.T) {
	for at, violations := range map[float64]int{deadline - 20: 0, deadline + 20: 1} {
		e := story(func(_ *Evidence, s *Submission, r *JobRun, row *Row) {
			s.Promise.BestEffort, row.HoldUntil = true, 0
			s.Acts = []Act{{What: actRequeue, Began: deadline - 10, Done: deadline - 9}}
			r.State, r.Start, r.End = "REQUEUED", 0, deadline-10
		})
		e.Runs["c1"] = append(e.Runs["c1"], JobRun{Job: 7, State: "COMPLETED", Submit: deadline - 10, Eligible: deadline + 110, Start: deadline + 110, End: deadline + 120, Limit: 120, Partition: "main", QOS: "normal", Nodes: 1, Comment: "varq:abcdefghijkl"})
		e.Stamps["c1"] = []Stamp{{true, at, 0}, {true, deadline + 110, 1}, {false, deadline + 120, 1}}
		if found := check(e); len(found) != violations {
			t.Errorf("begun at %.0f: %+v", at-deadline, found)
		}
	}
}

// A killed slurmctld may forget that it has requeued a job. Accounting then lists a run that never
// ends, and the job's end is that of the run before.
func TestCheckForgottenRequeue(t *testing.T) {
	for state, violations := range map[string]int{"KEPT": 0, "HOLDING": 1} {
		e := story(nil)
		e.Rows[0].State, e.Rows[0].Open = state, state == "HOLDING"
		e.Runs["c1"] = append(e.Runs["c1"], JobRun{Job: 7, State: "PENDING", Submit: started + 10, Eligible: started + 130, Comment: "varq:abcdefghijkl"})
		if found := check(e); len(found) != violations {
			t.Errorf("%s: %+v", state, found)
		}
	}
}

func TestReadPromise(t *testing.T) {
	p := readPromise(said)
	if p == nil || p.From != 0 || p.BestEffort || p.BeginBy != moment("2027-01-15T08:02:00") || p.Prob != "0.60" ||
		p.Eligible != moment("2027-01-15T08:01:00") || p.Limit != "00:02:00" || p.Ceiling != .02 {
		t.Errorf("%+v", p)
	}
	const rest = `with probability 0.60 (estimate 0.73)
varq: eligible from 2027-01-15T08:01:00, time limit 1-00:02:00
varq: the work costs 0.02 node-hours, 0.02 billing-hours; the reservation at most 0.02 node-hours, 0.02 billing-hours more, 1.00 times the work
`
	if p := readPromise("varq: promised: running from 2027-01-15T08:01:00, by 2027-01-15T08:02:00, " + rest); p == nil || p.From != moment("2027-01-15T08:01:00") || p.BestEffort {
		t.Errorf("a window: %+v", p)
	}
	if p := readPromise("varq: promised: running by 2027-01-15T08:02:00, as soon as it can, " + rest); p == nil || !p.BestEffort || p.BeginBy != moment("2027-01-15T08:02:00") {
		t.Errorf("best effort: %+v", p)
	}
	if p := readPromise("varq: no promise: nothing is known"); p != nil {
		t.Errorf("a refusal: %+v", p)
	}
}

func TestMangled(t *testing.T) {
	if got := string(mangled([]byte(`{"a":{}}`), 3)); got != `{"a":}}}` {
		t.Error(got)
	}
	if got := mangled([]byte("[]"), 3); len(got) != 0 {
		t.Errorf("%q", got)
	}
}
