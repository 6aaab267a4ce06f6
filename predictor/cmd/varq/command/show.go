package command

import (
	"fmt"
	"time"

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
