package quote

import (
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/plot"
)

// draw draws the trajectory of an answer into the file path.
func draw(env *cli.Env, path string, request api.PlanRequest, answer api.PlanAnswer) error {
	if len(answer.Trajectory) == 0 {
		fmt.Fprintf(env.Stderr, "varq: %s is not drawn: nothing was forecast for this job\n", path)
		return nil
	}
	picture := &plot.Trajectory{
		Title:    "Probability of running by " + env.Moment(request.BeginBy),
		Points:   answer.Trajectory,
		Prob:     request.Prob,
		BeginBy:  request.BeginBy,
		Plan:     answer.Plan,
		Location: env.Zone,
	}
	if answer.Plan != nil {
		picture.Prob = answer.Plan.Prob // the site's default, if none was asked for
	}
	if err := plot.Save(path, picture); err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	return nil
}
