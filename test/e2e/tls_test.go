package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/broker"
	"github.com/varq-project/varq/test/certs"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// tlsSites starts two sites whose varqds speak to one another by TLS, for alice alone. alpha has
// Slurm 22.05, and beta the chosen one.
func tlsSites(t *testing.T) (sites map[string]*site.Site, authority *certs.Authority) {
	t.Helper()
	now := time.Now().Unix()
	alpha := site.ForTest(t, site.Options{Name: "alpha", Version: cluster.Own(), History: site.Calm(now)})
	beta := site.ForTest(t, site.Options{Name: "beta", History: site.Calm(now), Bind: []string{alpha.Dir}, VarqConf: "site: {tariff: {unit_cost: 0.5}}\n"})
	logVersions(t, alpha, beta)
	authority, err := certs.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	if err := site.JoinByTLS(t.Context(), authority, []string{"alice"}, alpha, beta); err != nil {
		t.Fatal(err)
	}
	return map[string]*site.Site{"alpha": alpha, "beta": beta}, authority
}

// Users of a cluster reserve at another one whose munge they have not for varq, by their own varqd,
// and race between the two. Their sbatch alone, which submits there, authenticates as Slurm wants.
func TestSitesByTLS(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 2)
	sites, authority := tlsSites(t)
	alpha, beta := sites["alpha"], sites["beta"]
	for user, states := range map[string]string{"alice": "OK OK", "bob": "OK REFUSED"} {
		r, err := alpha.Run(t.Context(), user, "varq", "sites", "--format=state", "--noheader")
		if err != nil || r.Code != 0 || strings.Join(strings.Fields(r.Stdout), " ") != states {
			t.Errorf("varq sites of %s: %+v, %v", user, r, err)
		}
	}

	// A job whose promise varq-filter gets from beta, by alpha's varqd.
	script := filepath.Join(alpha.JobDir(), "reserve.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n#SBATCH --nodes=1 --time=30\necho site=$VARQ_SITE\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	output := filepath.Join(beta.JobDir(), "tls.out")
	var o broker.Outcome
	alpha.InTime(t, 40*time.Second, func(lead time.Duration) (ok bool) {
		o, ok = reserveAt(t, alpha, lead, "beta", "--clusters=all", "--prefer=cost", "--slots=2", "--gap=5s", "--min-prob=.5", "--", "sbatch", "--output="+output, script)
		return ok
	})
	if err := beta.WaitState(t.Context(), o.Taken.Job, "COMPLETED"); err != nil {
		t.Fatal(err)
	}
	if out, err := os.ReadFile(output); err != nil || string(out) != "site=beta\n" {
		t.Errorf("the job says %q, %v", out, err)
	}
	status := mustRun(t, alpha, "alice", "varq", "status", "--site=beta", "--json")
	if !strings.Contains(status.Stdout, `"user": "alice"`) {
		t.Errorf("varq status --site=beta: %s", status.Stdout)
	}

	// A race, of which alpha is the home: beta's varqd asks it by TLS.
	for free, full := range map[string]string{"alpha": "beta", "beta": "alpha"} {
		filler := fill(t, sites[full])
		reserveGroup(t, sites, "tls-free-"+free, func() []string { return either(alpha) }).ran(free)
		mustRun(t, sites[full], "root", "scancel", filler)
	}

	// A certificate that has expired is told, and a new one taken, without a restart.
	if err := alpha.ProveBy(authority, time.Now().Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	if r := mustRun(t, alpha, "alice", "varq", "sites"); !strings.Contains(r.Stdout, "the certificate of this site expired on ") {
		t.Errorf("varq sites: %s", r.Stdout)
	}
	if r, err := alpha.Run(t.Context(), "alice", "varq", "doctor"); err != nil || !strings.Contains(r.Stdout, "the site's certificate expired on ") {
		t.Errorf("varq doctor: %+v, %v", r, err)
	}
	if err := alpha.ProveBy(authority, time.Now().Add(100*24*time.Hour+12*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if r := mustRun(t, alpha, "alice", "varq", "sites"); strings.Count(r.Stdout, " OK ") != 2 {
		t.Errorf("varq sites: %s", r.Stdout)
	}
	if r, err := alpha.Run(t.Context(), "alice", "varq", "doctor"); err != nil || !strings.Contains(r.Stdout, "is good for 100 more days") {
		t.Errorf("varq doctor: %+v, %v", r, err)
	}

	// When alpha may not speak for alice any more, nobody does.
	text, err := os.ReadFile(beta.Config())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(beta.Config(), []byte(strings.Replace(string(text), "users: [alice]", "users: [bob]", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := beta.RestartVarqd(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r, err := alpha.Run(t.Context(), "alice", "varq", "status", "--site=beta"); err != nil || r.Code == 0 || !strings.Contains(r.Stderr, "may not ask for user") {
		t.Errorf("%+v, %v", r, err)
	}
}

// By TLS, too, the work of jobs at two clusters begins at the same time. If one cluster is stopped
// after they were reserved, no work runs, and nothing is left.
func TestAllOfByTLS(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 2)
	sites, _ := tlsSites(t)
	alpha, beta := sites["alpha"], sites["beta"]
	r := reserveGroup(t, sites, "tls-together", func() []string { return together(alpha) })
	r.beganTogether()
	for _, m := range r.out.Members {
		settled(t, sites[m.Site], "alice", m.Job, api.StateKept)
	}

	r = reserveGroup(t, sites, "tls-stopped", func() []string { return together(alpha) })
	daemons := []cluster.Daemon{cluster.Slurmctld, cluster.Slurmrestd}
	if err := beta.KillVarqd(); err != nil {
		t.Fatal(err)
	}
	for _, d := range daemons {
		if err := beta.StopDaemon(d); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "alpha's job is cancelled while beta is down", func() bool { return len(jobs(t, alpha, "alice", r.name)) == 0 })
	for _, d := range daemons {
		if err := beta.StartDaemon(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	if err := beta.StartVarqd(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.over()
	if starts := r.starts(); len(starts) > 0 {
		t.Errorf("the work ran at %v", starts)
	}
	for _, m := range r.out.Members {
		got := settled(t, sites[m.Site], "alice", m.Job, api.SettledStates...)
		want := api.StateCancelled
		// else it had its nodes before the cluster was stopped
		if m.Site == "beta" && got.Start == 0 {
			want = api.StateMissed
		}
		if got.State != want || !strings.HasSuffix(got.Note, " at beta did not start in time") {
			t.Errorf("job at %s: %s, started %d: %q", m.Site, got.State, got.Start, got.Note)
		}
	}
}

// By TLS, too, the work of all jobs of --all-of begins or of none, whoever is killed while they are
// reserved. It takes the flags of TestReserveKills.
func TestGroupKillsByTLS(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 2)
	sites, _ := tlsSites(t)
	killWhileReserving(t, sites["alpha"], sites["beta"], (*kills+1)/2, api.GroupAll)
}
