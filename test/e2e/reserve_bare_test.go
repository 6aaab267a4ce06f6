package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/varqd/broker"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// bareSites starts two clusters, alpha, and beta, of which alpha knows slurmrestd alone. A job at
// beta may start so late.
func bareSites(t *testing.T, late string) (alpha, beta *site.Site) {
	t.Helper()
	alpha = site.ForTest(t, site.Options{Name: "alpha", Version: cluster.Own(), Nodes: 4, History: site.Calm(time.Now().Unix())})
	beta = site.ForTest(t, site.Options{Name: "beta", Nodes: 4, Bind: []string{alpha.Dir}})
	logVersions(t, alpha, beta)
	if err := beta.KillVarqd(); err != nil {
		t.Fatal(err)
	}
	if err := site.JoinBare(t.Context(), alpha, beta, "", "late: "+late+", partition: main, tariff: {unit_cost: 0.5}"); err != nil {
		t.Fatal(err)
	}
	return alpha, beta
}

// A cluster of which only slurmrestd is known has slots, by a method of the paper, and a job goes
// there as its user prefers. If the client is killed before it has confirmed the job, Slurm alone
// cancels that.
func TestReserveBare(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 2)
	alpha, beta := bareSites(t, "1s")
	script, output := filepath.Join(beta.JobDir(), "bare.sh"), filepath.Join(beta.JobDir(), "bare.out")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n#SBATCH --nodes=1 --time=30 --comment=mine\necho $1 nodes=$VARQ_NODES time=$VARQ_TIME site=$VARQ_SITE at=$(date +%s)\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	const soon = 25 * time.Second
	latest := func(lead time.Duration) string {
		return "--latest=" + time.Now().Add(lead).Format("2006-01-02T15:04:05")
	}
	options := []string{"--clusters=all", "--prefer=cost,end", "--slots=2", "--gap=5s", "--min-prob=.5", "--sizes=2:20,4:15"}
	command := []string{"--", "sbatch", "--output=" + output, "--job-name=bare", script, "hello"}

	var dry struct{ Slots []broker.Choice }
	alpha.InTime(t, soon, func(lead time.Duration) bool {
		r, err := alpha.Run(t.Context(), "alice", "varq", append(append([]string{"reserve", "--json", "--dry-run", "--esr", latest(lead)}, options...), command...)...)
		if err != nil || r.Code > 1 || r.Code == 0 && json.Unmarshal([]byte(r.Stdout), &dry) != nil {
			t.Fatalf("%+v, %v", r, err)
		}
		return len(dry.Slots) > 0
	})
	if first := dry.Slots[0]; first.Site != "beta" || first.Method != "load" || first.ESR == nil || first.Prob != .99 {
		t.Errorf("the first slot is %+v", first)
	}

	r, err := alpha.Run(t.Context(), "alice", "varq", "sites")
	if err != nil || r.Code != 0 || !strings.Contains(r.Stdout, "no varqd; estimates by load; its slurmrestd answers since") {
		t.Errorf("varq sites: %+v, %v", r, err)
	}

	var o broker.Outcome
	alpha.InTime(t, soon, func(lead time.Duration) bool {
		o, r = varqReserve(t, alpha, append(append([]string{latest(lead)}, options...), command...)...)
		return o.Taken != nil
	})
	if o.Taken.Site != "beta" || o.Taken.Method != "load" || o.Taken.Plan != nil {
		t.Fatalf("%+v", r)
	}
	if err := beta.WaitState(t.Context(), o.Taken.Job, "COMPLETED"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(output)
	said, at, _ := strings.Cut(strings.TrimSpace(string(text)), " at=")
	began, _ := strconv.ParseInt(at, 10, 64)
	if want := "hello nodes=2 time=1200 site=beta"; err != nil || !strings.HasSuffix(said, want) || began < o.Taken.Start {
		t.Errorf("the job says %q at %d, %v; want %q from %d on", said, began, err, want, o.Taken.Start)
	}

	// The client dies just before it confirms.
	bin := t.TempDir()
	if err := os.Chmod(filepath.Dir(bin), 0o755); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(alpha.Config())
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`bin: ([^,]*),`).FindSubmatch(config)
	killed := bytes.Replace(config, found[0], []byte("bin: "+bin+","), 1)
	folder := ""
	if name := string(found[1]); name != "''" {
		folder = name + "/"
	}
	for name, text := range map[string]string{
		"sbatch": "exec " + folder + "sbatch \"$@\"", "squeue": "exec " + folder + "squeue \"$@\"", "scancel": "exec " + folder + "scancel \"$@\"", "scontrol": "kill -9 $PPID",
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(alpha.Config(), killed, 0o644); err != nil {
		t.Fatal(err)
	}
	alpha.InTime(t, soon, func(lead time.Duration) bool {
		r, err = alpha.Run(t.Context(), "alice", "varq", append(append([]string{"reserve", latest(lead)}, options...), command...)...)
		if err != nil || r.Code >= 0 && r.Code != 1 {
			t.Fatalf("the client is not killed: %+v, %v", r, err)
		}
		return r.Code < 0
	})
	job := o.Taken.Job + 1
	if err := beta.WaitState(t.Context(), job, "DEADLINE"); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(output); err != nil || string(again) != string(text) {
		t.Errorf("the job has run: %q, %v", again, err)
	}
}

var (
	bareKills    = flag.Int("bare-kills", 9, "`number` of kills of TestReserveBareKills")
	bareKillSeed = flag.Uint64("bare-kill-seed", 5, "what TestReserveBareKills draws its kills from")
)

// TestReserveBareKills is TestReserveKills where the cluster that is preferred has no varqd:
// whoever is killed, whenever that is, a request has the one job that its client was told of, or
// none.
func TestReserveBareKills(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 2)
	alpha, beta := bareSites(t, "20s")
	script, starts := killScript(t, alpha)
	random := rand.New(rand.NewPCG(*bareKillSeed, 0))
	kinds := []struct {
		victim string
		site   *site.Site
	}{{"client killed", nil}, {"client interrupted", nil}, {"client's sbatch killed", nil}, {"slurmctld killed", beta}, {"slurmrestd killed", beta}, {"varqd killed", alpha}}
	var rounds []*killRound
	order := random.Perm(len(kinds))
	for n := range *bareKills {
		kind := kinds[order[n%len(order)]]
		r := &killRound{id: "r" + strconv.Itoa(n+1), victim: kind.victim, site: kind.site, moment: moment(random.IntN(int(moments))), long: random.IntN(3) == 0, prefer: "cost"}
		if kind.site == nil {
			if r.moment = describing + moment(random.IntN(4)); strings.HasSuffix(r.victim, "sbatch killed") {
				r.moment = submitting
			}
		}
		r.ask(t, alpha, random, script)
		rounds = append(rounds, r)
	}
	sites := []*site.Site{alpha, beta}
	left := waitQuiet(t, sites)
	judgeKills(t, sites, rounds, readStarts(t, starts), left)
}
