package slurmrestd

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Clock measures how far slurmctld's clock is ahead of this host's. The true difference lies
// within uncertainty of ahead, on either side: half a second, as slurmctld tells whole
// seconds, and half the time of the request.
func (c *Client) Clock(ctx context.Context) (ahead, uncertainty time.Duration, err error) {
	if _, err := c.serverVersions(ctx); err != nil { // so that the request alone is timed
		return 0, 0, err
	}
	var statistics struct {
		Time number `json:"req_time"` // slurmctld's, Unix seconds, rounded down
	}
	sent := c.opts.Now()
	err = c.do(ctx, request{method: http.MethodGet, family: controller, path: "/diag"}, fields{"statistics": value(&statistics)})
	took := c.opts.Now().Sub(sent)
	if err == nil && statistics.Time.or(0) <= 0 {
		err = fmt.Errorf("slurmrestd: GET /diag: bad answer: statistics: %w", missingError("req_time"))
	}
	if err != nil {
		return 0, 0, err
	}
	uncertainty = (time.Second + took) / 2
	// Invariant: slurmctld's clock showed [Time, Time+1s) at some time in [sent, sent+took].
	return time.Unix(statistics.Time.value, 0).Sub(sent.Add(took)) + uncertainty, uncertainty, nil
}
