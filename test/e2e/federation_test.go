package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// oneDatabase starts two clusters, alpha and beta, with one slurmdbd and one munge key. Their users
// choose between them on alpha's hosts, by sbatch --clusters.
func oneDatabase(t *testing.T, a, b site.Options) (alpha, beta *site.Site) {
	t.Helper()
	now := time.Now().Unix()
	a.Name, b.Name = "alpha", "beta"
	a.History, b.History = site.Calm(now), site.Calm(now)
	alpha = site.ForTest(t, a)
	b.Beside, b.Bind = alpha, []string{alpha.Dir} // where slurmdbd's database is
	beta = site.ForTest(t, b)
	logVersions(t, alpha, beta)
	if err := site.Join(alpha, beta); err != nil {
		t.Fatal(err)
	}
	return alpha, beta
}

// federate makes the clusters a federation, and waits until their varqds know.
func federate(t *testing.T, sites ...*site.Site) {
	t.Helper()
	var names []string
	for _, s := range sites {
		names = append(names, s.Name)
	}
	r, err := sites[0].Run(t.Context(), "root", "sacctmgr", "--immediate", "add", "federation", "f", "clusters="+strings.Join(names, ","))
	if err != nil || r.Code != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, s := range sites {
		eventually(t, s.Name+" and its varqd know of the federation", func() bool {
			r, err := s.Run(t.Context(), "root", "scontrol", "show", "federation")
			if err != nil || strings.Count(r.Stdout, "Yes/Yes Synced:Yes") != len(sites)-1 {
				return false
			}
			r, err = s.Run(t.Context(), "alice", "varq", "quote", "--json", "-N1", "-t", "5", "--begin-by=now+1hour", "--prob=.5")
			return err == nil && strings.Contains(r.Stdout, fmt.Sprintf(`"cluster": %q`, s.Name))
		})
	}
}

// A job goes by sbatch --clusters to a cluster of the same slurmdbd, and the promise is that of its
// varqd. In a federation it stays there, although other clusters could start it.
func TestReserveByClusters(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 2)
	alpha, beta := oneDatabase(t, site.Options{Nodes: 4}, site.Options{Nodes: 4, VarqConf: "site: {tariff: {unit_cost: 0.5}}\n"})
	script := filepath.Join(alpha.JobDir(), "reserve.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n#SBATCH --nodes=1 --time=30\necho nodes=$VARQ_NODES time=$VARQ_TIME site=$VARQ_SITE\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	choices := []struct {
		prefer string
		want   *site.Site
	}{{"cost", beta}, {"-cost", alpha}}
	reserve := func(kind string) {
		t.Helper()
		for _, c := range choices {
			output := filepath.Join(alpha.JobDir(), kind+c.want.Name+".out")
			alpha.InTime(t, 30*time.Second, func(lead time.Duration) bool {
				o, ok := reserveAt(t, alpha, lead, c.want.Name, "--clusters=all", "--prefer="+c.prefer, "--slots=2", "--gap=5s", "--min-prob=.5", "--sizes=2:20,4:15", "--", "sbatch", "--output="+output, script)
				if !ok {
					return false
				}
				if kind == "federated" {
					stays(t, c.want, o.Taken.Job)
				}
				return settled(t, c.want, "alice", o.Taken.Job, api.StateKept, api.StateMissed).State == api.StateKept
			})
			out, err := os.ReadFile(output)
			if err != nil || strings.Count(string(out), "site="+c.want.Name+"\n") != 1 || strings.Count(string(out), "\n") != 1 {
				t.Errorf("%s, the job at %s says %q, %v", kind, c.want.Name, out, err)
			}
		}
	}
	reserve("joined")
	federate(t, alpha, beta)
	reserve("federated")
	alpha.InTime(t, 30*time.Second, func(lead time.Duration) bool {
		id, _, _ := reserveIn(t, alpha, lead, "alice", "--prob=.5", "--output=own.out", script)
		stays(t, alpha, id)
		return settled(t, alpha, "alice", id, api.StateKept, api.StateMissed).State == api.StateKept
	})
}

// stays checks that a job, which came from a cluster of a federation, can start on one cluster
// only.
func stays(t *testing.T, s *site.Site, id int64) {
	t.Helper()
	const firstFederated = 1 << 26
	job, err := s.Job(t.Context(), id)
	if err != nil || id < firstFederated || job["FedViableSiblings"] != s.Name {
		t.Errorf("job %d at %s can start on %q: %v", id, s.Name, job["FedViableSiblings"], err)
	}
}
