package slurmrestd

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/varq-project/varq/predictor/slurm"
)

// Clock measures how far slurmctld's clock is ahead of this host's. The true difference lies
// within uncertainty of ahead, on either side: half a second, as slurmctld tells whole
// seconds, and half the time of the request.
func (c *Client) Clock(ctx context.Context) (ahead, uncertainty time.Duration, err error) {
	if _, err := c.serverVersions(ctx); err != nil { // so that the request alone is timed
		return 0, 0, err
	}
	var answered number // slurmctld's time, Unix seconds, rounded down
	sent := c.opts.Now()
	err = c.do(ctx, request{method: http.MethodGet, family: controller, path: "/diag"}, fields{
		"statistics": func(d *json.Decoder) error {
			var statistics struct {
				Time number `json:"req_time"`
			}
			err := d.Decode(&statistics)
			answered = statistics.Time
			return err
		},
	})
	took := c.opts.Now().Sub(sent)
	if err != nil {
		return 0, 0, err
	}
	if answered.or(0) <= 0 {
		return 0, 0, fmt.Errorf("slurmrestd: GET /diag: slurmctld does not tell its time, statistics.req_time: %w", slurm.ErrUnavailable)
	}
	uncertainty = (time.Second + took) / 2
	// Invariant: slurmctld's clock read [answered, answered+1s) at some time in [sent, sent+took].
	return time.Unix(answered.value, 0).Sub(sent.Add(took)) + uncertainty, uncertainty, nil
}
