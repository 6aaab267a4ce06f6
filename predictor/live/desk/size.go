package desk

import (
	"context"
	"errors"
	"math"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/promise/moldable"
)

// Size tells which of several sizes is best for user's job if it is submitted now (Downey 1997).
// The answer is a forecast, and not a promise. The errors are faults of package api.
func (d *Desk) Size(ctx context.Context, user string, req *api.SizeRequest) (api.SizeAnswer, error) {
	f, err := d.forecastSizes(ctx, user, req, 0)
	if err != nil {
		return api.SizeAnswer{}, err
	}
	rules := moldable.Rules{By: moldable.Least, Aversion: req.Aversion}
	if req.By == api.SizeCost {
		rules.By = moldable.Cheapest
	}
	best, ok := rules.Choose(f.options)
	if !ok {
		return api.SizeAnswer{}, f.refused
	}
	return api.SizeAnswer{Best: f.of[best], Sizes: f.sizes}, nil
}

// SizeOptions returns the sizes that the cluster allows for user's waiting job. of has their
// indices in the request. Each size is forecast as if the job were submitted anew with it, behind
// all jobs that wait now. So the present size has no advantage over the others. And no size seems
// better than it is, because the job keeps its age.
func (d *Desk) SizeOptions(ctx context.Context, user string, req *api.SizeRequest, job int64) (options []moldable.Option, of []int, err error) {
	f, err := d.forecastSizes(ctx, user, req, job)
	return f.options, f.of, err
}

// sizeForecasts is what is expected of the sizes of a request.
type sizeForecasts struct {
	sizes   []api.SizeForecast
	options []moldable.Option // of the sizes that the cluster allows
	of      []int             // their indices in sizes
	refused error             // why the cluster does not allow one of the sizes, the last of these
}

// forecastSizes forecasts the sizes of a request. id is the id of a job that waits already, or 0.
func (d *Desk) forecastSizes(ctx context.Context, user string, req *api.SizeRequest, id int64) (f sizeForecasts, err error) {
	f.sizes = make([]api.SizeForecast, len(req.Sizes))
	for i := range req.Sizes {
		size := &req.Sizes[i]
		f.sizes[i] = api.SizeForecast{Nodes: size.Nodes, Limit: size.Limit}
		job := req.Job
		job.Size, job.Limit = size.Size, size.Limit
		p, err := d.Forecast(ctx, user, &api.PredictRequest{Job: job, Needs: req.Needs.On(size.Nodes), Quantiles: moldable.Quantiles()}, id)
		if errors.Is(err, api.ErrInvalid) {
			f.sizes[i].Refused, f.refused = err.Error(), err
			continue
		}
		if err != nil {
			return sizeForecasts{}, err
		}
		o := moldable.Option{Nodes: size.Nodes, Wait: expectedWait(&p), Run: float64(size.Limit), Cost: float64(size.Nodes) * float64(size.Limit)}
		if !math.IsInf(o.Wait, 1) {
			f.sizes[i].Wait = &o.Wait
		}
		f.options, f.of = append(f.options, o), append(f.of, i)
	}
	return f, nil
}

// expectedWait returns the expected wait of a prediction with moldable.Quantiles, or +Inf if too
// little is known.
func expectedWait(p *api.Prediction) float64 {
	var quantiles []delay.Quantile
	for _, b := range p.Bounds {
		if b.Expected == nil {
			break
		}
		quantiles = append(quantiles, delay.Quantile{Q: b.Quantile, Seconds: *b.Expected})
	}
	wait := delay.Through(quantiles)
	return moldable.Wait(&wait)
}
