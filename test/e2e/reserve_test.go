package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/varqd/broker"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
)

// twoSites starts two clusters, alpha and beta, each with its own daemons, and lets the users of
// alpha choose between them. alpha has the machine's own Slurm, and beta the chosen one. The jobs
// of beta write, and its varqd reaches alpha's munge, in alpha's folder.
func twoSites(t *testing.T, a, b site.Options) (alpha, beta *site.Site) {
	t.Helper()
	now := time.Now().Unix()
	a.Name, b.Name = "alpha", "beta"
	a.Version = cluster.Own()
	for _, o := range []*site.Options{&a, &b} {
		if o.History == nil {
			o.History = site.Calm(now)
		}
	}
	alpha = site.ForTest(t, a)
	b.Bind = []string{alpha.Dir}
	beta = site.ForTest(t, b)
	logVersions(t, alpha, beta)
	if err := site.Join(alpha, beta); err != nil {
		t.Fatal(err)
	}
	return alpha, beta
}

// logVersions logs which Slurm each site's slurmctld says that it is, and fails if that is not the
// one that was asked for.
func logVersions(t *testing.T, sites ...*site.Site) {
	t.Helper()
	for _, s := range sites {
		r := mustRun(t, s, "root", "scontrol", "show", "config")
		version := regexp.MustCompile(`SLURM_VERSION\s*= (\S+)`).FindString(r.Stdout)
		t.Logf("%s: %s", s.Name, version)
		if !strings.Contains(version, "= "+string(s.Version)+".") {
			t.Errorf("%s is to have Slurm %s", s.Name, s.Version)
		}
	}
}

// varqReserve runs varq reserve --json at a site.
func varqReserve(t *testing.T, s *site.Site, args ...string) (o broker.Outcome, r site.Run) {
	t.Helper()
	r, err := s.Run(t.Context(), "alice", "varq", append([]string{"reserve", "--json"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	if r.Stdout != "" {
		if err := json.Unmarshal([]byte(r.Stdout), &o); err != nil {
			t.Fatalf("%v in %s", err, r.Stdout)
		}
	}
	return o, r
}

// reserveAt runs varq reserve with --latest a lead ahead. It reports false unless a job is reserved
// at the site that is wanted and another slot would have done, too, which takes a lead that is long
// enough.
func reserveAt(t *testing.T, s *site.Site, lead time.Duration, want string, args ...string) (o broker.Outcome, ok bool) {
	t.Helper()
	o, r := varqReserve(t, s, append([]string{"--latest=" + time.Now().Add(lead).Format("2006-01-02T15:04:05")}, args...)...)
	if ok = o.Taken != nil && o.Taken.Site == want && o.RunnerUp != nil; !ok {
		t.Logf("wanted %s: %+v", want, r)
	}
	return o, ok
}

// reserveEither: a job goes to the cluster that its user prefers, and is told which that is.
func reserveEither(t *testing.T, sites map[string]*site.Site) {
	alpha, beta := sites["alpha"], sites["beta"]
	script := filepath.Join(alpha.JobDir(), "reserve.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n#SBATCH --nodes=1 --time=30\necho nodes=$VARQ_NODES time=$VARQ_TIME site=$VARQ_SITE\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := alpha.Run(t.Context(), "alice", "varq", "sites")
	if err != nil || r.Code != 0 || strings.Count(r.Stdout, " OK ") != 2 {
		t.Errorf("varq sites: %+v, %v", r, err)
	}
	for prefer, want := range map[string]string{"cost": "beta", "-cost": "alpha"} {
		s := sites[want]
		output := filepath.Join(s.JobDir(), want+".out")
		var o broker.Outcome
		alpha.InTime(t, 40*time.Second, func(lead time.Duration) (ok bool) {
			o, ok = reserveAt(t, alpha, lead, want, "--clusters=all", "--prefer="+prefer, "--slots=2", "--gap=5s", "--min-prob=.5", "--sizes=2:20,4:15", "--", "sbatch", "--output="+output, script)
			return ok
		})
		if err := s.WaitState(t.Context(), o.Taken.Job, "COMPLETED"); err != nil {
			t.Fatal(err)
		}
		out, err := os.ReadFile(output)
		if err != nil || !strings.HasSuffix(string(out), "site="+want+"\n") {
			t.Errorf("the job at %s says %q, %v", want, out, err)
		}
	}

	// One site is silent, which takes until the first slots of the other are over.
	if err := syscall.Kill(beta.VarqdPID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	r, err = alpha.Run(t.Context(), "alice", "varq", "reserve", "--clusters=all", "--latest=now+9minutes", "--min-prob=.5", "--", "sbatch", "--output=/dev/null", script)
	if err != nil || r.Code != 0 || !strings.Contains(r.Stdout, " on cluster alpha\n") || !strings.Contains(r.Stderr, "cluster beta: varqd is not reachable") {
		t.Errorf("while beta is silent: %+v, %v", r, err)
	}
	if err := syscall.Kill(beta.VarqdPID(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}
