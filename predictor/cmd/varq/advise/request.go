package advise

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/promise/checkpoint"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// request makes the request of the options and of the job's environment, but for the hazard.
func (f *flags) request(env *cli.Env) (r *checkpoint.Request, err error) {
	r = &checkpoint.Request{}
	for _, option := range []struct {
		name, text string
		value      *float64
		optional   bool
	}{
		{"cost", f.cost, &r.Cost, false},
		{"interval", f.interval, &r.Interval, false},
		{"left", f.left, &r.Left, true},
	} {
		switch {
		case f.given(option.name):
			if *option.value, err = span("--"+option.name, option.text); err != nil {
				return nil, err
			}
		case !option.optional:
			return nil, fmt.Errorf("--%s is missing", option.name)
		}
	}
	r.Done = f.given("left") && r.Left == 0
	if r.Ends, err = f.ends(env); err != nil {
		return nil, err
	}
	if f.given("deadline") {
		if !f.given("left") {
			return nil, errors.New("--deadline needs --left: how long the work still takes")
		}
		at, err := env.Time("--deadline", f.deadline)
		if err != nil {
			return nil, err
		}
		r.Deadline = float64(at - env.Now())
	}
	r.Since = f.since * r.Interval
	return r, nil
}

// check returns an error that names the option of what is out of bounds in a request.
func (f *flags) check(r *checkpoint.Request) error {
	err := r.Check()
	if errors.Is(err, checkpoint.ErrSince) {
		return fmt.Errorf("--since-last: %v is not between 0 and %.0f intervals", f.since, checkpoint.Longest/r.Interval)
	}
	for _, option := range []struct {
		of   error
		name string
	}{
		{checkpoint.ErrCost, "--cost"}, {checkpoint.ErrInterval, "--interval"}, {checkpoint.ErrLeft, "--left"},
		{checkpoint.ErrEnds, "--end"}, {checkpoint.ErrDeadline, "--deadline"}, {checkpoint.ErrHazard, "--mtbf"},
	} {
		if errors.Is(err, option.of) {
			return fmt.Errorf("%s: %w", option.name, err)
		}
	}
	return nil
}

// ends returns in how many seconds the job is stopped, or 0 if that is not known.
func (f *flags) ends(env *cli.Env) (float64, error) {
	if f.given("end") {
		at, err := env.Deadline("--end", f.end)
		return float64(at - env.Now()), err
	}
	text := env.Getenv("SLURM_JOB_END_TIME")
	if text == "" {
		return 0, nil
	}
	at, err := strconv.ParseInt(text, 10, 64)
	if err != nil || at < 0 {
		return 0, fmt.Errorf("SLURM_JOB_END_TIME: %.40q is not a time in Unix seconds; --end says when the job is stopped", text)
	}
	if left := float64(at) - float64(env.Now()); left < checkpoint.Longest {
		return max(1, left), nil // it is being stopped
	}
	return 0, nil // there is no limit
}

// span reads the value of an option that is a duration of at least 0, in seconds.
func span(option, text string) (float64, error) {
	seconds, err := slurmtime.ParseSpan(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s: %w", option, err)
	case seconds < 0 || float64(seconds) > checkpoint.Longest:
		return 0, fmt.Errorf("%s: %s is not between 0 and a century", option, text)
	}
	return float64(seconds), nil
}
