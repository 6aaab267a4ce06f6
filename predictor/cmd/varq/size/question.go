package size

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/plot"
	"github.com/varq-project/varq/predictor/promise/moldable"
)

// question is what makes a size the best.
type question struct {
	rules moldable.Rules
	// within is how many seconds from now the deadline is, 0 without one; starts says that it is
	// one for the start.
	within int64
	starts bool
	// forecaster is of a PredictRequest.
	forecaster string
}

// question returns what the options ask. An error is one of the command line.
func (f *sizeFlags) question(env *cli.Env, asJSON bool) (question, error) {
	q := question{rules: moldable.Rules{By: moldable.Least, Aversion: f.aversion}}
	var err error
	if f.by != "" {
		if q.rules.By, err = cli.Choose("by", f.by, moldable.Criteria, func(c moldable.Criterion) string { return string(c) }); err != nil {
			return q, err
		}
	}
	deadline, option, text := int64(0), "--finish-by", f.finishBy
	if f.beginBy != "" {
		option, text, q.starts = "--begin-by", f.beginBy, true
	}
	if deadline, err = env.Deadline(option, text); err != nil {
		return q, err
	}
	switch {
	case f.beginBy != "" && f.finishBy != "":
		return q, errors.New("--begin-by does not go together with --finish-by: which of them is the job to meet?")
	case text != "":
		q.within = deadline - env.Now()
		if f.by == "" {
			q.rules.By = moldable.Highest
		}
	case q.rules.By == moldable.Highest:
		return q, errors.New("--by=prob needs a deadline: --finish-by=TIME, or --begin-by=TIME")
	}
	switch {
	case !(f.aversion >= 0 && f.aversion <= api.MaxAversion):
		return q, fmt.Errorf("--risk-aversion: %v is not a share of the run time, from 0 to %d", f.aversion, api.MaxAversion)
	case f.aversion > 0 && q.rules.By != moldable.Least:
		return q, errors.New("--risk-aversion is about the turnaround, and about nothing else")
	}
	switch {
	case !slices.Contains(forecasters, f.forecaster):
		return q, fmt.Errorf("--forecaster: %.40q is none of %s", f.forecaster, strings.Join(forecasters, ", "))
	case f.forecaster != forecasters[0]:
		q.forecaster = f.forecaster
	}
	if f.options && asJSON {
		return q, errors.New("--options does not go together with --json")
	}
	if f.plot != "" {
		if _, err := plot.Format(f.plot); err != nil {
			return q, fmt.Errorf("--plot: %w", err)
		}
	}
	return q, nil
}
