package slurmrestd

import (
	"errors"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/slurm"
)

// asksAt makes the client's clock show these times, one after the other.
func (c *Client) asksAt(times ...time.Time) *Client {
	c.opts.Now = func() time.Time {
		now := times[0]
		times = times[1:]
		return now
	}
	return c
}

func TestClock(t *testing.T) {
	answered := time.Unix(start+1000, 0) // as the fixtures say
	forEachVersion(t, func(t *testing.T, _ version, c *Client) {
		sent := answered.Add(-30 * time.Second)
		ahead, uncertainty, err := c.asksAt(sent, sent.Add(400*time.Millisecond)).Clock(t.Context())
		// Slurm's clock was ahead by at least 29.6 s, if it answered last, and by less
		// than 31 s, if it answered first and its clock was about to show another second.
		check(t, []time.Duration{ahead, uncertainty}, []time.Duration{30300 * time.Millisecond, 700 * time.Millisecond}, err)
	})
}

func TestClockNotTold(t *testing.T) {
	for _, body := range []string{
		`{"statistics":{},"errors":[]}`,
		`{"statistics":{"req_time":null},"errors":[]}`,
		`{"statistics":{"req_time":0},"errors":[]}`,
		`{"statistics":{"req_time":{"set":false,"infinite":false,"number":7}},"errors":[]}`,
		`{}`,
	} {
		if ahead, _, err := serve(t, api(answer(200, body))).Clock(t.Context()); !errors.Is(err, slurm.ErrUnavailable) {
			t.Errorf("%s: %v, %v", body, ahead, err)
		}
	}
}
