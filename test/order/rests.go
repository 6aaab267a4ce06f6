package order

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// rests is how near forecasts of one number came to the rests of waits, in seconds of the
// recording, by block.
type rests struct {
	off  [blocks]float64 // sums of absolute errors
	near [blocks]score.Nearness
	by   [blocks]stats.Count // that had started by then
}

func (r *rests) add(block int, said, came float64) {
	r.off[block] += math.Abs(said-came) / Quicker
	r.near[block].Add(said/Quicker, came/Quicker)
	r.by[block].Add(came <= said)
}

// CompareRests replays the recording with each of Known, asks about jobs while they wait, and
// writes how near medians of the rest of the wait came to it, beside the time at which Slurm itself
// expected the job to start. After the first quarter of the time all are scored for which Slurm
// expected a start. Seconds are those of the recording: the estimate is stretched as all else is,
// and what comes of it shrinks again.
func (r *Recording) CompareRests(to io.Writer) error {
	if len(r.outlooks) == 0 {
		_, err := fmt.Fprintln(to, "The recording does not tell when Slurm expected jobs to start.")
		return err
	}
	first, last := r.outlooks[0].at, r.outlooks[len(r.outlooks)-1].at
	return r.beside(to, "a job was asked about that waited", first, last, func(k Knowledge, ask estimate) {
		r.ReplayRests(k, func(j *workload.Job, now, expected int64, f forecast.Forecaster) {
			ask(restOf(j, now), expected, j.Start, f)
		})
	})
}

// CompareTested is CompareRests of whole waits, beside what sbatch --test-only said just before the
// jobs were submitted.
func (r *Recording) CompareTested(to io.Writer) error {
	if len(r.tested) == 0 {
		_, err := fmt.Fprintln(to, "The recording does not tell what sbatch --test-only said.")
		return err
	}
	return r.beside(to, "a job was asked about before its submission", r.jobs[0].Submit, r.jobs[len(r.jobs)-1].Submit, func(k Knowledge, ask estimate) {
		r.Replay(k, func(j *workload.Job, submitted bool, f forecast.Forecaster) {
			if expected := r.tested[j.ID]; expected != 0 && !submitted {
				q := forecast.AtSubmission(j)
				q.Job = 0
				ask(q, max(expected, q.Now), j.Start, f)
			}
		})
	})
}

// estimate asks a forecaster a question about a job that Slurm expects to start at a time, and that
// starts at another.
type estimate func(q forecast.Question, expected, start int64, f forecast.Forecaster)

// beside writes how near medians came to the waits that a replay asks about, beside Slurm's
// estimates, from the first quarter of the time between first and last on.
func (r *Recording) beside(to io.Writer, asks string, first, last int64, replay func(Knowledge, estimate)) error {
	first += (last - first) / 4
	slurm, all, holds := rests{}, make([]rests, len(Known)), make([][blocks]stats.Count, len(Known))
	asked, none := 0, 0
	for i, k := range Known {
		slurm, asked, none = rests{}, 0, 0
		replay(k, func(q forecast.Question, expected, start int64, f forecast.Forecaster) {
			if q.Now < first {
				return
			}
			asked++
			if expected < q.Now {
				none++
				return
			}
			var a forecast.Answer
			f.Forecast(&q, &a)
			came := float64(start - q.Now)
			block := int(blocks * (q.Now - first) / (last - first + 1))
			slurm.add(block, float64(expected-q.Now), came)
			all[i].add(block, min(a.Wait.Quantile(.5), delay.At(delay.Points-1)), came)
			holds[i][block].Add(came <= a.Wait.Quantile(.9))
		})
	}
	fmt.Fprintf(to, "%d times %s, after the first quarter of the time; in %d of them Slurm expected no start, and they are not scored\n\n", asked, asks, none)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "forecast\toff by, s\tof Slurm's\twithin 1 min\twithin 10 min\twithin a factor of 2\tstarted by then\tby the .9 quantile")
	slurm.write(w, "Slurm's", &slurm, "-")
	for i, k := range Known {
		all[i].write(w, k.Name, &slurm, share(holds[i][:]))
	}
	return w.Flush()
}

// restOf returns the question how much longer a job waits.
func restOf(j *workload.Job, now int64) forecast.Question {
	return forecast.Question{Request: j.Request, Now: now, Submit: now, Job: j.ID, Since: j.Since()}
}

// write writes a line about forecasts, beside others of the same jobs.
func (r *rests) write(to io.Writer, name string, beside *rests, holds string) {
	var minute, ten, double [blocks]stats.Count
	ratios, off, n := make([]stats.Ratio, blocks), 0., 0
	for b := range blocks {
		near := &r.near[b]
		minute[b] = stats.Count{N: near.Minute, Of: near.Forecasts}
		ten[b] = stats.Count{N: near.TenMinutes, Of: near.Forecasts}
		double[b] = stats.Count{N: near.Double, Of: near.Forecasts}
		ratios[b] = stats.Ratio{Sum: r.off[b], Of: beside.off[b]}
		off, n = off+r.off[b], n+near.Forecasts
	}
	fmt.Fprintf(to, "%s\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s\n", name, off/float64(max(1, n)), of(ratios), share(minute[:]), share(ten[:]), share(double[:]), share(r.by[:]), holds)
}
