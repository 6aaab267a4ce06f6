// Lastwait is an example of a site's own forecaster of waits. The next wait of a user's job is one
// of the user's last waits in that partition, each as likely as the others. Lastwait knows nothing
// of the queue. Yet it is hard to beat for users who submit the same job again and again.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/live/extern"
	"github.com/varq-project/varq/predictor/workload"
)

func main() {
	n := flag.Int("n", 20, "how many of the last `waits` count")
	flag.Parse()
	if *n < least || flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "usage: lastwait [-n WAITS], at least %d\n", least)
		os.Exit(2)
	}
	extern.Serve(newLastWait(*n), fmt.Sprintf("lastwait 1.0 -n %d", *n))
}

// least is how many waits it takes to say anything.
const least = 5

// queue is where a user waits.
type queue struct{ user, partition string }

// lastWait implements forecast.Forecaster.
type lastWait struct {
	n     int
	waits map[queue][]int64 // seconds, the last n, the newest last
}

func newLastWait(n int) *lastWait { return &lastWait{n: n, waits: map[queue][]int64{}} }

// Name implements forecast.Forecaster. varqd uses the name of its configuration.
func (*lastWait) Name() string { return "lastwait" }

// Submitted implements forecast.Observer.
func (*lastWait) Submitted(*workload.Job) {}

// Started implements forecast.Observer.
func (l *lastWait) Started(j *workload.Job) {
	wait, ok := j.Wait()
	if !ok {
		return
	}
	q := queue{j.User, j.Partition}
	l.waits[q] = append(l.waits[q], wait)
	if len(l.waits[q]) > l.n {
		l.waits[q] = slices.Delete(l.waits[q], 0, 1)
	}
}

// Ended implements forecast.Observer.
func (*lastWait) Ended(*workload.Job) {}

// Forecast implements forecast.Forecaster: the probability of a wait of at most
// so many seconds is the share of the last waits that were no longer. Something
// may always take longer than ever before: one wait more is taken to do so.
func (l *lastWait) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	waits := slices.Sorted(slices.Values(l.waits[queue{q.User, q.Partition}]))
	if len(waits) < least {
		return false
	}
	shorter := 0
	for i := range a.Wait {
		for shorter < len(waits) && float64(waits[shorter]) <= delay.At(i) {
			shorter++
		}
		a.Wait[i] = float64(shorter) / float64(len(waits)+1)
	}
	a.Sample, a.Class = float64(len(waits)), "partition="+q.Partition+" user="+q.User
	return true
}
