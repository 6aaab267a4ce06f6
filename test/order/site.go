package order

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/varq-project/varq/test/cluster"
)

// Site is a private cluster on which Slurm orders jobs by fair share, age, size and QOS, and limits
// what a QOS and an account have at once.
type Site struct {
	Seed uint64
	// Until is when the last job is submitted, since the first.
	Until time.Duration
	// Load is the share of the processors' time for which jobs ask, about.
	Load float64
}

const (
	nodes, cpus = 32, 8 // the cluster's nodes, and the processors of one
	shortest    = 5.0   // run times, seconds
	longest     = 180.0
	large       = 16 // processors from which on jobs are shorter
	campaign    = 14 // jobs that a project submits one after the other, on average
)

// conf has priorities that hardly change but by what projects use, and by what jobs wait. Backfill
// plans all that waits, each second, and to the second.
const conf = `
SchedulerParameters=bf_interval=1,bf_resolution=1,bf_max_job_test=5000,bf_continue,sched_interval=1,sched_min_interval=0,batch_sched_delay=0
PriorityType=priority/multifactor
PriorityWeightFairshare=100000
PriorityWeightQOS=30000
PriorityWeightAge=20000
PriorityWeightJobSize=5000
PriorityMaxAge=00:30:00
PriorityDecayHalfLife=00:10:00
PriorityCalcPeriod=1
AccountingStorageEnforce=associations,limits,qos
MinJobAge=10
`

// projects are accounts with shares of the cluster. Both ordinary users submit for each.
var projects = []struct {
	name  string
	share int // of Slurm's fair share
	busy  float64
}{
	{"astro", 40, 3}, {"bio", 20, 2}, {"climate", 10, 4}, {"dyn", 10, 1}, {"earth", 5, 1}, {"fluids", 5, 2},
}

// Record runs jobs on the cluster until all have ended, and writes the recording.
func (s *Site) Record(ctx context.Context, to, progress io.Writer) (err error) {
	c, err := cluster.Start(ctx, cluster.Options{Nodes: nodes, CPUs: cpus, SlurmConf: conf, Progress: progress})
	if err != nil {
		return err
	}
	defer func() {
		if stopped := c.Stop(); err == nil {
			err = stopped
		}
	}()
	if err := s.prepare(ctx, c); err != nil {
		return err
	}
	done := make(chan struct{})
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	defer wait.Wait()
	tested := tests{start: map[int64]int64{}}
	wait.Go(func() {
		defer close(done)
		if err := s.submitAll(ctx, c, &tested); err != nil {
			cancel(err)
		}
	})
	r := Recorder{Cluster: c, To: to, Gap: 2 * time.Second}
	if err := r.Record(ctx, done); err != nil {
		cancel(err)
		return context.Cause(ctx)
	}
	return json.NewEncoder(to).Encode(&Sighting{At: time.Now().Unix(), Tested: tested.start})
}

// prepare gives the cluster its projects and QOS.
func (s *Site) prepare(ctx context.Context, c *cluster.Cluster) error {
	do := func(args ...string) error {
		if out, err := c.Command(ctx, "root", "sacctmgr", append([]string{"-i"}, args...)...).CombinedOutput(); err != nil {
			return fmt.Errorf("sacctmgr %v: %w: %s", args, err, out)
		}
		return nil
	}
	for _, args := range [][]string{
		{"add", "qos", "high", "set", "priority=100", fmt.Sprint("GrpTRES=cpu=", nodes*cpus/4)},
		{"modify", "qos", "normal", "set", "priority=20", fmt.Sprint("MaxTRESPerAccount=cpu=", nodes*cpus*3/4)},
		{"add", "qos", "low", "set", "priority=0", "MaxJobsPerAccount=24"},
	} {
		if err := do(args...); err != nil {
			return err
		}
	}
	for _, p := range projects {
		if err := do("add", "account", p.name, fmt.Sprint("fairshare=", p.share)); err != nil {
			return err
		}
		for _, user := range people {
			if err := do("add", "user", user, "account="+p.name, "qos=normal,high,low", "defaultqos=normal"); err != nil {
				return err
			}
		}
	}
	return nil
}

var people = [...]string{"alice", "bob"}

