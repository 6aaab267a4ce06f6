package e2e

import (
	"context"
	"flag"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/stream"
	"github.com/varq-project/varq/test/thorough"
)

var (
	peerTime = flag.Duration("peers", 0, "`time` for which jobs come in TestSizesBesideSlurm and TestSitesBesideSlurm; a few seconds if it is 0")
	peerSeed = flag.Uint64("peers-seed", 16, "what TestSizesBesideSlurm and TestSitesBesideSlurm draw their jobs from")
)

// sizePolicy is a way to choose the number of nodes of jobs that can have any: the options of
// sbatch for one.
type sizePolicy struct {
	name    string
	varq    bool
	options func(*stream.Job) []string
}

func fixedSize(n int32) sizePolicy {
	return sizePolicy{name: fmt.Sprintf("-N%d", n), options: func(j *stream.Job) []string {
		return []string{fmt.Sprintf("--nodes=%d", n), fmt.Sprintf("--time=%d", j.LimitOn(n)/60)}
	}}
}

// freeSize is Slurm's own: as many nodes as are free, with a time limit that is enough on one.
func freeSize(most int32) sizePolicy {
	return sizePolicy{name: fmt.Sprintf("-N1-%d", most), options: func(j *stream.Job) []string {
		return []string{fmt.Sprintf("--nodes=1-%d", most), fmt.Sprintf("--time=%d", j.LimitOn(1)/60)}
	}}
}

func autoSize(sizes []int32) sizePolicy {
	return sizePolicy{name: "--size=auto", varq: true, options: func(j *stream.Job) []string {
		var list []string
		for _, n := range sizes {
			size := elastic.Size{Nodes: n, Seconds: j.LimitOn(n)}
			if len(list) > 0 && j.LimitOn(n) == j.LimitOn(n/2) {
				continue // not faster in whole minutes
			}
			list = append(list, size.String())
		}
		return []string{"--size=auto", "--sizes=" + strings.Join(list, ",")}
	}}
}

// TestSizesBesideSlurm runs the same jobs at the same times on clusters that are alike: where jobs
// that can run on any number of nodes have one that their users think of, where they take what is
// free (--nodes=1-8), and where varq chooses. For figures:
//
//	go test ./test/e2e -run TestSizesBesideSlurm -v -timeout 3h -peers=40m
func TestSizesBesideSlurm(t *testing.T) {
	thorough.Only(t)
	config := stream.Config{Seed: *peerSeed, Nodes: 8, Until: 300}
	quicker, phase, sizes := 15.0, .5, []int32{1, 2, 4, 8}
	policies := []sizePolicy{fixedSize(1), autoSize(sizes)}
	if *peerTime > 0 {
		config.Nodes, config.Until, quicker, phase = 32, peerTime.Seconds(), 1, 0
		policies = []sizePolicy{autoSize(sizes), freeSize(8)}
		for _, n := range sizes {
			policies = append(policies, fixedSize(n))
		}
	}
	inTurn(t, int64(len(policies)))
	jobs := stream.Together(config.Others(phase), config.Moldable())

	runners := make([]stream.Runner, len(policies))
	idle := make([]func() bool, len(policies))
	for i, p := range policies {
		runners[i], idle[i] = sizeRunner(t, p, config, sizes)
		runners[i].Quicker = quicker
	}
	outcomes := make([][]stream.Outcome, len(policies))
	began := time.Now().Add(time.Second)
	g, ctx := errgroup.WithContext(t.Context())
	for i := range policies {
		g.Go(func() (err error) {
			outcomes[i], err = runners[i].Run(ctx, began, jobs, idle[i])
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	worst, auto := 0.0, 0.0
	for i, p := range policies {
		mean := tellSizes(t, p.name, outcomes[i], outcomes[0], config.Nodes)
		if p.varq {
			auto = mean
		} else {
			worst = max(worst, mean)
		}
	}
	if auto >= worst {
		t.Errorf("jobs whose size varq chooses take %.1f s, and others %.1f s at most", auto, worst)
	}
}

func moldableAmongOthers(c stream.Config) []stream.Job {
	return stream.Together(c.Others(.5), c.Moldable())
}

// sizeRunner starts a cluster for a policy, with varq if that needs it.
func sizeRunner(t *testing.T, p sizePolicy, c stream.Config, sizes []int32) (stream.Runner, func() bool) {
	t.Helper()
	var slurm *cluster.Cluster
	var command func(ctx context.Context, user, name string, args ...string) *exec.Cmd
	if p.varq {
		s := site.ForTest(t, site.Options{Nodes: int(c.Nodes), History: c.Past(time.Now().Add(-time.Minute).Unix(), moldableAmongOthers, sizes)})
		slurm, command = s.Cluster, s.Prepare
	} else {
		slurm = cluster.ForTest(t, cluster.Options{Nodes: int(c.Nodes)})
		command = slurm.Command
	}
	submit := func(ctx context.Context, j *stream.Job, script []string) *exec.Cmd {
		options := []string{"--nodes=" + strconv.Itoa(int(j.Nodes)), fmt.Sprintf("--time=%d", j.Limit/60)}
		if j.Nodes == 0 {
			options = p.options(j)
		}
		return command(ctx, j.User, "sbatch", append(append([]string{"--exclusive"}, options...), script...)...)
	}
	return stream.Runner{Dir: slurm.JobDir(), Name: "jobs", Most: c.Nodes, Submit: submit}, func() bool { return emptyQueue(t.Context(), slurm) }
}

func emptyQueue(ctx context.Context, c *cluster.Cluster) bool {
	out, err := c.Command(ctx, "root", "squeue", "--noheader", "--format=%i").Output()
	return err == nil && len(strings.Fields(string(out))) == 0
}

// tellSizes tells how a policy fared, beside another one, and returns the mean turnaround of the
// jobs that can have any size, in seconds.
func tellSizes(t *testing.T, name string, all, beside []stream.Outcome, nodes int32) float64 {
	t.Helper()
	var turnarounds, waits, gains, others []float64
	taken := map[int32]int{}
	last := 0.0
	for i := range all {
		o := &all[i]
		if o.Err != nil || !o.Done() {
			t.Fatalf("%s: %s: %d starts: %v", name, o.Name, len(o.Starts), o.Err)
		}
		last = max(last, o.Starts[0].End)
		if o.Nodes > 0 {
			if o.Starts[0].Nodes != o.Nodes {
				t.Errorf("%s: %s has %d nodes, wanted %d", name, o.Name, o.Starts[0].Nodes, o.Nodes)
			}
			others = append(others, o.Wait())
			continue
		}
		taken[o.Starts[0].Nodes]++
		turnarounds, waits = append(turnarounds, o.Turnaround()), append(waits, o.Wait())
		gains = append(gains, o.Turnaround()-beside[i].Turnaround())
	}
	mean := stream.MeanOf(turnarounds)
	t.Logf("%-12s %d jobs: turnaround %v s, wait %v s, beside the first %v s, %.0f node-seconds; %d others wait %v s; %.2f of the nodes busy until the last end at %.0f s; sizes %v",
		name, len(turnarounds), mean, stream.MeanOf(waits), stream.MeanOf(gains), stream.Used(all, "alice"), len(others), stream.MeanOf(others),
		(stream.Used(all, "alice")+stream.Used(all, "bob"))/(float64(nodes)*last), last, taken)
	return mean.Mean
}
