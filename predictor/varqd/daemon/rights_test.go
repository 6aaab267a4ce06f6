package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/slurm"
)

// reluctantSlurm has operators, and refuses changes.
type reluctantSlurm struct {
	fakeSlurm
	operators []string
	err       error
}

func (s *reluctantSlurm) Operators(context.Context) ([]string, error) { return s.operators, nil }
func (s *reluctantSlurm) Update(context.Context, slurm.Update) error  { return s.err }

func TestRights(t *testing.T) {
	s := &reluctantSlurm{}
	user := "varq"
	w := watched{s, func() string { return user }, newProblems(slog.New(slog.DiscardHandler)), slog.New(slog.DiscardHandler)}
	operators := func(names ...string) error {
		s.operators = names
		if got, err := w.Operators(t.Context()); len(got) != len(names) || err != nil {
			t.Errorf("%v, %v", got, err)
		}
		return w.problems.get(partRights)
	}
	if err := operators("root", "varq"); err != nil {
		t.Error(err)
	}
	if err := operators("root"); err == nil || !strings.HasSuffix(err.Error(), "'sacctmgr modify user varq set adminlevel=operator' gives it the right") {
		t.Error(err)
	}
	if err := operators("varq"); err != nil {
		t.Error(err)
	}
	for _, s.err = range []error{nil, slurm.ErrNotFound, slurm.ErrUnavailable} {
		_ = w.Update(t.Context(), slurm.Update{Job: 1})
		if err := w.problems.get(partRights); err != nil {
			t.Error(err)
		}
	}
	s.err = fmt.Errorf("Invalid user id: %w", slurm.ErrPermission)
	if err := w.Update(t.Context(), slurm.Update{Job: 1}); err == nil || w.problems.get(partRights) == nil {
		t.Error("a refused change is not a problem")
	}
	user = "" // then only a refusal tells
	if err := operators("root"); err != nil {
		t.Error(err)
	}
}
