package mixed

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/cluster"
)

// kind is a kind of job, by what its options ask for.
type kind struct {
	name   string
	weight int // of so many in a hundred jobs
	// nodes is how many nodes such a job has, on average.
	nodes   float64
	options func(random *rand.Rand) []string
	// limited is false if the options leave out the time limit.
	limited bool
	// tasks is how many tasks the array has, 0 for a single job.
	tasks int
}

func oneOf(random *rand.Rand, lines ...string) []string {
	return strings.Fields(lines[random.IntN(len(lines))])
}

// kinds are the kinds of jobs.
var kinds = []kind{
	{"any nodes", 22, 1.8, func(r *rand.Rand) []string {
		return oneOf(r, "-N1 -n4", "-N1 -n4", "-N2 -n8", "-N4 -n16", "-n2", "-n4 -c2")
	}, true, 0},
	{"typed GPU", 16, .6, func(r *rand.Rand) []string {
		return oneOf(r, "--gres=gpu:a100:1 -n2", "--gres=gpu:h100:1", "--gpus=a100:2 -N1 -c4", "--gpus-per-node=h100:2 -N1", "-N2 --gres=gpu:a100:1")
	}, true, 0},
	{"any GPU", 6, .5, func(r *rand.Rand) []string { return oneOf(r, "--gpus=1", "--gres=gpu:1 -n2", "-G2 -N1 -c2") }, true, 0},
	{"constraint", 16, 1.3, func(r *rand.Rand) []string {
		return oneOf(r, "-C avx512 -N1 -n4", "-C ib&avx512 -N2 -n8", "-C ib -N1 -n4", "-C [avx512|ib] -N1 -n2")
	}, true, 0},
	{"exclude", 6, 1.2, func(r *rand.Rand) []string {
		return oneOf(r, "--exclude=node[1-12] -N1 -n4", "--exclude=node7 -N2 -n8", "-x node[1-22] -n2")
	}, true, 0},
	{"nodelist", 4, .8, func(r *rand.Rand) []string {
		return []string{fmt.Sprintf("--nodelist=node%d", 1+r.IntN(nodes())), "-n2"}
	}, true, 0},
	{"memory", 7, 1, func(r *rand.Rand) []string {
		return oneOf(r, "--mem=12000", "--mem-per-cpu=3000 -n4 -N1", "--mem=0 -N1")
	}, true, 0},
	{"partitions", 7, 1.2, func(r *rand.Rand) []string {
		return oneOf(r, "-p main,quick -N1 -n4", "-p quick,brief -N2 -n8", "-p quick -n4")
	}, true, 0},
	{"no limit", 5, 1, func(r *rand.Rand) []string { return oneOf(r, "-p brief -N1 -n4", "-p brief -n2 --gres=gpu:1") }, false, 0},
	{"alone", 5, 1.3, func(r *rand.Rand) []string {
		return oneOf(r, "--exclusive -N1", "-N2 --exclusive", "--hint=nomultithread -N1 -n4", "--nice=10 -N1 -n4")
	}, true, 0},
	{"licences", 5, .7, func(r *rand.Rand) []string {
		return oneOf(r, "-L solver:1 -n2", "-L solver:1 -N1 -n4", "-L solver:2 -N1 -n4")
	}, true, 0},
	{"array", 6, 4, func(r *rand.Rand) []string { return oneOf(r, "--array=0-3 -N1 -n4", "--array=1-4 -n4") }, true, 4},
}

// Run times of jobs, in seconds.
const (
	shortest = 10.0
	longest  = 90.0
)

// rate is how many plain jobs are submitted a second for a load.
func rate(load float64) float64 {
	seconds := (longest - shortest) / math.Log(longest/shortest)
	work, weights := 0.0, 0.0
	for _, k := range kinds {
		work += float64(k.weight) * k.nodes * seconds
		weights += float64(k.weight)
	}
	return load * float64(nodes()) * weights / work
}

func draw(random *rand.Rand) *kind {
	n := 0
	for _, k := range kinds {
		n += k.weight
	}
	n = random.IntN(n)
	for i := range kinds {
		if n -= kinds[i].weight; n < 0 {
			return &kinds[i]
		}
	}
	panic("weights")
}

// job is a job of the campaign, and what became of it.
type job struct {
	kind *kind
	Name string
	User string
	Args []string // of sbatch, without the work
	Run  int      // seconds

	// Mode, Prob and Deadline (Unix seconds) are those of a request for a promise. Prob is 0 without
	// one.
	Mode     string
	Prob     float64
	Deadline int64
	// Patience is after how many seconds the user took the offer that the job is, or 0, and Kept
	// whether its room was kept for her.
	Patience int
	Kept     bool
	// InTime is true if the promise was certainly kept, and Late if it was certainly not.
	InTime, Late bool

	// ID is the job's number, 0 if it was refused, and Said what sbatch wrote then.
	ID   int64
	Said string
	// Forecast has the quantiles of a plain job's wait, in seconds; nil if they are not known.
	Forecast map[float64]*float64
}

