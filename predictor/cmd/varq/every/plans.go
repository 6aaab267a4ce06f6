package every

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// reportsOf is the file to which varq-filter writes what varqd answers to the sbatch that is
// started for an occurrence. It is there from before that sbatch until nothing becomes of the
// occurrence any more.
func reportsOf(id string, at int64) string { return fmt.Sprintf("%s-%d.reports", id, at) }

// order returns the variable of sbatch's environment that has varq-filter report its plans. Those
// of an earlier sbatch are forgotten: it is known that they have no job.
func (s *store) order(id string, at int64) (variable string, err error) {
	if err := s.root.WriteFile(reportsOf(id, at), nil, 0o600); err != nil {
		return "", err
	}
	o := sbatch.Order{Recurs: true, Report: s.path(reportsOf(id, at))}
	return o.Variable()
}

// plans returns the plans that were made for the sbatch that was started last for an occurrence,
// and perhaps for one before. No other job is the occurrence's than those of these plans.
func (s *store) plans(id string, at int64) ([]string, error) {
	f, err := s.root.Open(reportsOf(id, at))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	return sbatch.Plans(f)
}

// forgetPlans removes what plans reads. It is no harm if that fails.
func (s *store) forgetPlans(id string, at int64) { _ = s.root.Remove(reportsOf(id, at)) }
