package desk

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/plugin/filter"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
)

// TestOffersAreInTheSubmittersZone: varqd is in Tokyo and the submitter in New York. An offer means
// the same time when the submitter pastes it.
func TestOffersAreInTheSubmittersZone(t *testing.T) {
	const tokyo, newYork = 9 * 3600, -5 * 3600
	varqd := time.Local
	time.Local = time.FixedZone("JST", tokyo)
	t.Cleanup(func() { time.Local = varqd })
	zone := time.FixedZone("EST", newYork)
	read := func(options string) *filter.Submission {
		t.Helper()
		s, err := filter.Read([]byte(options), "sbatch", nil, desktest.Epoch, zone, func() string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := newSite(t)
	s.Outlook.Delay = 9000 // but the deadline is in 7200 s
	asked := read(fmt.Sprintf(`{"time":"01:00:00","spank:begin-by":"uts%d","spank:begin-after":"uts%d"}`, desktest.Epoch+7200, desktest.Epoch+6600))
	answer, err := s.desk.Plan(t.Context(), "alice", &asked.Request, false)
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	if err := asked.Write(&lines, answer); err != nil {
		t.Fatal(err)
	}
	_, offer, found := strings.Cut(lines.String(), "possible: --begin-by=")
	beginBy, rest, _ := strings.Cut(offer, " --begin-after=")
	beginAfter, _, _ := strings.Cut(rest, " ")
	if !found {
		t.Fatalf("no later deadline is offered:\n%s", lines.String())
	}
	pasted := read(fmt.Sprintf(`{"time":"01:00:00","spank:begin-by":%q,"spank:begin-after":%q}`, beginBy, beginAfter)).Request
	if pasted.BeginBy-pasted.BeginAfter != 600 {
		t.Errorf("the window of 600 s is %d s long", pasted.BeginBy-pasted.BeginAfter)
	}
	answer, err = s.desk.Plan(t.Context(), "alice", &pasted, false)
	if err != nil || answer.Plan == nil {
		t.Errorf("what was offered is not promised: %+v, %v", answer.Refusal, err)
	}
	if lead := pasted.BeginBy - desktest.Epoch; lead > 3*3600 {
		t.Errorf("the deadline offered is %d s away; jobs wait 9000 s", lead)
	}
}
