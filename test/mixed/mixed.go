// Package mixed is a campaign on a private Slurm whose nodes differ. They have GPUs of two types,
// several features, or much memory. Users submit jobs of many kinds all the time. Before each plain
// job its user asks how long it will wait; other jobs ask for promises. At the end the waits are
// compared with the forecasts, and what the jobs themselves wrote with what was promised.
package mixed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
)

// Options describe a campaign.
type Options struct {
	Seed uint64
	// Warm is how long only plain jobs are submitted, from which varqd learns, and Duration how long
	// promises are asked for after that.
	Warm, Duration time.Duration
	// Pace is the mean time between two requests for a promise.
	Pace time.Duration
	// Load is how busy the plain jobs would keep the cluster by themselves.
	Load    float64
	Version cluster.Version
	// Progress receives messages; nil discards them.
	Progress io.Writer
}

// Usual returns the options of a campaign of some 300 promises, without a Version.
func Usual() Options {
	return Options{Seed: 40, Warm: 10 * time.Minute, Duration: time.Hour, Pace: 6 * time.Second, Load: .7}
}

// campaign is a campaign that runs.
type campaign struct {
	*site.Site
	o Options

	mu   sync.Mutex
	jobs []*job
}

// Run runs a campaign. ctx ends it early, with an error.
func Run(ctx context.Context, o Options) (_ *Report, err error) {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	s, err := site.Start(ctx, site.Options{
		Nodes: nodes(), Kinds: kindsOfNodes(), GresConf: gresConf(), SlurmConf: slurmConf(), Version: o.Version, Crowd: len(users), Progress: o.Progress,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	c := &campaign{Site: s, o: o}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	var both sync.WaitGroup
	failures := make([]error, 2)
	both.Go(func() { failures[0] = c.submitAll(ctx, c.plain, o.Warm+o.Duration, 1/rate(o.Load), 1) })
	both.Go(func() {
		if failures[1] = cluster.Sleep(ctx, o.Warm); failures[1] == nil {
			failures[1] = c.submitAll(ctx, c.promising, o.Duration, o.Pace.Seconds(), 2)
		}
	})
	both.Wait()
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	return c.judge(ctx)
}

// submitAll composes jobs and submits them, for a time, at random intervals with a mean in seconds.
func (c *campaign) submitAll(ctx context.Context, compose func(n int, random *rand.Rand) *job, during time.Duration, interval float64, part uint64) error {
	random := rand.New(rand.NewPCG(c.o.Seed, part))
	end := time.Now().Add(during)
	var under sync.WaitGroup
	defer under.Wait()
	turns := make(chan struct{}, mostAtOnce)
	told := time.Now()
	for n := 0; ; n++ {
		if err := cluster.Sleep(ctx, time.Duration(random.ExpFloat64()*interval*float64(time.Second))); err != nil || time.Now().After(end) {
			return err
		}
		j := compose(n, random)
		turns <- struct{}{}
		under.Go(func() {
			c.submit(ctx, j)
			<-turns
			if j.Prob != 0 && j.ID == 0 {
				c.takeOffer(ctx, j, rand.New(rand.NewPCG(c.o.Seed, uint64(n))))
			}
		})
		if time.Since(told) > time.Minute {
			told = time.Now()
			c.Say("%s", c.counts())
		}
	}
}

// mostAtOnce is how many commands that submit may run at once, of each part.
const mostAtOnce = 8

// counts says how many jobs have been submitted so far.
func (c *campaign) counts() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	plain, asked, promised := 0, 0, 0
	for _, j := range c.jobs {
		switch {
		case j.Prob == 0:
			plain++
		case j.ID != 0:
			promised++
			fallthrough
		default:
			asked++
		}
	}
	return fmt.Sprintf("%d plain jobs, %d requests, %d promises", plain, asked, promised)
}
