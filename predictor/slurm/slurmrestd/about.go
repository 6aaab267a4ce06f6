package slurmrestd

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// About says which server answers.
type About struct {
	Release string // of Slurm: "24.11.5"; empty if the server does not tell
	API     string // the version in use: "v0.0.42"
}

// About asks slurmctld for a sign of life, and returns which slurmrestd has passed it on.
func (c *Client) About(ctx context.Context) (About, error) {
	if err := c.Ping(ctx); err != nil {
		return About{}, err
	}
	versions, err := c.serverVersions(ctx)
	if err != nil {
		return About{}, err
	}
	var meta struct {
		Slurm struct {
			Release string `json:"release"` // v0.0.38 has it in "Slurm"
		} `json:"slurm"`
	}
	err = c.do(ctx, request{method: http.MethodGet, family: controller, path: "/ping"}, fields{"meta": value(&meta).orAbsent()})
	return About{Release: meta.Slurm.Release, API: versions[controller].String()}, err
}

// ErrNoToken is the error of TokenExpires for a client without tokens.
var ErrNoToken = errors.New("no token is configured")

// TokenExpires returns when the present token expires. It does not ask the server whether the
// token is valid.
func (c *Client) TokenExpires() (time.Time, error) {
	if c.opts.Token == nil {
		return time.Time{}, ErrNoToken
	}
	token, err := c.opts.Token()
	if err != nil {
		return time.Time{}, err
	}
	says, err := parseClaims(token)
	return time.Unix(says.Expires, 0), err
}
