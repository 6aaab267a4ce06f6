package prompt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/promise/checkpoint"
)

const (
	hour = time.Hour
	day  = 24 * hour
)

// TestRun: want has the minutes, after its begin, at which an application is prompted. Each
// checkpoint takes its cost. The application ends after four days unless it is stopped before.
func TestRun(t *testing.T) {
	daily := checkpoint.Constant(1 / day.Seconds())
	lead := func(s Settings, lead time.Duration) Settings {
		s.Lead = lead
		return s
	}
	s := Settings{Cost: 12 * time.Minute, Interval: hour, Lead: 12 * time.Minute}
	final := Settings{Cost: 5 * time.Minute, Lead: 5 * time.Minute}
	guess := final
	guess.Guessed = true
	for name, test := range map[string]struct {
		Settings
		hazard checkpoint.Hazard // nil if nobody knows
		ends   time.Duration     // 0 if nobody knows
		// a minute before the end, or at change, the limit becomes this
		later       time.Duration
		change      time.Duration
		maintenance time.Duration
		drained     time.Duration
		ready       time.Duration // from then on
		want        []time.Duration
		says        string
	}{
		"costs nothing": {Settings: Settings{Interval: hour, Lead: time.Minute}, hazard: daily, ends: 2 * hour, want: []time.Duration{60 * time.Minute, 119 * time.Minute}},
		"safe":          {Settings: s, hazard: checkpoint.Constant(0)},
		"at risk": {Settings: s, hazard: daily, ends: 14 * hour, want: []time.Duration{
			180 * time.Minute, 342 * time.Minute, 504 * time.Minute, 665 * time.Minute, 14*hour - 12*time.Minute}},
		"stopped":                   {Settings: s, hazard: checkpoint.Constant(0), ends: 90 * time.Minute, want: []time.Duration{78 * time.Minute}},
		"needs long":                {Settings: lead(s, 40*time.Minute), hazard: checkpoint.Constant(0), ends: 90 * time.Minute, want: []time.Duration{50 * time.Minute}},
		"longer than the job":       {Settings: lead(s, 2*hour), hazard: checkpoint.Constant(0), ends: 90 * time.Minute, want: []time.Duration{78 * time.Minute}},
		"shorter than its cost":     {Settings: s, hazard: checkpoint.Constant(0), ends: 10 * time.Minute},
		"shorter than a guess":      {Settings: guess, hazard: checkpoint.Constant(0), ends: 4 * time.Minute, want: []time.Duration{2 * time.Minute}},
		"as short, for maintenance": {Settings: guess, hazard: checkpoint.Constant(0), ends: day, maintenance: 4 * time.Minute, want: []time.Duration{2 * time.Minute}},
		"longer than a guess":       {Settings: guess, hazard: checkpoint.Constant(0), ends: 6 * time.Minute, want: []time.Duration{time.Minute}},
		"nobody knows the risk":     {Settings: s, ends: 2 * hour, want: []time.Duration{108 * time.Minute}, says: "varq: the risk of the nodes is not known:; varqd is away\n"},
		"a maintenance":             {Settings: s, hazard: checkpoint.Constant(0), ends: day, maintenance: 3 * hour, want: []time.Duration{168 * time.Minute}},
		"only before it ends":       {Settings: final, hazard: checkpoint.Constant(1 / hour.Seconds()), ends: 6 * hour, want: []time.Duration{6*hour - 5*time.Minute}},
		"only before, drained":      {Settings: final, hazard: daily, drained: 2*hour - time.Second, want: []time.Duration{121 * time.Minute}},
		"not ready":                 {Settings: s, hazard: daily, ends: 10 * hour, ready: 181 * time.Minute, want: []time.Duration{190 * time.Minute, 382 * time.Minute, 588 * time.Minute}, says: "the application is not prompted: it takes no signal\n"},
		"not ready at last":         {Settings: final, hazard: daily, ends: 6 * hour, ready: 6*hour - 3*time.Minute, want: []time.Duration{6*hour - 3*time.Minute}, says: "the application is not prompted: it takes no signal\n"},
		"given more time":           {Settings: final, hazard: daily, ends: 1 * hour, later: 3 * hour, want: []time.Duration{55 * time.Minute, 175 * time.Minute}},
		// A changed limit is noticed: a cut soon, and a raise both before and after the last
		// prompt.
		"cut":                        {Settings: final, hazard: daily, ends: 3 * hour, later: 30 * time.Minute, change: 10 * time.Minute, want: []time.Duration{25 * time.Minute}},
		"raised before":              {Settings: final, hazard: daily, ends: 1 * hour, later: 3 * hour, change: 54*time.Minute + 50*time.Second, want: []time.Duration{175 * time.Minute}},
		"raised after a while":       {Settings: final, hazard: daily, ends: 1 * hour, later: 3 * hour, change: 57 * time.Minute, want: []time.Duration{55 * time.Minute, 175 * time.Minute}},
		"the end is not to be known": {Settings: final, hazard: daily, ends: -1, says: "nobody knows until when the job may run: no Slurm"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				life := 4 * day
				if test.ends > 0 {
					life = max(test.ends, test.later)
				}
				ctx, cancel := context.WithTimeout(t.Context(), life)
				defer cancel()
				var prompts []time.Duration
				var log strings.Builder
				p := Prompter{Settings: test.Settings, Log: &log}
				p.End = func() (int64, error) {
					switch {
					case test.ends < 0:
						return 0, errors.New("no Slurm")
					case test.ends == 0:
						return 0, nil
					case test.change > 0 && time.Since(began) >= test.change, test.change == 0 && test.later > 0 && time.Since(began) > test.ends-time.Minute:
						return began.Add(test.later).Unix(), nil
					}
					return began.Add(test.ends).Unix(), nil
				}
				p.Tell = func(_ context.Context, r *checkpoint.Request) error {
					if test.hazard == nil {
						return errors.New("not known:\nvarqd is away")
					}
					r.Hazard = test.hazard
					if test.maintenance > 0 {
						r.Ends = min(r.Ends, (test.maintenance - time.Since(began)).Seconds())
					}
					since := time.Duration(r.Since * float64(time.Second))
					r.Warned = test.drained > 0 && time.Since(began) >= test.drained && time.Since(began)-since < test.drained
					return nil
				}
				p.Ready = func() error {
					if time.Since(began) < test.ready {
						return errors.New("it takes no signal")
					}
					return nil
				}
				p.Prompt = func(ctx context.Context, _ string) error {
					prompts = append(prompts, time.Since(began).Round(time.Minute))
					sleep(ctx, p.Cost)
					return nil
				}
				p.Run(ctx)
				if test.maintenance > 0 { // it would have been stopped
					prompts = prompts[:min(1, len(prompts))]
				}
				if diff := cmp.Diff(fmt.Sprint(test.want), fmt.Sprint(prompts)); diff != "" {
					t.Errorf("prompts %s", diff)
				}
				if n := strings.Count(log.String(), test.says); test.says != "" && n != 1 {
					t.Errorf("it says %d times %q:\n%s", n, test.says, &log)
				}
			})
		})
	}
}
