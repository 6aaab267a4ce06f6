package command

import (
	"fmt"
	"math"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// parseTime reads the value of an option that is a future time. An empty text is 0.
func (e *Env) parseTime(option, text string) (int64, error) {
	return e.readTime(option, text, slurmtime.Parse)
}

// parsePast reads the value of an option that is a past time. An empty text is 0.
func (e *Env) parsePast(option, text string) (int64, error) {
	return e.readTime(option, text, slurmtime.ParsePast)
}

func (e *Env) readTime(option, text string, parse func(string, int64, *time.Location) (int64, error)) (int64, error) {
	if text == "" {
		return 0, nil
	}
	at, err := parse(text, e.Now(), e.Zone)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", option, err)
	}
	return at, nil
}

// moment writes a time as Slurm does, in the user's time zone.
func (e *Env) moment(at int64) string { return cli.Moment(at, e.Zone) }

// evidence says in a phrase what a forecast rests on.
func evidence(e api.Evidence) string {
	if e.Sample == 0 {
		return "no past wait: none of jobs like it is known"
	}
	text := fmt.Sprintf("%d past waits", e.Sample)
	if e.Class != "" {
		text += fmt.Sprintf(" of jobs like it (%s)", e.Class)
	}
	if e.Beyond > 0 {
		text += " and, as more work is ahead than was ever learnt from, simulations of the queue"
	}
	if percent := math.Round(100 * e.Taken); percent > 0 {
		text += fmt.Sprintf("; with a probability of %.0f %% running jobs leave no room for it now", percent)
	}
	return text
}
