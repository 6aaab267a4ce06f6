package slurmrestd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// jobResult is an entry of results[] or status[] in an answer. It may be a refusal for a
// part of the job although errors[] is empty.
type jobResult struct {
	ErrorCode number `json:"error_code"` // of an update
	ErrorText text   `json:"error"`
	Why       string `json:"why"`
}

// killResult is the corresponding entry of a cancellation.
type killResult struct {
	Error struct {
		Text string `json:"string"`
		Code number `json:"code"`
	} `json:"error"`
}

// Update changes one job. The server refuses changes that the client's user may not make.
// A user may change the times and the comment of her own pending jobs. An operator may
// change any job. If the client's user may not act as u.Owner, the error is a
// slurm.ErrPermission and nothing is changed.
func (c *Client) Update(ctx context.Context, u slurm.Update) error {
	versions, err := c.serverVersions(ctx)
	if err != nil {
		return err
	}
	body := make(map[string]any)
	if u.BeginTime != 0 {
		body["begin_time"] = u.BeginTime
		if versions[controller] <= lastFlat {
			body["begin_time"] = "uts" + strconv.FormatInt(u.BeginTime, 10)
		}
	}
	if u.TimeLimit != 0 {
		body["time_limit"] = slurmtime.Minutes(u.TimeLimit)
	}
	if u.Comment != nil {
		body["comment"] = *u.Comment
	}
	if u.Resize != nil {
		if u.Resize.Account == "" {
			return fmt.Errorf("change the size of job %d, which has no account: %w", u.Job, slurm.ErrRefused)
		}
		writeResize(body, u.Resize, versions[controller])
	}
	if len(body) == 0 {
		return nil
	}
	if u.Owner != "" && c.opts.Token == nil {
		return fmt.Errorf("change job %d as %s: slurmrestd without tokens acts as its own user: %w", u.Job, u.Owner, slurm.ErrPermission)
	}
	err = c.change(ctx, request{method: http.MethodPost, family: controller, path: jobPath(u.Job), body: body, user: u.Owner})
	if saysNothing(err) {
		return c.changed(ctx, u, err)
	}
	return err
}

// saysNothing reports whether err is that of v0.0.38 after each change of a job array, whatever has
// become of it.
func saysNothing(err error) bool {
	answer, ok := errors.AsType[*Error](err)
	return ok && len(answer.Slurm) == 1 && answer.Slurm[0].Number == 0 && strings.Contains(answer.Slurm[0].Description, "job array update from ")
}

// changed returns nil if an array has the begin time and the limit of a change, and otherwise err.
func (c *Client) changed(ctx context.Context, u slurm.Update, err error) error {
	j, unread := c.Job(ctx, u.Job)
	if unread != nil || u.BeginTime != 0 && j.Eligible != u.BeginTime || u.TimeLimit != 0 && j.Limit != 60*slurmtime.Minutes(u.TimeLimit) || u.Resize != nil {
		return errors.Join(err, unread)
	}
	return nil
}

// change sends a request that changes one job.
func (c *Client) change(ctx context.Context, r request) error {
	var refused []SlurmError
	// v0.0.38 answers with errors alone.
	err := c.do(ctx, r, fields{"errors": {}, "results": each(func(result *jobResult) error {
		if n := result.ErrorCode.or(0); n != 0 {
			refused = append(refused, SlurmError{Number: n, Error: string(result.ErrorText), Description: result.Why})
		}
		return nil
	}).orAbsent()})
	return asOwner(r.user, orRefused(err, r, refused))
}

// asOwner returns err, the error of a change as owner. slurmctld rejects a token of a user who
// may not act as others by an error that otherwise stands for a failure to communicate.
func asOwner(owner string, err error) error {
	if answer, ok := errors.AsType[*Error](err); ok && owner != "" {
		for _, e := range answer.Slurm {
			if e.Number == errUnexpectedMessage {
				answer.kind = slurm.ErrPermission
			}
		}
	}
	return err
}

// Cancel removes a job from the queue or ends it.
func (c *Client) Cancel(ctx context.Context, job int64) error {
	r := request{method: http.MethodDelete, family: controller, path: jobPath(job)}
	var refused []SlurmError
	// v0.0.38 answers with errors alone.
	err := c.do(ctx, r, fields{"errors": {}, "status": each(func(result *killResult) error {
		if n := result.Error.Code.or(0); n != 0 {
			refused = append(refused, SlurmError{Number: n, Error: result.Error.Text})
		}
		return nil
	}).orAbsent()})
	return orRefused(err, r, refused)
}

func jobPath(id int64) string { return "/job/" + strconv.FormatInt(id, 10) }

func orRefused(err error, r request, refused []SlurmError) error {
	if err != nil || len(refused) == 0 {
		return err
	}
	return &Error{
		Request: r.method + " " + r.path,
		Status:  http.StatusOK,
		Slurm:   refused,
		kind:    kindOf(http.StatusOK, refused),
	}
}

// Ping reports whether slurmctld answers.
func (c *Client) Ping(ctx context.Context) error {
	answered := false
	err := c.do(ctx, request{method: http.MethodGet, family: controller, path: "/ping"}, fields{
		"pings": each(func(p *struct {
			Ping       text `json:"ping"`       // v0.0.38
			Pinged     text `json:"pinged"`     // v0.0.39 to v0.0.44
			Responding bool `json:"responding"` // since v0.0.42
		}) error {
			answered = answered || p.Ping == "UP" || p.Pinged == "UP" || p.Responding
			return nil
		}),
	})
	if err == nil && !answered {
		err = fmt.Errorf("slurmctld does not answer: %w", slurm.ErrUnavailable)
	}
	return err
}
