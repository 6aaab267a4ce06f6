package quote

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// nodes says in sentences that too few nodes can start jobs, or can at once, and why a start is
// promised later than it is forecast.
func nodes(env *cli.Env, p *api.Prediction) []string {
	var said []string
	switch {
	case p.Down != "":
		return nil
	case p.Short != "":
		said = append(said, fmt.Sprintf("The job cannot start now: %s.", slurmtime.InZone(p.Short, env.Zone)))
	case p.Asleep != "":
		said = append(said, fmt.Sprintf("The job cannot start at once: %s.", p.Asleep))
	}
	if p.Crowded {
		said = append(said, "Promised is much later than Wait because other promises keep room for their jobs.")
	}
	if p.Careful != "" {
		said = append(said, fmt.Sprintf("Promised is later than Wait: %s.", p.Careful))
	}
	if p.OffersUntil != 0 {
		said = append(said, fmt.Sprintf("Until %s room is kept for what was offered to others: after that an earlier start may be promised.", env.Moment(p.OffersUntil)))
	}
	return said
}

// reasons says in sentences what a prediction was computed from, and how good such predictions
// were.
func reasons(env *cli.Env, p *api.Prediction, scores *api.Calibration) []string {
	queue := fmt.Sprintf("%s and %s", cli.Count(p.Waiting, "job waits", "jobs wait"), cli.Count(p.Running, "runs", "run"))
	said := nodes(env, p)
	if len(p.Components) == 0 {
		return append(said, told.Basis(&p.Evidence, env.Now()), queue+".")
	}
	if p.Down != "" {
		said = append(said, told.Basis(&p.Evidence, env.Now()))
	}
	if percent := math.Ceil(100 * p.Beyond); percent > 0 {
		said = append(said, fmt.Sprintf("More work is ahead than was ever learnt from: %.0f %% of the prediction follows simulations of the queue instead of past waits.", percent))
	}
	if percent := math.Round(100 * p.Taken); percent > 0 {
		said = append(said, fmt.Sprintf("With a probability of %.0f %% running jobs leave no room%s for the job now: the prediction is no better than the chance that enough of them end.", percent, orLicences(&p.Job)))
	}
	var shares []string
	for _, m := range p.Components {
		verb := ""
		if len(shares) == 0 {
			verb = " rests"
		}
		if percent := math.Round(100 * m.Share); percent > 0 {
			shares = append(shares, fmt.Sprintf("%.0f %%%s on %s", percent, verb, component(&m)))
		}
		if m.Simulated != "" {
			queue += ", simulated " + inWords(m.Simulated)
		}
	}
	if p.Down == "" {
		queue = told.AsOf(queue, p.AsOf, env.Now())
	}
	said = append(said, strings.Join(shares, ", ")+".", queue+".")
	if p.Changed != 0 {
		said = append(said, fmt.Sprintf("The waits of these jobs changed last on %s.", time.Unix(p.Changed, 0).In(env.Zone).Format(time.DateOnly)))
	}
	said = append(said, fmt.Sprintf("The probabilities are corrected by what came of the last %s forecasts.", cli.Thousands(int(p.Calibrated))))
	return append(said, covered(scores)...)
}

// inWords says how a queue is simulated: in which order, and whether with backfilling. policy is as
// varqd names it.
func inWords(policy string) string {
	order, filled := strings.CutSuffix(policy, " with EASY backfilling")
	backfilling := ", with backfilling"
	if !filled {
		order, backfilling = strings.TrimSuffix(policy, " without backfilling"), ", without backfilling"
	}
	switch order {
	case "FCFS":
		return "in the order of submission" + backfilling
	case "priorities":
		return "in the order of Slurm's priorities" + backfilling
	case "least work first":
		return order + backfilling
	}
	return "as " + policy
}

// component says what one expert has learnt from.
func component(m *api.Component) string {
	waits := cli.Count(m.Sample, "past wait", "past waits")
	switch m.Forecaster {
	case "forest":
		return waits + " in situations like this one"
	case "simulation":
		return "simulations corrected by " + waits
	case "qbets":
		if m.Class == "" {
			return waits
		}
		return fmt.Sprintf("%s of jobs like it (%s)", waits, m.Class)
	}
	text := "the site's own forecaster " + m.Forecaster
	if m.Class != "" {
		text += fmt.Sprintf(" (%s)", m.Class)
	}
	return text
}

// fewForecasts is the least number of forecasts by which covered judges the .95 quantile.
const fewForecasts = 60

// covered says in at most one sentence which share of the past waits did not exceed the .95
// quantile.
func covered(scores *api.Calibration) []string {
	for i := range scores.Rows {
		row := &scores.Rows[i]
		for _, q := range row.Quantiles {
			if math.Abs(q.Quantile-.95) > 1e-9 || row.Forecasts < fewForecasts {
				continue
			}
			text := fmt.Sprintf("Of %s for this partition in the last 30 days, %s came true at quantile 0.95.",
				cli.Count(row.Forecasts, "forecast", "forecasts"), cli.Percent(q.Covered))
			if row.Drift != "" {
				text += fmt.Sprintf(" It has drifted: it %s.", row.Drift)
			}
			return []string{text}
		}
	}
	return nil
}

// orLicences adds to what may be missing for a job the licences that it needs.
func orLicences(r *workload.Request) string {
	if r.Licences == "" {
		return ""
	}
	return ", or too few of the licences " + string(r.Licences) + ","
}
