package bigsite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

var users = [...]string{"alice", "bob"}

// submission is a command that submits a job.
type submission struct {
	user      string
	command   []string
	reserving bool
}

// plain draws a job without varq's options, for the partition batch.
func (l *lab) plain(random *rand.Rand) submission {
	return l.job(random, "batch", 1+random.IntN(l.mostCPUs()), 60*(2+2*random.IntN(3)), 20+random.IntN(60))
}

// brief draws one for the partition short.
func (l *lab) brief(random *rand.Rand) submission {
	return l.job(random, "short", 1, 1, 20+random.IntN(20))
}

// job is a job whose limit is in minutes, and its run time in seconds.
func (l *lab) job(random *rand.Rand, partition string, size, limit, run int) submission {
	user, _ := who(random)
	return submission{user: user, command: []string{
		"sbatch", "--parsable", "--partition=" + partition, "--ntasks=1", fmt.Sprint("--cpus-per-task=", size), fmt.Sprint("--time=", limit),
		"--output=/dev/null", fmt.Sprint("--wrap=exec sleep ", run),
	}}
}

// lead is how far ahead a deadline is.
type lead int

const (
	later lead = iota // some days
	soon              // some minutes, in the partition short
)

// reserving draws a job with varq's options. Without varq, it has the option --begin instead.
func (l *lab) reserving(random *rand.Rand, lead lead) submission {
	var s submission
	var minutes int
	prob := .5
	if lead == soon {
		s = l.job(random, "short", 1, 1, 30)
		minutes, prob = 4+random.IntN(5), .75
	} else {
		s = l.job(random, "batch", 1+random.IntN(l.mostCPUs()), 360, 3600)
		minutes = 60 * (48 + random.IntN(96))
	}
	s.reserving = true
	if l.site == nil {
		s.command = append(s.command, fmt.Sprintf("--begin=now+%dminutes", minutes))
	} else {
		s.command = append(s.command, fmt.Sprintf("--begin-by=now+%dminutes", minutes), fmt.Sprint("--prob=", prob))
	}
	return s
}

// outcome is what became of a submission.
type outcome int

const (
	accepted outcome = iota // and promised, if that was asked for
	refused                 // by varq
	failed                  // for another reason
)

// answer is what came of a command.
type answer struct {
	outcome outcome
	said    string // why not accepted, with N for numbers
	took    time.Duration
	err     error // of the machine or its Slurm, not of the command
}

// submit runs a command.
func (l *lab) submit(ctx context.Context, s *submission) answer {
	cmd := l.prepare(ctx, s.user, s.command)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := time.Now()
	err := cmd.Run()
	a := answer{took: time.Since(began)}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return a
	case !errors.As(err, &exit) || ctx.Err() != nil:
		a.outcome, a.err = failed, errors.Join(err, ctx.Err())
		return a
	}
	a.said = alike(stderr.String())
	a.outcome = failed
	if s.reserving && strings.Contains(a.said, "no promise: ") {
		a.outcome = refused
	}
	return a
}

var number = regexp.MustCompile(`[0-9][0-9:.TZ-]*`)

// alike is the first line that a command wrote, with N for numbers and times, so that like lines
// are the same.
func alike(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return number.ReplaceAllString(line, "N")
}

// Submissions are commands of a kind. Their latencies are those of the whole command, in
// milliseconds.
type Submissions struct {
	Accepted int `json:"accepted"`
	Refused  int `json:"refused"` // by varq
	Failed   int `json:"failed"`
	// Reasons are why jobs were not accepted, with N for numbers, and how often.
	Reasons map[string]int `json:"reasons,omitempty"`
	P50     float64        `json:"p50_ms"`
	P99     float64        `json:"p99_ms"`
	Max     float64        `json:"max_ms"`

	took []time.Duration
}

func (s *Submissions) add(a answer) {
	switch a.outcome {
	case accepted:
		s.Accepted++
	case refused:
		s.Refused++
	default:
		s.Failed++
	}
	if a.said != "" {
		if s.Reasons == nil {
			s.Reasons = map[string]int{}
		}
		s.Reasons[a.said]++
	}
	s.took = append(s.took, a.took)
}

// close works out the latencies.
func (s *Submissions) close() {
	if len(s.took) == 0 {
		return
	}
	slices.Sort(s.took)
	at := func(q float64) float64 { return s.took[int(math.Ceil(q*float64(len(s.took)-1)))].Seconds() * 1000 }
	s.P50, s.P99, s.Max = at(.5), at(.99), at(1)
}

// pour submits jobs at the rate of the options, for as long as they say, and waits until the last
// command has ended. At most atOnce commands run at the same time: if they take so long, the rate
// is not reached.
func (l *lab) pour(ctx context.Context, f *Figures) error {
	const atOnce = 200
	random := rand.New(rand.NewPCG(5, 6))
	var mu sync.Mutex
	var wait sync.WaitGroup
	var broken error
	room := make(chan struct{}, atOnce)
	began, told := time.Now(), time.Now()
	with, n := 0, 0
	for ; ctx.Err() == nil; n++ {
		due := time.Duration(float64(n) / l.Rate * float64(time.Second))
		if due >= l.Duration || time.Since(began) >= l.Duration {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(began.Add(due))):
		}
		s, kind := l.plain(random), &f.Plain
		if n%briefEvery == 0 {
			s = l.brief(random)
		}
		if float64(with) < float64(n+1)*l.Reserving/l.Rate {
			s, kind = l.reserving(random, later), &f.Reserving
			if with++; with%soonEvery == 0 {
				s = l.reserving(random, soon)
			}
		}
		room <- struct{}{}
		wait.Go(func() {
			defer func() { <-room }()
			a := l.submit(ctx, &s)
			mu.Lock()
			defer mu.Unlock()
			kind.add(a)
			broken = errors.Join(broken, a.err)
		})
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			l.say("%d submitted (%.1f/s), %d under way", n, float64(n)/time.Since(began).Seconds(), len(room))
		}
	}
	wait.Wait()
	f.Rate = float64(n) / time.Since(began).Seconds()
	f.Plain.close()
	f.Reserving.close()
	return errors.Join(broken, ctx.Err())
}

// Of so many jobs one is for the partition short: of all, and of those with varq's options one has
// a deadline that is soon.
const (
	briefEvery = 50
	soonEvery  = 40
)
