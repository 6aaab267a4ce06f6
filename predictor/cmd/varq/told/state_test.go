package told

import (
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// A job that waits again because it was requeued after its work had begun has not started. Its
// story tells of the run before.
func TestTimesOfRequeued(t *testing.T) {
	r := api.Reservation{State: api.StateRunning, Job: 7, Eligible: 1000, Start: 1100, WorkStart: 1200, Set: api.Setting{BeginTime: 900}}
	if eligible, start, work := Times(&r); eligible != 1000 || start != 1100 || work != 1200 {
		t.Errorf("it runs: eligible %d, start %d, work %d", eligible, start, work)
	}
	r.State, r.Set.BeginTime = api.StatePending, 5000
	if eligible, start, work := Times(&r); eligible != 5000 || start != 0 || work != 0 {
		t.Errorf("it waits again: eligible %d, start %d, work %d", eligible, start, work)
	}
	if held := Held(&r, 9000); held != 100 {
		t.Errorf("held for %d s", held)
	}
	var story []string
	for _, l := range Story(&r, nil, 4000, time.UTC) {
		story = append(story, l.Name+": "+l.Text)
	}
	if text := strings.Join(story, "\n"); !strings.Contains(text, "Eligible: from 1970-01-01T01:23:20") || !strings.Contains(text, "before the job was requeued") {
		t.Error(text)
	}
}
