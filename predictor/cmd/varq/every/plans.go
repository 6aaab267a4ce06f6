package every

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// reports is the file to which varq-filter writes what varqd answers to the sbatch that is started for an occurrence. It is there from
// before that sbatch until nothing becomes of the occurrence any more.
func (s *store) reports(id string, at int64) string {
	return filepath.Join(s.dir, fmt.Sprintf("%s-%d.reports", id, at))
}

// order returns the variable of sbatch's environment that has varq-filter report its plans. Those of an earlier sbatch are forgotten: it is
// known that they have no job.
func (s *store) order(id string, at int64) (variable string, err error) {
	path := s.reports(id, at)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return "", err
	}
	o := sbatch.Order{Recurs: true, Report: path}
	return o.Variable()
}

// plans returns the plans that were made for the sbatch that was started last for an occurrence, and perhaps for one before. No other job is
// the occurrence's than those of these plans.
func (s *store) plans(id string, at int64) ([]string, error) {
	plans, err := sbatch.Plans(s.reports(id, at))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return plans, err
}

// forgetPlans removes what plans reads. It is no harm if that fails.
func (s *store) forgetPlans(id string, at int64) { _ = os.Remove(s.reports(id, at)) }
