package told

import (
	"fmt"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// longAgo is the age of the queue, in seconds, above which users are told of it.
const longAgo = 30

// Learning says of who answers that it has learnt a part of the past only.
func Learning(who string) string {
	return who + " has learnt only the newest part of the past so far, and may answer otherwise in some minutes"
}

// Old says how old the queue is that was read at a time, or "" if it is not old. The time is 0 if
// it is not known.
func Old(asOf, now int64) string {
	if asOf == 0 || now-asOf <= longAgo {
		return ""
	}
	return fmt.Sprintf("the queue was read %s ago, and jobs that came since are not counted", slurmtime.FormatDuration(now-asOf))
}

// AsOf adds to a clause that rests on the queue what Old says of that.
func AsOf(clause string, asOf, now int64) string {
	if old := Old(asOf, now); old != "" {
		return clause + "; " + old
	}
	return clause
}

// Reason says why an answer that is told now refuses, with times in zone: a clause without a full
// stop.
func Reason(a *api.PlanAnswer, now int64, zone *time.Location) string {
	return AsOf(strings.TrimSuffix(slurmtime.InZone(a.Refusal.Reason, zone), "."), a.AsOf, now)
}
