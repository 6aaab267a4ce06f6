package course

import (
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/prob"
)

// Margin is by how much the forecast of an endangered promise must exceed the promised probability
// before the promise counts as safe again.
const Margin = .02

// endangered begins the note of a promise whose probability has fallen below the promised one, by
// prob.Short.
const endangered = "endangered: "

// TellEndangered records an event when a promise becomes endangered, when it is endangered for
// another reason than before, and when it is no longer endangered.
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
