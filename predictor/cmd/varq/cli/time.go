package cli

import (
	"fmt"
	"time"

	"github.com/varq-project/varq/predictor/slurmtime"
)

// Time reads the value of an option that is a future time, in Unix seconds. An empty text is 0.
func (e *Env) Time(option, text string) (int64, error) {
	return e.readTime(option, text, slurmtime.Parse)
}

// Deadline is Time for a time that must be to come.
func (e *Env) Deadline(option, text string) (int64, error) {
	at, err := e.Time(option, text)
	if err == nil && text != "" && at <= e.Now() {
		err = fmt.Errorf("%s: %s is in the past", option, e.Moment(at))
	}
	return at, err
}

// PastTime reads the value of an option that is a past time, in Unix seconds. An empty text is 0.
func (e *Env) PastTime(option, text string) (int64, error) {
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

// Moment shows a time as Slurm does, in the user's time zone.
func (e *Env) Moment(at int64) string { return Moment(at, e.Zone) }

// Moment shows a time as Slurm does, in a time zone.
func Moment(at int64, zone *time.Location) string {
	if at == 0 {
		return None
	}
	return slurmtime.Format(at, zone)
}
