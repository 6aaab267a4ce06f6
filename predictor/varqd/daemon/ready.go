package daemon

import (
	"errors"
	"iter"

	"github.com/varq-project/varq/predictor/live/ingest"
	"github.com/varq-project/varq/predictor/live/outlook"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/slurmrestd"
	"github.com/varq-project/varq/predictor/workload"
)

// keeperOutlook is the keeper.Outlook of a daemon. The outlook forecasts, ingest knows how much
// has been loaded, the clock whether Slurm's time is known, and problems what keeps varqd from
// it.
type keeperOutlook struct {
	*outlook.Outlook
	*ingest.Ingest
	clock    *clock
	problems *problems
}

// Jobs implements desk.Outlook: it yields the jobs that wait, run, or become eligible later.
func (o keeperOutlook) Jobs(yield func(*workload.Job) bool) {
	for _, jobs := range []iter.Seq[*workload.Job]{o.Outlook.Jobs, o.Later} {
		for j := range jobs {
			if !yield(j) {
				return
			}
		}
	}
}

// errNoRights is what users read while varqd could not keep what it promises.
var errNoRights = errors.New("varqd has not the rights of an operator in Slurm, and could not keep a promise; its administrator has to grant them")

// errNoLimits is what users read while the first model waits for the limits and the nodes.
var errNoLimits = errors.New("varqd has not read the cluster's limits from Slurm yet: slurmctld and slurmdbd both have to answer")

// Ready implements keeper.Outlook. Users read its error.
func (o keeperOutlook) Ready() error {
	if o.problems.get(partRights) != nil {
		return errNoRights
	}
	err := o.Ingest.Ready()
	if err == nil {
		return o.clock.ready()
	}
	if why := silence(o.problems.get(partQueue)); why != nil {
		return why
	}
	if o.problems.get(partLimits) != nil {
		return errNoLimits
	}
	return err
}

// silence says who does not answer varqd, given the error of reading the queue. It returns nil
// if that is not the problem.
func silence(err error) error {
	switch {
	case errors.Is(err, slurm.ErrPermission):
		return errors.New("Slurm refuses to answer varqd; its administrator finds out why with 'varqd --check --live'")
	case errors.Is(err, slurm.ErrUnavailable) && errors.As(err, new(*slurmrestd.Error)):
		return errors.New("slurmctld does not answer varqd through slurmrestd")
	case errors.Is(err, slurm.ErrUnavailable):
		return errors.New("slurmrestd does not answer varqd")
	}
	return nil
}