// quantiles are those that are asked for.
var quantiles = []float64{.5, .95}

// users are those who submit: many, as varq keeps room for few of the offers to each of them.
var users = cluster.Crowd(40)

// compose draws what all jobs have.
func compose(name string, random *rand.Rand) *job {
	j := &job{kind: draw(random), Name: name, Run: int(shortest * math.Pow(longest/shortest, random.Float64()))}
	j.User = users[random.IntN(len(users))].Name
	j.Args = j.kind.options(random)
	limit := 1 + int(float64(j.Run)*(1+2*random.Float64())/60)
	if j.kind.limited {
		j.Args = append(j.Args, fmt.Sprint("--time=", limit))
	}
	return j
}

// plain composes a job without a promise.
func (c *campaign) plain(n int, random *rand.Rand) *job {
	return compose(fmt.Sprint("plain", n), random)
}

// The modes of a promise.
const (
	strict     = "held until the deadline"
	window     = "held until some time before"
	bestEffort = "not held"
	finish     = "to end by the deadline"
)

var modes = []string{strict, strict, window, bestEffort, finish}

// promising composes a job for which a promise is asked.
func (c *campaign) promising(n int, random *rand.Rand) *job {
	j := compose(fmt.Sprint("promised", n), random)
	j.Mode, j.Prob = modes[random.IntN(len(modes))], []float64{.5, .7, .9, .95}[random.IntN(4)]
	lead := c.Paced(time.Duration(60+random.IntN(240)) * time.Second)
	now := time.Now()
	by := "--begin-by"
	if j.Mode == finish {
		lead += 3 * time.Minute // as such a job may take
		by = "--finish-by"
	}
	j.Deadline = now.Add(lead).Unix()
	j.Args = append(j.Args, fmt.Sprintf("%s=uts%d", by, j.Deadline), fmt.Sprint("--prob=", j.Prob))
	switch j.Mode {
	case window:
		j.Args = append(j.Args, fmt.Sprintf("--begin-after=uts%d", now.Add(lead/2).Unix()))
	case bestEffort:
		j.Args = append(j.Args, "--best-effort")
	}
	return j
}

// work is the script of every job. It writes when the work begins and ends into a file of the job's
// name.
const work = `#!/bin/sh
echo begin $(date +%s) $SLURM_JOB_ID >>"$2/$SLURM_JOB_NAME"
sleep "$1"
echo end $(date +%s) $SLURM_JOB_ID >>"$2/$SLURM_JOB_NAME"
`

func (c *campaign) script() string { return c.Path("jobs", "work.sh") }
func (c *campaign) stamps() string { return c.Path("jobs", "stamps") }

func (c *campaign) prepare() error {
	if err := os.WriteFile(c.script(), []byte(work), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(c.stamps(), 0o755); err != nil {
		return err
	}
	return os.Chmod(c.stamps(), 0o777|os.ModeSticky)
}

// submit asks how long a plain job will wait, and submits the job.
func (c *campaign) submit(ctx context.Context, j *job) {
	if j.Prob == 0 && j.kind.tasks == 0 {
		j.Forecast = c.forecast(ctx, j)
	}
	args := append(append([]string{"--parsable", "--job-name=" + j.Name, "--output=/dev/null"}, j.Args...), c.script(), strconv.Itoa(j.Run), c.stamps())
	r, err := c.Run(ctx, j.User, "sbatch", args...)
	j.Said = r.Stderr
	if err != nil {
		j.Said += err.Error()
	} else if r.Code == 0 {
		j.ID, _ = strconv.ParseInt(strings.TrimSpace(r.Stdout), 10, 64)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jobs = append(c.jobs, j)
}

// forecast returns the quantiles of the wait of a job that is not submitted yet.
func (c *campaign) forecast(ctx context.Context, j *job) map[float64]*float64 {
	args := []string{"predict", "--json"}
	for _, q := range quantiles {
		args = append(args, fmt.Sprint("--quantile=", q))
	}
	r, err := c.Run(ctx, j.User, "varq", append(args, j.Args...)...)
	var p api.Prediction
	if err != nil || r.Code != 0 || json.Unmarshal([]byte(r.Stdout), &p) != nil {
		j.Said = r.Stderr
		return nil
	}
	of := map[float64]*float64{}
	for _, b := range p.Bounds {
		of[b.Quantile] = b.Expected
	}
	return of
}
