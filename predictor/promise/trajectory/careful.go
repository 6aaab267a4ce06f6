package trajectory

import (
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/workload"
)

// leastCare is by how much less than the forecast can be promised at least where users are told
// why.
const leastCare = .05

// Careful says why less than the forecast of a start can be promised, whatever the room is: a
// clause without a full stop. It is "" if about as much can be promised.
func Careful(e *workload.Estimate) string {
	if e.Forecast-e.Prob < leastCare {
		return ""
	}
	var why []string
	if prob.Format(e.Bound) < prob.Format(e.Forecast) {
		why = append(why, fmt.Sprintf("counts on %s, as only %d past waits are known", prob.Format(e.Bound), e.Sample))
	}
	if times := (1 - e.Prob) / (1 - e.Bound); times > 1.05 && e.Bound < 1 {
		why = append(why, fmt.Sprintf("counts the risk of being late %.1f times, until more promises have been kept", times))
	}
	if len(why) == 0 {
		return ""
	}
	return fmt.Sprintf("the forecast is %s, and a promise %s", prob.Format(e.Forecast), strings.Join(why, ", and "))
}

// Careful is Careful of the start that can be promised with the highest probability of the
// trajectory. It is "" if the room bounds that.
func (a *Answer) Careful() string {
	pt := best(a.Trajectory)
	return pt.careful()
}

// careful is Careful of a point. It is "" if the room bounds what can be promised.
func (pt *Point) careful() string {
	if pt.Prob < pt.free.Prob || pt.Forecast > pt.free.Forecast {
		return ""
	}
	e := pt.free
	e.Forecast = pt.Forecast
	return Careful(&e)
}
