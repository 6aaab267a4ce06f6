package e2e

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/synthetic"
	"github.com/varq-project/varq/test/thorough"
)

// TestMaxHold: where jobs wait for hours, a job of some minutes would have to hold its nodes
// for much longer than it works. It is refused. The refusal offers best effort, which holds
// no nodes, and a submission with that offer succeeds.
func TestMaxHold(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{History: synthetic.History(synthetic.Config{
		Seed: 1, Nodes: 8, CPUs: 4, ShortNodes: 2, Jobs: 10_000, Days: 30, End: time.Now().Unix(), Utilisation: .85,
	})})
	asked := []string{"--nodes=8", "--time=5", "--begin-by=now+12hours", "--prob=0.85"}
	quote, err := s.Run(t.Context(), "alice", "varq", append([]string{"quote", "--json"}, asked...)...)
	if err != nil {
		t.Fatal(err)
	}
	answer := decode[api.PlanAnswer](t, quote.Stdout)
	if quote.Code != 1 || answer.Refusal == nil || answer.Refusal.Limit != "varq max_hold" {
		t.Fatalf("exit code %d: %s", quote.Code, quote.Stdout)
	}
	if !slices.ContainsFunc(answer.Refusal.Offers, func(o api.Offer) bool { return o.Kind == api.OfferFree && o.Worst.NodeSeconds == 0 }) {
		t.Fatalf("best effort is not offered: %s", quote.Stdout)
	}
	file, _ := script(t, s, "best-effort", "", "")
	id, r := reserve(t, s, "alice", append(asked, "--best-effort", file)...)
	defer mustRun(t, s, "alice", "scancel", strconv.FormatInt(id, 10))
	if r.Estimate < .85 || r.TimeLimit != 5*60 {
		t.Errorf("promised %+v", r)
	}
}

// refused: a job that cannot be promised is not submitted, and the refusal has an offer.
func refused(t *testing.T, s *site.Site) {
	file, _ := script(t, s, "refused", "", "")
	option, _ := deadline(s)
	r, err := s.Run(t.Context(), "alice", "sbatch", option, "--prob=0.6", "--time=8:00:00", "--nodes=8", "--job-name=refused", file)
	if err != nil {
		t.Fatal(err)
	}
	if r.Code == 0 || r.Stdout != "" {
		t.Errorf("exit code %d, printed %q", r.Code, r.Stdout)
	}
	if !strings.Contains(r.Stderr, "--prob=") && !strings.Contains(r.Stderr, "--begin-by=") {
		t.Errorf("no offer in %q", r.Stderr)
	}
	if got := jobs(t, s, "alice", "refused"); len(got) != 0 {
		t.Errorf("jobs %v are in the queue", got)
	}
	t.Logf("a refusal:\n%s", r.Stderr)
}

// conflicts: for each, no job is submitted, and the error names what is wrong.
func conflicts(t *testing.T, s *site.Site) {
	file, _ := script(t, s, "conflicts", "", "")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--begin-by=now+1hour", "--begin=now+2hours"}, "--begin"},
		{[]string{"--begin-by=now+1hour", "--deadline=now+5hours"}, "--deadline"},
		{[]string{"--begin-by=now+1hour", "--dependency=afterok:first"}, `--dependency: "first" is not a job`},
		{[]string{"--begin-by=2001-01-01T00:00:00"}, "past"},
		{[]string{"--begin-by=yesterweek"}, "yesterweek"},
		{[]string{"--begin-by=now+1hour", "--prob=1.5"}, "--prob"},
		{[]string{"--begin-by=now+1hour", "--prob=0"}, "--prob"},
		{[]string{"--begin-by=now+1hour", "--prob=often"}, "--prob"},
		{[]string{"--begin-by=now+1hour", "--begin-after=now+2hours"}, "--begin-after"},
		{[]string{"--begin-by=now+1hour", "--on-miss=weep"}, "--on-miss"},
		{[]string{"--begin-by=now+1hour", "--array=1-3", "--tasks=4"}, "--tasks: 4 are more"},
		{[]string{"--begin-by=now+1hour", "--partition=nowhere"}, "nowhere"},
		{[]string{"--begin-by=now+1day", "--nodes=8", "--time=1-00:00:00"}, "MaxTime"},
		{[]string{"--prob=0.9"}, "--begin-by"},
		{[]string{"--best-effort"}, "--begin-by"},
	} {
		r, err := s.Run(t.Context(), "alice", "sbatch", slices.Concat([]string{"--time=5", "--job-name=conflict"}, c.args, []string{file})...)
		if err != nil {
			t.Fatal(err)
		}
		if r.Code == 0 || !strings.Contains(r.Stderr, c.says) {
			t.Errorf("%v: exit code %d, %q; wanted it to name %q", c.args, r.Code, r.Stderr, c.says)
		}
	}
	if got := jobs(t, s, "alice", "conflict"); len(got) != 0 {
		t.Errorf("jobs %v are in the queue", got)
	}
}

// outputKept: varq does not change what sbatch prints with --parsable, --quiet or --verbose.
func outputKept(t *testing.T, s *site.Site) {
	file, _ := script(t, s, "quiet", "", "")
	const when = "--begin-by=now+5hours"
	for _, c := range []struct {
		flag, stdout string
		silent       bool
	}{
		{"--parsable", "N", false},
		{"--quiet", "", true},
		{"--verbose", "Submitted batch job N", false},
	} {
		r := mustRun(t, s, "alice", "sbatch", c.flag, when, "--prob=0.6", "--time=5", "--job-name=quiet", file)
		id := slices.Max(jobs(t, s, "alice", "quiet"))
		if got := strings.TrimSpace(strings.Replace(r.Stdout, id, "N", 1)); got != c.stdout {
			t.Errorf("%s printed %q", c.flag, r.Stdout)
		}
		if c.silent && r.Stderr != "" {
			t.Errorf("%s complained %q", c.flag, r.Stderr)
		}
		mustRun(t, s, "alice", "scancel", "--name=quiet")
	}
}

// testOnly: --test-only prints a quote, and submits nothing.
func testOnly(t *testing.T, s *site.Site) {
	file, _ := script(t, s, "testonly", "", "")
	option, _ := deadline(s)
	r := mustRun(t, s, "alice", "sbatch", "--test-only", option, "--prob=0.6", "--time=5", "--job-name=testonly", file)
	if !strings.Contains(r.Stderr, "varq: ") {
		t.Errorf("no quote in %q", r.Stderr)
	}
	if got := jobs(t, s, "alice", "testonly"); len(got) != 0 {
		t.Errorf("jobs %v are in the queue", got)
	}
}

// plain: varq does not affect a job without its options.
func plain(t *testing.T, s *site.Site) {
	file, out := script(t, s, "plain", "", "")
	id, run, err := s.Submit(t.Context(), "alice", "--time=5", file)
	if err != nil {
		t.Fatal(err)
	}
	if run.Stderr != "" {
		t.Errorf("sbatch said %q", run.Stderr)
	}
	job, err := s.Job(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if job["TimeLimit"] != minutes(5) || job["Comment"] != "" {
		t.Errorf("limit %s, comment %q", job["TimeLimit"], job["Comment"])
	}
	if err := s.WaitState(t.Context(), id, "COMPLETED"); err != nil {
		t.Fatal(err)
	}
	if len(stamps(t, out, "work")) != 1 {
		t.Error("the work did not run once")
	}
}
