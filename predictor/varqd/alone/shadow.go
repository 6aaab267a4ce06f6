package alone

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk"
	"github.com/varq-project/varq/predictor/live/history"
	"github.com/varq-project/varq/predictor/live/ingest"
	"github.com/varq-project/varq/predictor/live/outlook"
	"github.com/varq-project/varq/predictor/live/premises"
	"github.com/varq-project/varq/predictor/live/shadow"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/workload"
)

// Shadow tells what varqd would have promised about the jobs of a user that have started, had it
// been there, and what would have come of it: it replays the past that a Forecaster has read, asks
// about each of her jobs that waited in the time of q when it comes, and learns from it afterwards.
// It calls progress with the percentage that is done.
//
// The nodes are those of today. Of limits on what a user may have at once it knows only that a job
// waited for one.
func Shadow(ctx context.Context, o *Options, q api.ShadowQuery, progress func(percent int)) (api.Shadow, error) {
	cache, _, err := history.Open(pastOf(o.Folder))
	if err != nil {
		return api.Shadow{}, err
	}
	defer cache.Close()
	site, discard := config.Default(), slog.New(slog.DiscardHandler)
	clock := o.Now()
	present := outlook.New(outlook.Options{Confidence: site.Forecast.Confidence, Now: func() int64 { return clock }})
	cluster := ingest.New(ingest.Options{Cache: cache, Now: o.Now, Log: discard})
	is := premises.New(premises.Options{Slurm: o.Slurm, Observe: cluster.ObserveCluster, Loaded: func() error { return nil }, Now: o.Now, Zone: o.Zone, Stale: stale})
	if err := is.Refresh(ctx); err != nil {
		return api.Shadow{}, err
	}
	would := desk.New(desk.Options{
		Premises: is, Outlook: forecasts{present, cluster}, Now: func() int64 { return clock }, Zone: o.Zone, Prob: site.Plan.Prob,
		Confidence: site.Forecast.Confidence, Horizon: site.Plan.Horizon.Seconds(), MaxHold: site.Plan.MaxHold, Log: discard,
	})
	var jobs []workload.Job
	before := 0
	for j, err := range cache.Jobs(ctx, enough) {
		if err != nil {
			return api.Shadow{}, err
		}
		if jobs = append(jobs, j); j.Since() < q.Start {
			before++
		}
	}
	if len(jobs) == 0 {
		return api.Shadow{}, errors.New("no past job is known: accounting shows none, or it is still being read")
	}
	past := shadow.Past{Foresee: would.Foresee, Rand: rand.New(rand.NewPCG(1, 1))}
	m := present.NewModel(cluster.Pools())
	m.Serve()
	n := 0
	err = m.Replay(jobs, before, func(j *workload.Job) error {
		if n++; n%100 == 0 {
			progress(100 * n / len(jobs))
		}
		if clock = j.Since(); j.User == o.User && clock >= q.Start && (q.End == 0 || clock < q.End) {
			return past.Ask(j)
		}
		return ctx.Err()
	})
	return past.Shadow(o.Now()), err
}
