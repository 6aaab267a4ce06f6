package forecast

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/workload"
)

// diary records the events that it observes.
type diary struct{ strings.Builder }

func (d *diary) Submitted(j *workload.Job) { fmt.Fprintf(d, " +%d", j.ID) }
func (d *diary) Started(j *workload.Job)   { fmt.Fprintf(d, " >%d", j.ID) }
func (d *diary) Ended(j *workload.Job)     { fmt.Fprintf(d, " -%d", j.ID) }

func TestReplay(t *testing.T) {
	jobs := []workload.Job{
		{ID: 1, Submit: 10, Eligible: 10, Start: 20, End: 30, State: workload.Completed},
		// begins to wait as 1 ends
		{ID: 2, Submit: 5, Eligible: 30, Start: 30, End: 30, State: workload.Failed},
		{ID: 3, Submit: 12, Start: 20, State: workload.Running},
		{ID: 4, Submit: 40, Eligible: 40, State: workload.Pending},
		{ID: 5, Submit: 15, Eligible: 15, End: 35, State: workload.Cancelled},
		// its end is not known
		{ID: 6, Submit: 16, Eligible: 16, Start: 17, State: workload.Failed},
		{ID: 7, Submit: 20, Eligible: 25, Start: 21, End: 22, State: workload.Completed},
	}
	var q queue.Queue
	var d diary
	asked := 0
	replay := func(*workload.Job) error { asked++; return nil }
	if err := Replay(jobs, &q, []Observer{&d}, replay); err != nil {
		t.Fatal(err)
	}
	if got, want := d.String(), " +1 +3 +5 >1 >3 +7 >7 -7 -1 +2 >2 -2 -5 +4"; got != want {
		t.Errorf("told%s, want%s", got, want)
	}
	if pending, running := q.Len(); pending != 1 || running != 1 || q.Job(3) == nil || q.Job(4) == nil || asked != 4 {
		t.Errorf("%d jobs wait and %d run; %d were asked about", pending, running, asked)
	}
	enough := errors.New("enough")
	if err := Replay(jobs, &q, nil, func(*workload.Job) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("Replay = %v, want the error of asked", err)
	}
}