// submitAll submits campaigns: jobs that are alike, of one user and project.
func (s *Site) submitAll(ctx context.Context, c *cluster.Cluster, tested *tests) error {
	rng := rand.New(rand.NewPCG(s.Seed, 0x6f72646572))
	began := time.Now()
	gap := meanWork() / (s.Load * nodes * cpus)
	var wait sync.WaitGroup
	defer wait.Wait()
	failed := make(chan error, 1)
	for at := 0.0; ; at += rng.ExpFloat64() * gap {
		due := time.Duration(at * float64(time.Second))
		if due > s.Until {
			return nil
		}
		if err := cluster.Sleep(ctx, time.Until(began.Add(due))); err != nil {
			return err
		}
		select {
		case err := <-failed:
			return err
		default:
		}
		a := draw(rng)
		wait.Go(func() {
			if err := a.submit(ctx, c, tested); err != nil {
				select {
				case failed <- err:
				default:
				}
			}
		})
	}
}

// alike are jobs of a campaign: one user's, of one project.
type alike struct {
	user string
	args []string // of sbatch
	cpus int
	jobs []work
	gap  time.Duration // between two submissions
}

// work is what a job asks for, and needs.
type work struct {
	limit int // minutes
	run   time.Duration
}

func draw(rng *rand.Rand) alike {
	busy := 0.0
	for _, p := range projects {
		busy += p.busy
	}
	pick := rng.Float64() * busy
	project := 0
	for pick -= projects[0].busy; pick >= 0; pick -= projects[project].busy {
		project++
	}
	qos := "normal"
	switch x := rng.Float64(); {
	case x < .15:
		qos = "high"
	case x < .3:
		qos = "low"
	}
	a := alike{user: people[rng.IntN(len(people))], cpus: size(rng), gap: time.Duration(100+rng.IntN(1400)) * time.Millisecond}
	a.args = []string{
		"--output=/dev/null", "--account=" + projects[project].name, "--qos=" + qos, fmt.Sprint("--ntasks=", a.cpus),
	}
	most := longest
	if a.cpus >= large {
		most /= 3
	}
	typical := shortest * math.Pow(most/shortest, rng.Float64())
	limit := int(math.Ceil(typical * (1 + 3*rng.Float64()) / 60))
	for range 1 + int(rng.ExpFloat64()*campaign) {
		run := min(max(1, typical*math.Exp(.4*rng.NormFloat64())), float64(60*limit)-3)
		a.jobs = append(a.jobs, work{limit, time.Duration(run * float64(time.Second))})
	}
	return a
}

// submit submits the jobs one after the other. Before the first of them it asks Slurm when that
// would start.
func (a *alike) submit(ctx context.Context, c *cluster.Cluster, tested *tests) error {
	for n, j := range a.jobs {
		args := slices.Concat(a.args, []string{fmt.Sprint("--time=", j.limit), fmt.Sprint("--wrap=exec sleep ", j.run.Seconds())})
		said := ""
		if n == 0 { // it fails of a job that a limit keeps waiting
			out, _ := c.Command(ctx, a.user, "sbatch", append([]string{"--test-only"}, args...)...).CombinedOutput()
			said = string(out)
		}
		out, err := c.Command(ctx, a.user, "sbatch", append([]string{"--parsable"}, args...)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("sbatch %v: %w: %s", args, err, out)
		}
		tested.add(string(out), said)
		if err := cluster.Sleep(ctx, a.gap); err != nil {
			return err
		}
	}
	return nil
}

// tests are when sbatch --test-only said that jobs would start, by ID.
type tests struct {
	mu    sync.Mutex
	start map[int64]int64
}

// toStart is what sbatch --test-only says of a job.
var toStart = regexp.MustCompile(`to start at (\S+) using`)

// add takes in what sbatch --test-only said of a job, if anything, and the job's number.
func (t *tests) add(job, said string) {
	found := toStart.FindStringSubmatch(said)
	if found == nil {
		return
	}
	id, err := strconv.ParseInt(strings.TrimSpace(job), 10, 64)
	at, wrong := time.ParseInLocation("2006-01-02T15:04:05", found[1], time.Local)
	if err != nil || wrong != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.start[id] = at.Unix()
}

// sizes are the processors of jobs, and how many of the jobs have them.
var sizes = []struct {
	cpus  int
	share float64
}{{1, .4}, {2, .2}, {4, .15}, {8, .15}, {16, .07}, {32, .03}}

func size(rng *rand.Rand) int {
	x := rng.Float64()
	for _, s := range sizes {
		if x -= s.share; x < 0 {
			return s.cpus
		}
	}
	return 1
}

// meanWork is for how many processor-seconds a campaign asks on average.
func meanWork() (work float64) {
	const campaigns = 10_000
	rng := rand.New(rand.NewPCG(1, 1))
	for range campaigns {
		a := draw(rng)
		for _, j := range a.jobs {
			work += float64(a.cpus) * j.run.Seconds() / campaigns
		}
	}
	return work
}
