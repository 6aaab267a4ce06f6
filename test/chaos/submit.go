package chaos

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/varq-project/varq/test/cluster"
)

// users submit jobs. The last one is an operator, whom Slurm's limits do not bind; she does
// nothing to her jobs afterwards.
var users = []string{"alice", "bob", operator}

const operator = "oper"

// mostAtOnce is how many submissions may be under way at once.
const mostAtOnce = 6

// submitAll submits jobs until the campaign's end, and returns when the last of their users has
// done with them.
func (c *campaign) submitAll(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	pace := c.random(3_000_000)
	turns := make(chan struct{}, mostAtOnce)
	for n := 0; c.o.Submissions == 0 || n < c.o.Submissions; n++ {
		if cluster.Sleep(ctx, time.Duration(pace.ExpFloat64()*float64(c.o.Pace))) != nil {
			return
		}
		turns <- struct{}{}
		all.Go(func() {
			random := c.random(uint64(n))
			s := c.compose(n, random)
			c.submit(context.WithoutCancel(ctx), s, random)
			c.journal.submitted(s)
			<-turns
			if s.Job != 0 {
				c.meddle(ctx, s, random)
			}
		})
	}
}

// kinds of submissions, with their weights. Besides there are hogs.
var kinds = []struct {
	name   string
	weight int
}{
	{"plain", 27}, {"strict", 30}, {"window", 15}, {"best effort", 14}, {"fails after the promise", 4}, {"killed", 5}, {"overrun", 5},
}

func pickKind(random *rand.Rand) string {
	sum := 0
	for _, k := range kinds {
		sum += k.weight
	}
	n := random.IntN(sum)
	for _, k := range kinds {
		if n -= k.weight; n < 0 {
			return k.name
		}
	}
	panic("weights")
}

// A hog is a plain job that takes half of the cluster.
const (
	hogSeconds = 40
	// of all the nodes' time is for hogs; with much more, nothing else can be promised
	hogShare = .3
)

func (c *campaign) hogNodes() int { return max(1, c.Nodes/2) }

// hogs returns which part of the submissions are hogs.
func (c *campaign) hogs() float64 {
	return min(1, hogShare*float64(c.Nodes)*c.o.Pace.Seconds()/(float64(c.hogNodes())*hogSeconds))
}

// The leads of deadlines.
const (
	shortestLead = 30 * time.Second
	longestLead  = 120 * time.Second
)

// compose composes the submission number n.
func (c *campaign) compose(n int, random *rand.Rand) *Submission {
	s := &Submission{
		Name: fmt.Sprintf("c%d", n), User: users[min(random.IntN(7)/3, len(users)-1)], Kind: pickKind(random),
		Limit: int64(1+random.IntN(3)) * 60, Nodes: 1 << min(2, random.IntN(8)/4),
	}
	seconds := 1 + random.IntN(25)
	// Every draw is made for every kind, so that a change to one changes no other.
	lead := c.Paced(shortestLead) + time.Duration(random.Int64N(int64(c.Paced(longestLead-shortestLead))))
	prob := .5 + .05*float64(random.IntN(9))
	opening := .3 + .5*random.Float64()
	cancel := random.IntN(3) == 0
	if random.Float64() < c.hogs() {
		s.Kind = "hog"
	}
	now := time.Now()
	s.Reserved = s.Kind != "plain" && s.Kind != "hog"
	switch s.Kind {
	case "hog":
		s.Args = append(s.Args, "--exclusive")
		s.Nodes, seconds = c.hogNodes(), hogSeconds
	case "overrun":
		s.Limit, seconds = 60, 3600
	}
	if s.Reserved {
		s.Args = append(s.Args, fmt.Sprintf("--begin-by=uts%d", now.Add(lead).Unix()), fmt.Sprintf("--prob=%.2f", prob))
		if cancel {
			s.OnMiss = true
			s.Args = append(s.Args, "--on-miss=cancel")
		}
	}
	switch s.Kind {
	case "window":
		s.Args = append(s.Args, fmt.Sprintf("--begin-after=uts%d", now.Add(time.Duration(opening*float64(lead))).Unix()))
	case "best effort":
		s.Args = append(s.Args, "--best-effort")
	case "fails after the promise":
		s.Args = append(s.Args, "--tmp=1T") // which no node has, and of which varq knows nothing
	}
	s.Args = append(s.Args, fmt.Sprintf("--time=%d", s.Limit/60), fmt.Sprintf("--nodes=%d", s.Nodes), "--job-name="+s.Name, "--requeue",
		"--open-mode=append", "--output="+c.outputs()+"/"+s.Name, c.workFile(), s.Name, strconv.Itoa(seconds), c.stamps())
	return s
}

// command runs a command as a user. A command that takes longer than cluster.Patience counts as
// failed.
func (c *campaign) command(ctx context.Context, user, name string, args ...string) (stdout, stderr string, code int) {
	ctx, cancel := context.WithTimeout(ctx, cluster.Patience)
	defer cancel()
	if strings.HasPrefix(name, "varq") {
		name = c.installed("usr/bin/" + name)
	}
	cmd := c.Command(ctx, user, name, args...)
	cmd.Env = append(cmd.Env, "VARQ_CONFIG="+c.Config())
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	code = exitCode(cmd.Run())
	return out.String(), err.String(), code
}

// exitCode returns a command's exit code, or -1 if a signal ended it or it did not start.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // Run does not wrap it
		return exit.ExitCode()
	}
	return -1
}

// submit submits s, and notes what its user read.
func (c *campaign) submit(ctx context.Context, s *Submission, random *rand.Rand) {
	life := time.Duration(10+random.IntN(150)) * time.Millisecond
	if s.Kind == "killed" {
		s.Killed = true
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, life)
		defer cancel()
	}
	s.Began = now()
	stdout, stderr, code := c.command(ctx, s.User, "sbatch", append([]string{"--parsable"}, s.Args...)...)
	s.Done, s.Code, s.Said = now(), code, stderr
	if id, err := strconv.ParseInt(strings.TrimSpace(stdout), 10, 64); err == nil && code == 0 {
		s.Job = id
	}
	s.Promise = readPromise(stderr)
}

var promised = regexp.MustCompile(`varq: promised: running (?:from (\S+), )?by (\S+?)(,?)(?: as soon as it can,)? with probability (\S+) .*
varq: eligible from (\S+), time limit (\S+)
varq: the work costs .*; the reservation at most (\S+) node-hours`)

// readPromise reads a promise as a user reads it. It returns nil if nothing is promised.
func readPromise(said string) *Promise {
	m := promised.FindStringSubmatch(said)
	if m == nil {
		return nil
	}
	p := &Promise{From: moment(m[1]), BeginBy: moment(m[2]), Prob: m[4], Eligible: moment(m[5]), Limit: m[6]}
	p.BestEffort = strings.Contains(m[0], "as soon as it can")
	p.Ceiling, _ = strconv.ParseFloat(m[7], 64)
	return p
}

// moment reads a time as varq shows it. It returns 0 for "".
func moment(text string) int64 {
	t, err := time.ParseInLocation("2006-01-02T15:04:05", text, time.Local)
	if err != nil {
		return 0
	}
	return t.Unix()
}
