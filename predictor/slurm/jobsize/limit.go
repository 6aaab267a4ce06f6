package jobsize

import (
	"errors"

	"github.com/varq-project/varq/predictor/slurmtime"
)

// ErrNoLimit is the error of a time limit that is none, for which Slurm takes 0, too.
var ErrNoLimit = errors.New("0 and UNLIMITED are no limit, and without one nothing can be forecast or promised: give one, such as 1:00:00")

// Limit reads the value of sbatch's --time, in seconds.
func Limit(text string) (seconds int64, err error) {
	seconds, err = slurmtime.ParseDuration(text)
	if err == nil && (seconds == 0 || seconds == slurmtime.Unlimited) {
		err = ErrNoLimit
	}
	return seconds, err
}
