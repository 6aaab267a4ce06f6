package course

import (
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/prob"
)

// Margin is by how much the forecast of an endangered promise must rise above the probability
// promised before it counts as safe again.
const Margin = .02

// endangered is how the note of a promise begins that is less likely to be kept than it was made,
// by prob.Short.
const endangered = "endangered: "

// TellEndangered records an event when a promise becomes endangered, or for another reason, and
// when it no longer is.
func (c *Change) TellEndangered(e *ledger.Entry, now float64, later int64, reason string) {
	told := strings.HasPrefix(e.Note, endangered)
	switch {
	case prob.Short(now, e.Prob) && (!told || !strings.Contains(e.Note, reason)):
		text := fmt.Sprintf("%sat %s it was to end by the deadline with probability %s", endangered, c.Moment(c.Now), prob.Format(now))
		if reason != "" {
			text += ": " + reason
		}
		if later != 0 {
			text += fmt.Sprintf("; with probability %.4g it ends by %s", e.Prob, c.Moment(later))
		}
		c.Event(ledger.Note, "%s", text)
	case told && now >= min(1, e.Prob+Margin):
		c.Event(ledger.Note, "no longer endangered: it ends by the deadline with probability %s", prob.Format(now))
	}
}
