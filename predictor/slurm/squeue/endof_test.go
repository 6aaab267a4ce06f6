package squeue

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestEndOf(t *testing.T) {
	for _, c := range []struct {
		job, prints string
		fails       error
		want        int64
		err         string
	}{
		{"17", "1700000000\n", nil, 1_700_000_000, ""},
		{"17_3", "1700000000\n", nil, 1_700_000_000, ""},
		{"17", "N/A\n", nil, 0, "end-of:17: when the time limit of job 17 ends is not known, as it has not started"},
		{"17", "", nil, 0, "end-of:17: job 17 neither waits nor runs"},
		{"17", "", errors.New("squeue: slurm_load_jobs error: Invalid job id specified"), 0, "end-of:17: job 17 neither waits nor runs"},
		{"17", "", errors.New("squeue: no Slurm"), 0, "squeue: no Slurm"},
		{"17", "1700000000\n1700000060\n", nil, 0, "end-of:17: these are several jobs: name one task of the array, as 17_0"},
		{"17; rm", "", nil, 0, `"17; rm" is not a job id`},
		{"", "", nil, 0, `"" is not a job id`},
		{"17_x", "", nil, 0, `"17_x" is not a job id`},
	} {
		cmd := Command{Run: func(_ context.Context, path string, env []string, args ...string) ([]byte, error) {
			if path != "squeue" || !slices.Contains(args, "--jobs="+c.job) || !slices.Contains(env, "SLURM_TIME_FORMAT=%s") {
				t.Errorf("%s %v", path, args)
			}
			return []byte(c.prints), c.fails
		}}
		at, err := cmd.EndOf(c.job)
		if at != c.want || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v: %d, %v", c, at, err)
		}
	}
}
