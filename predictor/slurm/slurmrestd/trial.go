package slurmrestd

import (
	"context"
	"errors"
	"net/http"
	"slices"
)

// SubmitHeld submits a held job of one minute on one node, which would do nothing, and returns
// its id. The job stays in the queue until somebody cancels it.
func (c *Client) SubmitHeld(ctx context.Context, name string) (int64, error) {
	versions, err := c.serverVersions(ctx)
	if err != nil {
		return 0, err
	}
	job := map[string]any{
		"name": name, "hold": true, "time_limit": 1, "current_working_directory": "/",
		"standard_output": "/dev/null", "environment": []string{"PATH=/usr/bin:/bin"},
	}
	if versions[controller] <= lastFlat {
		job["environment"] = map[string]string{"PATH": "/usr/bin:/bin"}
	}
	r := request{
		method: http.MethodPost, family: controller, path: "/job/submit",
		body: map[string]any{"script": "#!/bin/sh\nexit 0\n", "job": job},
	}
	var id number
	err = c.do(ctx, r, fields{"errors": {}, "job_id": value(&id)})
	if onlyHeld(err) {
		err = nil // v0.0.38 takes it for an error that the job is held
	}
	if err == nil && id.or(0) == 0 {
		err = missingError("job_id")
	}
	return id.value, err
}

// onlyHeld reports whether an error says no more than that the job is held.
func onlyHeld(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && len(e.Slurm) > 0 && !slices.ContainsFunc(e.Slurm, func(s SlurmError) bool { return s.Number != errJobHeld })
}

// Favour gives a pending job a better nice value than users may give. Without the rights of an
// operator it returns slurm.ErrPermission.
func (c *Client) Favour(ctx context.Context, job int64) error {
	r := request{method: http.MethodPost, family: controller, path: jobPath(job), body: map[string]any{"nice": -1}}
	return c.change(ctx, r)
}
