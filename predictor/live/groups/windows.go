package groups

import (
	"context"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/joint"
)

// LearnDelay takes in that a job has started at this site, whose name is Options.Site, and the rank
// of the job's wait under its forecast. If varqd is killed, it forgets what it has learnt in the
// last storeEvery seconds.
func (g *Groups) LearnDelay(eligible int64, rank float64) {
	if g.Site == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.model.Learn(g.Site, eligible, g.Now(), rank)
	g.fresh = true
}

// Delays tells a peer what is known of this site's delays. For anybody else the fault is
// api.ErrForbidden.
func (g *Groups) Delays(_ context.Context, asker string) (api.Delays, error) {
	if g.Peer(asker) == nil {
		return api.Delays{}, api.Fault(api.ErrForbidden, "only the varqds of other sites may see how the delays of this one go")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	d := api.Delays{Windows: []api.DelayWindow{}}
	for _, w := range g.model.Windows(g.Site) {
		d.Windows = append(d.Windows, api.DelayWindow{Hour: w.Hour, Jobs: w.N, Sum: w.Sum, Squares: w.Squares})
	}
	return d, nil
}

// SetDelays takes in what another site reports of its delays. It returns an error if the report
// cannot be true.
func (g *Groups) SetDelays(site string, d api.Delays) error {
	windows := make([]joint.Window, len(d.Windows))
	for i, w := range d.Windows {
		windows[i] = joint.Window{Hour: w.Hour, N: w.Jobs, Sum: w.Sum, Squares: w.Squares}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if site == g.Site {
		return nil // the site knows its own delays better
	}
	err := g.model.SetWindows(site, windows)
	g.fresh = g.fresh || err == nil
	return err
}
