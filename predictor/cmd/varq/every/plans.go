package every

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// reportsOf is the file to which varq-filter writes what varqd answers to the sbatch that is
// started for an occurrence, and varq flow what it has submitted. It is there from before that
// program until nothing becomes of the occurrence any more.
func reportsOf(id string, at int64) string { return fmt.Sprintf("%s-%d.reports", id, at) }

// order returns the variable of a program's environment that has it report its plans. Those of an
// earlier one are forgotten: it is known that they have no job.
func (s *store) order(id string, at int64) (variable string, err error) {
	if err := s.root.WriteFile(reportsOf(id, at), nil, 0o600); err != nil {
		return "", err
	}
	o := sbatch.Order{Recurs: true, Report: s.path(reportsOf(id, at))}
	return o.Variable()
}

// reports returns what was reported by the program that was started last for an occurrence, and
// perhaps by one before. No other job is the occurrence's than those of the plans in it.
func (s *store) reports(id string, at int64) ([]sbatch.Report, error) {
	f, err := s.root.Open(reportsOf(id, at))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	return sbatch.Reports(f)
}

// forgetPlans removes what plans reads. It is no harm if that fails.
func (s *store) forgetPlans(id string, at int64) { _ = s.root.Remove(reportsOf(id, at)) }
