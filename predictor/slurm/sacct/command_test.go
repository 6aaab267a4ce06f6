package sacct

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// A history is one question to slurmdbd; one that is too much is asked again in parts.
func TestHistory(t *testing.T) {
	var asked []string
	c := Command{Run: func(_ context.Context, path string, env []string, args ...string) ([]byte, error) {
		if path != "sacct" || !slices.Contains(env, "SLURM_TIME_FORMAT=%s") {
			t.Error(path, env)
		}
		asked = append(asked, strings.Join(args, " "))
		if len(asked) == 1 {
			return nil, slurm.ErrTooMuch
		}
		if !slices.Contains(args, "--delimiter=\x1f") {
			t.Error(args)
		}
		return []byte(strings.ReplaceAll(strings.Join(append(Fields, "Constraints", "Reason"), ";")+"\n"+
			"9;bob;chem;main;normal;COMPLETED;100;100;110;130;10;cpu=2,node=1;cpu=2,node=1;[a100|h100];None\n"+
			"10;bob;chem;main;normal;PENDING;100;100;Unknown;Unknown;10;cpu=2,node=1;;;Priority\n", ";", "\x1f")), nil
	}}
	var jobs []workload.Job
	var complete int64
	for j, err := range c.History(t.Context(), 1_800_000_000, 1_800_000_000+40*86400, func(p slurm.Progress) { complete = p.Complete }) {
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, j)
	}
	if len(jobs) == 0 || jobs[0].ID != 9 || jobs[0].Needs.Constraint != "[a100|h100]" || slices.ContainsFunc(jobs, func(j workload.Job) bool { return j.ID == 10 }) || complete != 1_800_000_000+40*86400 {
		t.Errorf("%+v, %d", jobs, complete)
	}
	if len(asked) != 1+2 || !strings.Contains(asked[0], "--allusers") {
		t.Errorf("%d questions: %q", len(asked), asked)
	}
	broken := errors.New("slurmdbd is down")
	c.Run = func(context.Context, string, []string, ...string) ([]byte, error) { return nil, broken }
	for _, err := range c.History(t.Context(), 0, 10, nil) {
		if !errors.Is(err, broken) {
			t.Error(err)
		}
	}
}
