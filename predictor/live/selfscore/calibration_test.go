package selfscore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/live/scores"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

func TestCalibration(t *testing.T) {
	file, err := statefile.Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	r := Reader{Scores: scores.New(file), Now: func() int64 { return now }}
	var w scores.Changes
	for i := range int64(40) {
		f := scores.Forecast{Submission: workload.Submission{ID: i}, Eligible: now - 86400*(i%20), Forecaster: "blend", Partition: []string{"batch", "gpu"}[i%2], Class: "nodes=1"}
		for k := range f.Delay {
			f.Delay[k] = min(1, delay.At(k)/1000)
		}
		w.Begun = append(w.Begun, f)
		w.Started = append(w.Started, scores.Outcome{Submission: f.Submission, Eligible: f.Eligible, At: f.Eligible + 25*i})
	}
	for _, forecaster := range []string{completion.Name, "twin"} {
		f := scores.Forecast{Submission: workload.Submission{ID: 100}, Eligible: now - 20*86400, Forecaster: forecaster}
		w.Begun = append(w.Begun, f)
		w.Started = append(w.Started, scores.Outcome{Submission: f.Submission, Eligible: f.Eligible, At: f.Eligible + 60})
		w.Ended = append(w.Ended, scores.Outcome{Submission: f.Submission, Eligible: f.Eligible, At: f.Eligible + 600})
	}
	if _, err := r.Scores.Score(t.Context(), w, rand.New(rand.NewPCG(1, 1))); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		q    api.CalibrationQuery
		want []string
	}{
		{api.CalibrationQuery{}, []string{"blend wait 40", "twin wait 1", "completion end 1"}},
		{api.CalibrationQuery{By: "partition", Start: now - 19*86400}, []string{"blend wait 20", "blend wait 20"}},
		{api.CalibrationQuery{By: "class", Partition: "gpu"}, []string{"blend wait 20"}},
		{api.CalibrationQuery{Start: now - 9*86400}, []string{"blend wait 20"}},
		{api.CalibrationQuery{Start: now - 9*86400, End: now - 86400}, []string{"blend wait 18"}},
		{api.CalibrationQuery{Forecaster: "qbets"}, nil},
		{api.CalibrationQuery{Forecaster: "completion"}, []string{"completion end 1"}},
		{api.CalibrationQuery{Class: "nodes=2"}, nil},
	} {
		got, err := r.Rows(t.Context(), test.q)
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		for _, r := range got.Rows {
			rows = append(rows, fmt.Sprint(r.Forecaster, " ", r.Of, " ", r.Forecasts))
			if len(r.Quantiles) != len(score.Levels) || r.Quantiles[0].Quantile != score.Levels[0] || len(r.Reliability) == 0 ||
				r.Near[0].Said != "median" || r.Near[0].Forecasts != r.Forecasts {
				t.Errorf("%+v: %+v", test.q, r)
			}
		}
		if !slices.Equal(rows, test.want) {
			t.Errorf("%+v: rows %q, want %q", test.q, rows, test.want)
		}
	}
}

// The jobs of one user wait for longer than is forecast, on every day. She and operators are told
// whose they are, others only that there is such a user.
func TestWorst(t *testing.T) {
	f := start(t)
	r := rand.New(rand.NewPCG(5, 5))
	truth := forecasttest.ExponentialOrNone(.5, 600)
	end := int64(now + 80*86400)
	var waiting []slurm.QueueEntry
	for i, at := int64(0), int64(now); at < end; i, at = i+1, at+6*3600 {
		var queue []slurm.QueueEntry
		for _, j := range waiting {
			if j.Start <= at {
				queue = append(queue, j)
			}
		}
		var next []slurm.QueueEntry
		for k := range int64(6) {
			j := job(6*i+k, at, 0)
			j.User = []string{"lucky", "unlucky"}[k%2]
			queue = append(queue, j)
			j.Start = at + int64(math.Ceil(truth.Quantile(r.Float64())))
			if j.User == "unlucky" {
				j.Start += 600
			}
			j.Start = min(j.Start, at+6*3600-1)
			next = append(next, j)
		}
		f.look(t, at, queue...)
		waiting = next
	}
	reader := Reader{Scores: f.scores, Now: func() int64 { return end }, Operator: func(user string) bool { return user == "root" }}
	for user, named := range map[string]string{"root": "unlucky", "unlucky": "unlucky", "lucky": ""} {
		c, err := reader.Calibration(t.Context(), user, api.CalibrationQuery{Start: end - 86400})
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Worst) == 0 || len(c.Worst) > 12 {
			t.Fatalf("%s is told of %d groups", user, len(c.Worst))
		}
		g := c.Worst[slices.IndexFunc(c.Worst, func(g api.GroupCoverage) bool { return g.By == "user" })]
		if g.Forecaster != "blend" || g.Of != api.OfWait || g.Value != named || g.Jobs < 900 || g.Off <= 0 ||
			len(g.Quantiles) != len(score.Levels) || g.Quantiles[0].High >= .5 {
			t.Errorf("%s is told %+v", user, g)
		}
	}
	for _, q := range []api.CalibrationQuery{{Partition: "batch"}, {Class: "nodes=1"}, {Forecaster: "nobody"}, {End: now - 86400}} {
		if c, err := reader.Calibration(t.Context(), "root", q); err != nil || c.Worst != nil {
			t.Errorf("%+v: %+v, %v", q, c.Worst, err)
		}
	}
}
