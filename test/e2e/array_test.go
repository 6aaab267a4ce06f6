package e2e

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
)

// array: of a job array, as many tasks are running at the deadline as may run at once. The nodes of
// each are held until then, the others follow, and the array is one line of status.
func array(t *testing.T, s *site.Site) {
	out := filepath.Join(s.JobDir(), "array-%A.out") // of each round its own
	file, _ := script(t, s, "array", "#SBATCH --output="+out+"\n#SBATCH --array=0-39%8\n#SBATCH --open-mode=append", "sleep 2")
	var r api.Reservation
	var at int64
	s.InTime(t, 2*lead, func(lead time.Duration) bool { // when the others need no nodes any more
		var id int64
		id, _, at = reserveIn(t, s, lead, "alice", "--prob=0.6", "--ntasks=1", "--time=5", file)
		r = settled(t, s, "alice", id, api.StateKept, api.StateMissed)
		return r.State == api.StateKept
	})
	if r.Array != (api.Array{Tasks: 40, AtOnce: 8}) || r.Tasks != 8 || r.Started < 8 || r.Start > r.WorkStart || r.WorkStart != at {
		t.Errorf("%+v", r)
	}
	if r.Allocated != 8 {
		t.Errorf("its tasks had %d nodes, of which several may be the same", r.Allocated)
	}
	status := mustRun(t, s, "alice", "varq", "status").Stdout
	if lines := strings.Split(status, "\n"); !strings.Contains(lines[0], " Tasks ") || !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, " KEPT ") && strings.Contains(line, " 8/8 ") }) {
		t.Errorf("status:\n%s", status)
	}
	var works []float64
	eventually(t, "all tasks have run", func() bool {
		works = stamps(t, strings.Replace(out, "%A", strconv.FormatInt(r.Job, 10), 1), "work")
		return len(works) >= 40
	})
	slices.Sort(works)
	if early, late := works[0]-float64(at), works[7]-float64(at); early < 0 || late > patient.Seconds() {
		t.Errorf("the first of the promised tasks began %+.3f s from their time, and the last %+.3f s", early, late)
	}
}

// accounts: of several accounts the job is charged to one that its user has.
func accounts(t *testing.T, s *site.Site) {
	file, _ := script(t, s, "accounts", "#SBATCH --account=chem", "")
	id, r := reserve(t, s, "alice", "--begin-by=now+3hours", "--prob=0.5", "--time=5", "--accounts=chem,phys", file)
	defer mustRun(t, s, "alice", "scancel", strconv.FormatInt(id, 10))
	if job, err := s.Job(t.Context(), id); err != nil || r.Account != "phys" || job["Account"] != "phys" {
		t.Errorf("promised for account %s, job %v, %v", r.Account, job, err)
	}
	quote := mustRun(t, s, "alice", "varq", "quote", "--begin-by=now+3hours", "--prob=0.5", "--time=5", "--account=chem,phys").Stdout
	if !strings.Contains(quote, "phys") {
		t.Errorf("quoted:\n%s", quote)
	}
}
