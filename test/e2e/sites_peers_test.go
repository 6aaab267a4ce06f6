package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/stream"
	"github.com/varq-project/varq/test/thorough"
)

// pair is two clusters on one slurmdbd, on which one way to choose between them is tried.
type pair struct {
	way
	clusters [2]*cluster.Cluster
	command  commander // on a host of the first
	outcomes []stream.Outcome
	killed   killedClients
	left     []string // jobs that are in a queue when all others have ended
}

type commander func(ctx context.Context, user, name string, args ...string) *exec.Cmd

// way is a way to choose between clusters: a command for a job, of which the options of sbatch and
// the script come last.
type way struct {
	name    string
	varq    bool
	command func() []string
	// federated says that the clusters are in a federation.
	federated bool
}

// soonest is varq reserve with further options, for jobs that are to start as soon as they can:
// with a window that is longer than any waits, of which many times are looked at, because those of
// a few would be the same in both clusters.
func soonest(options ...string) func() []string {
	return func() []string {
		always := []string{"varq", "reserve", "--clusters=all", "--best-effort", "--min-prob=.5", "--latest=now+30minutes", "--slots=60", "--gap=30s"}
		return slices.Concat(always, options, []string{"--", "sbatch"})
	}
}

var ways = []way{
	{name: "varq reserve --clusters=all", varq: true, command: soonest("--prefer=end,-prob")},
	{name: "varq reserve --any-of", varq: true, command: soonest("--any-of")},
	{name: "sbatch -M alpha,beta", command: func() []string { return []string{"sbatch", "-M", "alpha,beta"} }},
	{name: "sbatch in a federation", federated: true, command: func() []string { return []string{"sbatch"} }},
}

// killedClients counts clients that were killed while they submitted a job.
type killedClients struct {
	killed int // before they had said that there is a job
	left   int // of their jobs have run nevertheless
	after  int // all had been said
}

// TestSitesBesideSlurm runs the same jobs at the same times on pairs of clusters that are alike,
// each with the same jobs of others, and has them go to either cluster in varq's ways and in
// Slurm's. With varq they are reserved by best effort and with a generous window, so that they
// start as soon as they can; a start by a deadline is another service. It takes some quarter of an
// hour more than jobs come:
//
//	go test ./test/e2e -run TestSitesBesideSlurm -v -timeout 3h -peers=30m
func TestSitesBesideSlurm(t *testing.T) {
	thorough.Only(t)
	if *peerTime == 0 {
		t.Skip("a comparison that takes long: -peers=30m")
	}
	inTurn(t, int64(2*len(ways)))
	config := stream.Config{Seed: *peerSeed, Nodes: 32, Until: peerTime.Seconds()}
	pairs := make([]*pair, len(ways))
	for i, w := range ways {
		pairs[i] = newPair(t, w, config)
	}
	began := time.Now().Add(time.Second)
	var g errgroup.Group
	for _, p := range pairs {
		g.Go(func() error { return p.run(t, began, config) })
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		p.tell(t, pairs[0].outcomes)
	}
}

func newPair(t *testing.T, w way, c stream.Config) *pair {
	t.Helper()
	p := &pair{way: w}
	if w.varq {
		options := func(name string, phase float64) site.Options {
			return site.Options{Name: name, Nodes: int(c.Nodes), History: c.Past(time.Now().Add(-time.Minute).Unix(), func(c stream.Config) []stream.Job {
				half := c.Rigid()
				for i := range half[:len(half)/2] { // the other half goes to the other cluster
					half[i] = half[2*i]
				}
				return stream.Together(c.Others(phase), half[:len(half)/2])
			}, nil)}
		}
		a, b := options("alpha", .5), options("beta", 0)
		alpha := site.ForTest(t, a)
		b.Beside = alpha
		beta := site.ForTest(t, b)
		if err := site.Join(alpha, beta); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(alpha.RestartVarqd(t.Context()), beta.Meet(t.Context(), alpha, beta)); err != nil {
			t.Fatal(err)
		}
		p.clusters, p.command = [2]*cluster.Cluster{alpha.Cluster, beta.Cluster}, alpha.Prepare
		return p
	}
	alpha := cluster.ForTest(t, cluster.Options{Name: "alpha", Nodes: int(c.Nodes)})
	p.clusters = [2]*cluster.Cluster{alpha, cluster.ForTest(t, cluster.Options{Name: "beta", Nodes: int(c.Nodes), Beside: alpha})}
	p.command = alpha.Command
	if w.federated {
		out, err := alpha.Command(t.Context(), "root", "sacctmgr", "--immediate", "add", "federation", "f", "clusters=alpha,beta").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		eventually(t, "the clusters are a federation", func() bool {
			out, err := alpha.Command(t.Context(), "root", "scontrol", "show", "federation").Output()
			return err == nil && bytes.Contains(out, []byte("Yes/Yes Synced:Yes"))
		})
	}
	return p
}

