package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/varq-project/varq/test/cluster"
)

// The things that users do to their jobs.
const (
	actHold      = "hold"
	actRelease   = "release"
	actCancel    = "cancel"
	actRequeue   = "requeue"
	actLimit     = "time limit"
	actBegin     = "begin"
	actNodes     = "nodes"
	actPartition = "partition"
	actQOS       = "QOS"
	actFeatures  = "features"
	actDepend    = "dependency"
	actAccept    = "varq accept"
	actTakeBack  = "varq cancel"
)

var acts = []string{
	actHold, actHold, actCancel, actCancel, actRequeue, actRequeue, actLimit, actLimit, actBegin, actBegin,
	actNodes, actPartition, actQOS, actFeatures, actDepend, actAccept, actAccept, actTakeBack,
}

// meddle does to a job what its user feels like, if anything.
func (c *campaign) meddle(ctx context.Context, s *Submission, random *rand.Rand) {
	what := acts[random.IntN(len(acts))]
	after := time.Duration(random.Int64N(int64(c.Paced(50 * time.Second))))
	more := time.Duration(random.Int64N(int64(c.Paced(30 * time.Second))))
	if random.IntN(5) < 3 || s.User == operator {
		return
	}
	if cluster.Sleep(ctx, after) != nil {
		return
	}
	c.act(ctx, s, what, random)
	if what == actHold && random.IntN(2) == 0 && cluster.Sleep(ctx, more) == nil {
		c.act(ctx, s, actRelease, random)
	}
}

// act does one thing to a job.
func (c *campaign) act(ctx context.Context, s *Submission, what string, random *rand.Rand) {
	job := strconv.FormatInt(s.Job, 10)
	update := func(setting string) []string { return []string{"scontrol", "update", "JobId=" + job, setting} }
	var args []string
	switch what {
	case actHold, actRelease, actRequeue:
		args = []string{"scontrol", what, job}
	case actCancel:
		args = []string{"scancel", job}
	case actLimit:
		args = update(fmt.Sprintf("TimeLimit=%d", 1+random.IntN(5)))
	case actBegin:
		begin := "now"
		if random.IntN(2) == 0 {
			begin = fmt.Sprintf("now+%d", 1+random.IntN(120))
		}
		args = update("StartTime=" + begin)
	case actNodes:
		args = update(fmt.Sprintf("NumNodes=%d", 1+random.IntN(4)))
	case actPartition:
		args = update("Partition=" + limitedPartition)
	case actQOS:
		args = update("QOS=" + limitedQOS)
	case actFeatures:
		args = update("Features=ib")
	case actDepend:
		args = update(fmt.Sprintf("Dependency=after:%d", max(1, s.Job-1)))
	case actAccept:
		args = []string{"varq", "accept", job}
	case actTakeBack:
		args = []string{"varq", "cancel", c.planToTakeBack(ctx, s)}
	}
	a := Act{What: what, Args: args, Began: now()}
	stdout, stderr, code := c.command(context.WithoutCancel(ctx), s.User, args[0], args[1:]...)
	a.Done, a.Code, a.Said = now(), code, stdout+stderr
	c.journal.acted(s, a)
}

// planToTakeBack returns a promise of the user's that has no job or, if there is none, s's own,
// which cannot be taken back.
func (c *campaign) planToTakeBack(ctx context.Context, s *Submission) string {
	stdout, _, _ := c.command(ctx, s.User, "varq", "status", "--json")
	var list []struct {
		ID  string `json:"id"`
		Job int64  `json:"job"`
	}
	if json.Unmarshal([]byte(stdout), &list) != nil {
		return "unknown"
	}
	own := "unknown"
	for _, r := range list {
		switch r.Job {
		case 0:
			return r.ID
		case s.Job:
			own = r.ID
		}
	}
	return own
}
