package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/broker"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/site"
)

// TestPair has what users do with two sites whose varqds know each other.
func TestPair(t *testing.T) {
	inTurn(t, 2)
	sites := groupSites(t)
	for _, c := range []struct {
		name string
		test func(*testing.T, map[string]*site.Site)
	}{
		{"reserve", reserveEither},
		{"all of", allOf},
		{"any of", anyOf},
		{"all of, held up", allOfHeldUp},
		{"all of, suspended last", allOfSuspendedLast},
		{"client killed", groupClientKilled},
		{"kills", groupKills},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range sites {
				s.Tidy(t)
			}
			c.test(t, sites)
		})
	}
}

// groupSites starts two sites, alpha and beta, whose varqds know each other. Half of the small jobs
// of the past were in the partition short. Time costs half as much at beta.
func groupSites(t *testing.T) map[string]*site.Site {
	t.Helper()
	history := func(yield func(workload.Job, error) bool) {
		for j, err := range site.Calm(time.Now().Unix()) {
			if j.ID%2 == 0 && j.Limit <= 3600 {
				j.Partition = "short"
			}
			if !yield(j, err) {
				return
			}
		}
	}
	alpha, beta := twoSites(t, site.Options{History: history}, site.Options{History: history, VarqConf: "site: {tariff: {unit_cost: 0.5}}\n"})
	if err := alpha.RestartVarqd(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := beta.Meet(t.Context(), alpha, beta); err != nil {
		t.Fatal(err)
	}
	return map[string]*site.Site{"alpha": alpha, "beta": beta}
}

// race is a group whose jobs write their site and the time into a file.
type race struct {
	t       *testing.T
	sites   map[string]*site.Site
	name    string
	started string // the file
	out     broker.GroupOutcome
}

// newRace returns the race of that name, and its jobs' script.
func newRace(t *testing.T, sites map[string]*site.Site, name string) (r *race, script string) {
	t.Helper()
	r = &race{t: t, sites: sites, name: name, started: filepath.Join(sites["alpha"].JobDir(), name+".started")}
	script = filepath.Join(sites["alpha"].JobDir(), name+".sh")
	text := "#!/bin/sh\n#SBATCH --nodes=1 --time=10 --output=/dev/null\necho $VARQ_SITE $(date +%s.%N) >> " + r.started + "\nsleep 5\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return r, script
}

// reserveGroup has alice reserve a group at both sites, from alpha. It repeats that while a slow
// machine promises nothing.
func reserveGroup(t *testing.T, sites map[string]*site.Site, name string, options func() []string) *race {
	t.Helper()
	r, job := newRace(t, sites, name)
	eventually(t, "the group is reserved", func() bool {
		args := append([]string{"reserve", "--json", "--clusters=all"}, options()...)
		run, err := sites["alpha"].Run(t.Context(), "alice", "varq", append(args, "--", "sbatch", "--job-name="+name, job)...)
		if err != nil || run.Code > 1 || run.Stdout == "" {
			t.Fatalf("%v %+v", err, run)
		}
		if err := json.Unmarshal([]byte(run.Stdout), &r.out); err != nil {
			t.Fatalf("%v in %s", err, run.Stdout)
		}
		if run.Code == 1 {
			t.Logf("again: %s", run.Stdout)
		}
		return run.Code == 0
	})
	if r.out.Quote == nil {
		t.Fatalf("%+v", r.out)
	}
	at := map[string][]int64{}
	for _, m := range r.out.Members {
		at[m.Site] = append(at[m.Site], m.Job)
	}
	if len(at) != 2 {
		t.Fatalf("%+v", r.out)
	}
	t.Logf("%s: jobs %v, together %+v", name, at, *r.out.Quote)
	return r
}

// starts returns when the work began at each site.
func (r *race) starts() map[string][]float64 {
	r.t.Helper()
	text, err := os.ReadFile(r.started)
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	starts := map[string][]float64{}
	for line := range strings.Lines(string(text)) {
		where, when, _ := strings.Cut(strings.TrimSpace(line), " ")
		at, err := strconv.ParseFloat(when, 64)
		if err != nil {
			r.t.Fatal(err)
		}
		starts[where] = append(starts[where], at)
	}
	return starts
}

// over waits until no job of the group is in a queue.
func (r *race) over() {
	r.t.Helper()
	for name, s := range r.sites {
		eventually(r.t, "no job is left at "+name, func() bool { return len(jobs(r.t, s, "alice", r.name)) == 0 })
	}
}

// ran checks that the work ran once, at one of the sites, and what has become of the promises.
func (r *race) ran(at ...string) {
	r.t.Helper()
	r.over()
	starts := r.starts()
	if len(starts) != 1 {
		r.t.Fatalf("the work ran at %v", starts)
	}
	for i := range r.out.Members {
		m := &r.out.Members[i]
		state := api.StateCancelled
		if stamps := starts[m.Site]; stamps != nil {
			state = api.StateKept
			if len(stamps) != 1 || !strings.Contains(strings.Join(at, " "), m.Site) {
				r.t.Errorf("the work ran at %v", starts)
			}
		}
		got := settled(r.t, r.sites[m.Site], "alice", m.Job, state)
		if state == api.StateCancelled && !strings.HasSuffix(got.Note, " started first") {
			r.t.Errorf("the loser at %s: %q", m.Site, got.Note)
		}
		if got.Group != r.out.Group {
			r.t.Errorf("the group of job %d at %s is %q", m.Job, m.Site, got.Group)
		}
	}
}

// either are the options of jobs of which one is to start.
func either(s *site.Site) []string {
	return []string{"--any-of", "--min-prob=.5", "--latest=" + time.Now().Add(s.Paced(20*time.Minute)).Format("2006-01-02T15:04:05")}
}

// together are the options of jobs that begin together soon.
func together(s *site.Site) []string { return togetherIn(s.Paced(90 * time.Second)) }

// togetherIn are the options of jobs that begin together within a time.
func togetherIn(lead time.Duration) []string {
	return []string{"--all-of", "--min-prob=.5", "--slots=3", "--gap=5s", "--latest=" + time.Now().Add(lead).Format("2006-01-02T15:04:05")}
}

// beganTogether checks that the work ran once at each site, and began there within two seconds, or
// more on a slow machine.
func (r *race) beganTogether() {
	r.t.Helper()
	r.over()
	starts := r.starts()
	if len(starts["alpha"]) != 1 || len(starts["beta"]) != 1 {
		r.t.Fatalf("the work began at %v", starts)
	}
	apart := starts["alpha"][0] - starts["beta"][0]
	r.t.Logf("the work began %.3f s apart, %.3f s after its time", apart, starts["alpha"][0]-float64(r.out.Members[0].Start))
	if most := r.sites["alpha"].Paced(2 * time.Second).Seconds(); apart > most || apart < -most {
		r.t.Errorf("the work began %.3f s apart", apart)
	}
}

// fill has a job on all nodes of a site, which ends within a few minutes.
func fill(t *testing.T, s *site.Site) (job string) {
	t.Helper()
	limit := fmt.Sprintf("--time=%d", int(s.Paced(6*time.Minute).Minutes()))
	r := mustRun(t, s, "bob", "sbatch", "--parsable", "--nodes=8", "--exclusive", limit, "--output=/dev/null", "--wrap=sleep 1d")
	job = strings.TrimSpace(r.Stdout)
	id, err := strconv.ParseInt(job, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.WaitState(t.Context(), id, "RUNNING"); err != nil {
		t.Fatal(err)
	}
	return job
}

// anyOf: of two jobs of which one is enough, that runs which starts first, and exactly one does:
// whichever cluster is full, and also if both become free at once, or while the home is down. The
// command that reserved them has long ended.
func anyOf(t *testing.T, sites map[string]*site.Site) {
	alpha, beta := sites["alpha"], sites["beta"]
	any := func() []string { return either(alpha) }
	before := reported(t, alpha)
	for free, full := range map[string]string{"alpha": "beta", "beta": "alpha"} {
		filler := fill(t, sites[full])
		reserveGroup(t, sites, "free-"+free, any).ran(free)
		mustRun(t, sites[full], "root", "scancel", filler)
	}
	for _, homeKilled := range []bool{false, true} {
		fillers := map[*site.Site]string{alpha: fill(t, alpha), beta: fill(t, beta)}
		r := reserveGroup(t, sites, fmt.Sprint("both-", homeKilled), any)
		if homeKilled {
			if err := alpha.KillVarqd(); err != nil {
				t.Fatal(err)
			}
		}
		done := make(chan error, 2)
		for s, job := range fillers {
			go func() {
				run, err := s.Run(t.Context(), "root", "scancel", job)
				if run.Code != 0 {
					err = fmt.Errorf("scancel: %s", run.Stderr)
				}
				done <- err
			}()
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if homeKilled { // nobody says whose work runs, so it waits
			for _, m := range r.out.Members {
				if err := sites[m.Site].WaitState(t.Context(), m.Job, "RUNNING"); err != nil {
					t.Fatal(err)
				}
			}
			if starts := r.starts(); len(starts) > 0 {
				t.Errorf("the work has begun without its home: %v", starts)
			}
			if err := alpha.StartVarqd(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		r.ran("alpha", "beta")
	}
	// Their sites have vouched for them, so that they count.
	for began := time.Now(); ; time.Sleep(time.Second) {
		now := reported(t, alpha)
		if now.Promises == before.Promises+4 && now.Kept == before.Kept+4 && now.Open <= before.Open {
			break
		}
		if time.Since(began) > alpha.Paced(time.Minute) {
			t.Fatalf("the groups are reported as %+v, before as %+v, of the promises\n%s", now, before, mustRun(t, alpha, "alice", "varq", "status").Stdout)
		}
	}
}

// allOf: the work of jobs at two clusters begins at the same time. Each cluster has jobs in two
// partitions, of which one runs.
func allOf(t *testing.T, sites map[string]*site.Site) {
	n := 0
	sites["alpha"].InTime(t, 90*time.Second, func(lead time.Duration) bool {
		n++
		return allOfIn(t, sites, fmt.Sprint("together-", n), lead)
	})
}

// allOfIn is a round of allOf. It returns false if a promise was missed.
func allOfIn(t *testing.T, sites map[string]*site.Site, name string, lead time.Duration) bool {
	t.Helper()
	r := reserveGroup(t, sites, name, func() []string { return append(togetherIn(lead), "--partitions=main/short") })
	r.over()
	for _, m := range r.out.Members {
		if settled(t, r.sites[m.Site], "alice", m.Job, api.SettledStates...).State == api.StateMissed {
			return false
		}
	}
	r.beganTogether()
	kept := map[string]int{}
	for _, m := range r.out.Members {
		got, err := r.sites[m.Site].WaitSettled(t.Context(), "alice", m.Job, api.SettledStates...)
		switch {
		case err != nil:
			t.Fatal(err)
		case got.State == api.StateKept:
			kept[m.Site]++
		case got.State != api.StateCancelled || !strings.HasSuffix(got.Note, " run instead"):
			t.Errorf("job %d at %s is %s: %q", m.Job, m.Site, got.State, got.Note)
		}
	}
	if len(r.out.Members) != 4 || kept["alpha"] != 1 || kept["beta"] != 1 {
		t.Errorf("of %d promises are kept %v", len(r.out.Members), kept)
	}
	return true
}
