package plot

import (
	"errors"
	"io"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/plot/axes"
	"github.com/varq-project/varq/predictor/plot/sheet"
)

// Trajectory is a picture of the forecasts for a request: the probability of a start by the
// deadline, by the time at which the job becomes eligible. It also shows the plan, if there
// is one.
type Trajectory struct {
	Title    string
	Points   []api.Point // in increasing order of BeginTime
	Prob     float64     // the probability asked for, 0 if that is not known
	BeginBy  int64       // the deadline, Unix seconds
	Plan     *api.Plan   // nil when refused
	Location *time.Location
}

// Write draws the picture in a format, "svg" or "png". It fails if w fails, or
// with ErrNothing.
func (t *Trajectory) Write(w io.Writer, format string) error {
	if len(t.Points) == 0 || t.BeginBy <= t.Points[0].BeginTime {
		return errors.New("nothing to draw: no submission before the deadline was forecast")
	}
	p := t.plot()
	return write(w, format, func(c sheet.Canvas) {
		p.Draw(c.Crop(0, 15, 0, 0)) // beside which the probability is named
	})
}

// plot returns the axes with the layers.
func (t *Trajectory) plot() *axes.Plot {
	p := newAxes(t.Title, "the job becomes eligible at", "probability of a start by "+clock(t.BeginBy, t.Location))
	p.X.Min, p.X.Max = float64(t.Points[0].BeginTime), float64(t.BeginBy)
	p.Y.Min, p.Y.Max = 0, 1
	p.X.Marker = clockTicks{t.BeginBy, t.Location}
	p.Y.Marker = percentTicks{}
	p.Add(layers{t})
	return p
}
