package chaos

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/test/cluster"
)

// drain waits, with everything in order again, until every promise is settled. Once the last
// deadline has passed it cancels the jobs that are left. It gives up on promises whose jobs
// Slurm has lost.
func (c *campaign) drain(ctx context.Context) error {
	if err := c.repair(0); err != nil {
		return err
	}
	c.say("the faults are over")
	if err := c.waitWell(ctx); err != nil {
		c.journal.failed(err.Error())
	}
	asking, err := c.Client()
	if err != nil {
		return err
	}
	// time for --on-miss=cancel
	last := c.journal.lastDeadline() + int64(c.Paced(20*time.Second).Seconds())
	for len(c.unsettled(ctx, asking)) > 0 && time.Now().Unix() < last {
		time.Sleep(time.Second)
	}
	c.journal.setEnd(now())
	for end := time.Now().Add(cluster.Patience); time.Now().Before(end); time.Sleep(time.Second) {
		stdout, _, code := c.command(ctx, "root", "squeue", "--noheader", "--format=%i")
		if code == 0 && stdout == "" {
			break
		}
		for _, user := range users {
			c.command(ctx, "root", "scancel", "--user="+user)
		}
	}
	c.say("the queue is empty")
	// From now on the unsettled are those that accounting does not tell the end of, and those
	// without a job, which close once varqd has read accounting so far.
	emptied := time.Now()
	still, since := c.unsettled(ctx, asking), emptied
	for len(still) > 0 && (time.Since(since) < c.Paced(90*time.Second) || strings.HasPrefix(still[0], jobless) && time.Since(emptied) < cluster.Patience) {
		time.Sleep(time.Second)
		if again := c.unsettled(ctx, asking); !slices.Equal(still, again) {
			still, since = again, time.Now()
		}
	}
	c.say("%d promises are not settled", len(still))
	return nil
}

// jobless marks promises without a job. They sort before the others.
const jobless = "!"

// unsettled returns the promises that are not settled. If varqd does not answer, it returns one
// of no name.
func (c *campaign) unsettled(ctx context.Context, asking *client.Client) []string {
	list, err := asking.Reservations(ctx, api.ReservationsQuery{User: api.Everybody, All: true})
	if err != nil {
		return []string{""}
	}
	var open []string
	for i := range list {
		if slices.Contains(api.SettledStates, list[i].State) {
			continue
		}
		id := list[i].ID
		if list[i].Job == 0 {
			id = jobless + id
		}
		open = append(open, id)
	}
	slices.Sort(open)
	return open
}
