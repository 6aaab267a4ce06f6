package simulate

import (
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/trial/scenario"
)

// name names the trial's reservations in plain words, such as "varq at 0.75, 10 %". All
// settings but the share and the probability follow in parentheses, as they were given.
func (t *trial) name() string {
	var name string
	switch {
	case t.kind.Hard != nil:
		name = "fixed times"
	case t.kind.VARQ != nil:
		name = "varq"
		if p := t.kind.VARQ.Prob; p != scenario.DefaultProb {
			name += " at " + prob.Format(p)
		}
	default:
		return "no reservations"
	}
	name += fmt.Sprintf(", %.4g %%", 100*t.share())
	if v := t.kind.VARQ; v != nil && v.TakeOffers {
		name += ", offers taken"
	}
	var settings []string
	for _, setting := range strings.Split(t.Reservations, ",")[1:] {
		if setting != "take-offers" && !strings.HasPrefix(setting, "prob=") {
			settings = append(settings, setting)
		}
	}
	if len(settings) > 0 {
		name += " (" + strings.Join(settings, ", ") + ")"
	}
	return name
}
