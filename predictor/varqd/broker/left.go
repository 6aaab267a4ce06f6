package broker

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Left is a job that may be left at a site without varqd, where it cannot run.
type Left struct {
	Site string `json:"site"`
	Plan string `json:"plan"` // which its comment names
	// Until is when its Slurm cancels it, Unix seconds.
	Until int64 `json:"until"`
}

// DoubtfulSite is a site where a failed submission may leave a job of which nobody knows.
type DoubtfulSite interface {
	Site
	// Settle drops once more what failed submissions may have left, until ctx is done, and returns
	// what may be left still.
	Settle(ctx context.Context) []Left
}

// settleTime is how long it may take to settle what is in doubt.
const settleTime = 5 * time.Second

// left settles what is in doubt at all sites, also if ctx is done, and returns what may be left
// still.
func left(ctx context.Context, sites []Site) []Left {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	lists := make([][]Left, len(sites))
	var wait sync.WaitGroup
	for i := range sites {
		if s, is := sites[i].(DoubtfulSite); is {
			wait.Go(func() { lists[i] = s.Settle(ctx) })
		}
	}
	wait.Wait()
	return slices.Concat(lists...)
}
