package deadline

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
)

func request(j *sched.Job) workload.Request {
	return workload.Request{Size: workload.Size{Nodes: j.Procs, CPUs: j.Procs}, Limit: j.Limit}
}

// refuser promises nothing to job 2, and notes what it is told.
type refuser struct {
	nothing
	ended []workload.Job
}

func (*refuser) promises(q *forecast.Question, _ int64) bool { return q.Job != 2 }
func (r *refuser) Ended(j *workload.Job)                     { r.ended = append(r.ended, *j) }

// On one processor, job 1 has no deadline, 2 is refused, 3 waits for 1 and ends in time, 4 is
// withdrawn when it no longer fits, and 5 reaches its limit.
func TestRun(t *testing.T) {
	jobs := []sched.Job{
		{ID: 1, Submit: 1000, Limit: 100, Run: 90, Procs: 1},
		{ID: 2, Submit: 1010, Limit: 100, Run: 50, Procs: 1},
		{ID: 3, Submit: 1020, Limit: 100, Run: 60, Procs: 1},
		{ID: 4, Submit: 1030, Limit: 150, Run: 10, Procs: 1},
		{ID: 5, Submit: 1040, Limit: 40, Run: 50, Procs: 1},
	}
	var r refuser
	by := Admission{Withdraws: true, begin: func(*queue.Queue, *Experiment) judge { return &r }}
	e := Experiment{Procs: 1, Request: request, Share: 1, Due: After(200), Learning: 1}
	got := e.Run(jobs, by)
	want := []Outcome{
		{Submit: 1000, Run: 90, Procs: 1, End: 1090},
		{Submit: 1010, Run: 50, Procs: 1, Due: 1210},
		{Submit: 1020, Run: 60, Procs: 1, Due: 1220, Promised: true, End: 1150},
		{Submit: 1030, Run: 10, Procs: 1, Due: 1230, Promised: true, Withdrawn: true},
		{Submit: 1040, Run: 40, Procs: 1, Due: 1240, Promised: true, TimedOut: true, End: 1190},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	var ended []int64
	for _, j := range r.ended {
		ended = append(ended, j.ID)
	}
	if d := cmp.Diff([]int64{4, 1, 3, 5}, ended); d != "" || r.ended[0].State != workload.Cancelled || r.ended[0].End != 1081 {
		t.Errorf("who has ended: %v %+v", d, r.ended[0])
	}
}

// Slurm's --deadline looks at limits alone, limits at those of the queue besides, and points at how
// long the jobs of the past ran.
func TestAdmissions(t *testing.T) {
	const learning = 400
	random := rand.New(rand.NewPCG(1, 1))
	var jobs []sched.Job
	for i := range int64(learning + 1) {
		jobs = append(jobs, sched.Job{ID: 1 + i, Submit: 10_000 * i, Limit: 3600, Run: 290 + random.Int64N(20), Procs: 4})
	}
	last := &jobs[learning]
	last.Run = 300
	for name, c := range map[string]struct {
		by    Admission
		after int64
		busy  bool // a job like it has just been submitted
		want  bool
	}{
		"slurm, limit fits":          {SlurmDeadline(), 3600, false, true},
		"slurm, limit is too long":   {SlurmDeadline(), 3599, false, false},
		"slurm, limit, busy":         {SlurmDeadline(), 3600, true, true},
		"limits fit":                 {Limits(), 3600, false, true},
		"limits, busy":               {Limits(), 7198, true, false},
		"limits, busy, fit":          {Limits(), 7199, true, true},
		"points":                     {Points(), 320, false, true},
		"points, too short":          {Points(), 280, false, false},
		"points, busy":               {Points(), 500, true, false},
		"points, busy, fit":          {Points(), 700, true, true},
		"distribution":               {Distribution(.9), 1200, false, true},
		"distribution, too short":    {Distribution(.9), 200, false, false},
		"everybody":                  {Everybody(), 1, true, true},
		"distribution, hardly sure":  {Distribution(.9), 290, false, false},
		"distribution, little asked": {Distribution(.05), 320, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			all := jobs
			e := Experiment{Procs: 4, Request: request, Share: 1, Due: After(c.after), Learning: learning}
			if c.busy {
				before := *last
				before.ID, before.Submit = 9999, last.Submit-1
				all = append(append([]sched.Job(nil), jobs[:learning]...), before, *last)
				e.Learning++
			}
			got := e.Run(all, c.by)
			if o := got[len(got)-1]; o.Promised != c.want || o.Due != last.Submit+c.after {
				t.Errorf("%+v", o)
			}
		})
	}
}

// The jobs with deadlines, and these, are the same whatever is promised.
func TestSameDeadlines(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	var jobs []sched.Job
	for i := range int64(300) {
		jobs = append(jobs, sched.Job{ID: 1 + i, Submit: 60 * i, Limit: 600, Run: 1 + random.Int64N(500), Procs: 1 + random.Int32N(4)})
	}
	e := Experiment{Procs: 8, Request: request, Share: .5, Due: Slack(.2, .8), Seed: 3}
	everybody, limits := e.Run(jobs, Everybody()), e.Run(jobs, Limits())
	asked, refused := 0, 0
	for i := range jobs {
		if everybody[i].Due != limits[i].Due {
			t.Fatalf("job %d: due %d and %d", i, everybody[i].Due, limits[i].Due)
		}
		if o := limits[i]; o.Due != 0 {
			asked++
			if slack := float64(o.Due-o.Submit)/float64(o.Run) - 1; slack > .8 || slack < 0 {
				t.Errorf("slack %v", slack)
			}
			if !o.Promised {
				refused++
				if o.End != 0 {
					t.Errorf("a refused job ran: %+v", o)
				}
			}
		}
	}
	if asked < 100 || asked > 200 || refused == 0 {
		t.Errorf("%d asked, %d were refused", asked, refused)
	}
}