// run runs the jobs of one user as the way says, and on each cluster those of others.
func (p *pair) run(t *testing.T, began time.Time, c stream.Config) error {
	var g errgroup.Group
	for i, slurm := range p.clusters {
		others := stream.Config{Seed: c.Seed + uint64(i), Nodes: c.Nodes, Until: c.Until}
		runner := stream.Runner{Dir: slurm.JobDir(), Name: "others", Submit: func(ctx context.Context, j *stream.Job, script []string) *exec.Cmd {
			args := append([]string{"--exclusive", "--clusters=" + slurm.Name}, size(j)...)
			return slurm.Command(ctx, j.User, "sbatch", append(args, script...)...)
		}}
		g.Go(func() error {
			_, err := runner.Run(t.Context(), began, others.Others(float64(i)/2), func() bool { return true })
			return err
		})
	}
	g.Go(func() (err error) {
		runner := stream.Runner{Dir: p.clusters[0].JobDir(), Name: "jobs", Submit: p.submit}
		p.outcomes, err = runner.Run(t.Context(), began, c.Rigid(), p.quiet(t))
		return err
	})
	if err := g.Wait(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return p.killClients(t)
}

func size(j *stream.Job) []string {
	return []string{"--nodes=" + strconv.Itoa(int(j.Nodes)), fmt.Sprintf("--time=%d", j.Limit/60)}
}

// submit prepares the submission of a job in the pair's way.
func (p *pair) submit(ctx context.Context, j *stream.Job, script []string) *exec.Cmd {
	command := p.way.command()
	args := append(append(append(command[1:], "--exclusive"), size(j)...), script...)
	return p.command(ctx, j.User, command[0], args...)
}

// quiet returns a function that reports whether no job is left in either queue, or those that are
// have been left for long.
func (p *pair) quiet(t *testing.T) func() bool {
	since := time.Now()
	var before []string
	return func() bool {
		left := p.queued(t.Context())
		if strings.Join(left, " ") != strings.Join(before, " ") {
			before, since = left, time.Now()
		}
		p.left = left
		// longer than any job runs
		return len(left) == 0 || time.Since(since) > p.clusters[0].Paced(10*time.Minute)
	}
}

// queued returns the jobs that are in the queues, as CLUSTER JOB STATE.
func (p *pair) queued(ctx context.Context) (jobs []string) {
	for _, c := range p.clusters {
		out, err := c.Command(ctx, "root", "squeue", "--noheader", "--local", "--states=PENDING,RUNNING,SUSPENDED,CONFIGURING,COMPLETING", "--format="+c.Name+" %i %T").Output()
		if err != nil {
			return []string{"nobody knows"}
		}
		jobs = append(jobs, strings.Split(strings.TrimSpace(string(out)), "\n")...)
	}
	return slices.DeleteFunc(jobs, func(j string) bool { return j == "" })
}

// killClients kills clients at random moments of their submissions, and counts what becomes of
// their jobs. The clusters are idle.
func (p *pair) killClients(t *testing.T) error {
	const kills, measured = 40, 5
	random := rand.New(rand.NewPCG(*peerSeed, 0x6b696c6c))
	var takes []time.Duration
	runner := stream.Runner{Dir: p.clusters[0].JobDir(), Name: "killed", Submit: func(ctx context.Context, j *stream.Job, script []string) *exec.Cmd {
		if len(takes) >= measured {
			within := time.Duration(random.Int64N(int64(slices.Max(takes))))
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, within)
			t.Cleanup(cancel)
		}
		return p.submit(ctx, j, script)
	}}
	all, err := runner.OneByOne(t.Context(), kills+measured, func(took time.Duration) {
		if len(takes) < measured {
			takes = append(takes, took)
		}
	}, p.quiet(t))
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	for i := range all[measured:] {
		o := &all[measured:][i]
		switch {
		case strings.TrimSpace(o.Said) != "":
			p.killed.after++
		default:
			p.killed.killed++
			if len(o.Starts) > 0 {
				p.killed.left++
			}
		}
	}
	return nil
}

// tell tells how the pair fared, beside another one.
func (p *pair) tell(t *testing.T, beside []stream.Outcome) {
	t.Helper()
	var turnarounds, waits, gains []float64
	refused, twice := 0, 0
	where := map[string]int{}
	for i := range p.outcomes {
		o := &p.outcomes[i]
		if len(o.Starts) > 1 {
			twice++
		}
		if o.Err != nil || len(o.Starts) == 0 {
			refused++
			t.Logf("%s: %s: %d starts: %v %s", p.name, o.Name, len(o.Starts), o.Err, o.Said)
			continue
		}
		where[o.Starts[0].Cluster]++
		turnarounds, waits = append(turnarounds, o.Turnaround()), append(waits, o.Wait())
		if len(beside[i].Starts) > 0 {
			gains = append(gains, o.Turnaround()-beside[i].Turnaround())
		}
	}
	t.Logf("%-28s %d jobs: turnaround %v s, wait %v s, beside the first %v s, where %v; not run %d, double starts %d, left pending %v; of %d clients that were killed %d left a job behind (%d more had told of theirs)",
		p.name, len(p.outcomes), stream.MeanOf(turnarounds), stream.MeanOf(waits), stream.MeanOf(gains), where, refused, twice, p.left, p.killed.killed, p.killed.left, p.killed.after)
	if p.varq && (twice > 0 || len(p.left) > 0 || refused > 0) {
		t.Errorf("%s: %d double starts, %d did not run, left: %v", p.name, twice, refused, p.left)
	}
}
