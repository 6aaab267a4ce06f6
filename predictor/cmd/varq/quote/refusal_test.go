package quote

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// The deadline is told with a refusal, once: a mistyped time is seen. So is until when its offers
// are kept.
func TestRefusalNamesTheDeadline(t *testing.T) {
	const now = 1_795_266_000
	for reason, want := range map[string]int{"partition main has 1 node": 1, "a start by 2026-11-21T14:00:00Z, in 01:00:00, can be promised with probability 0.1 at best": 0} {
		var out bytes.Buffer
		env := &cli.Env{Stdout: &out, Zone: time.UTC, Now: func() int64 { return now }}
		if err := showRefusal(env, &api.PlanRequest{BeginBy: now + 3600}, &api.PlanAnswer{Refusal: &api.Refusal{Reason: reason, KeptUntil: now + 60}}, nil); err != nil {
			t.Fatal(err)
		}
		if strings.Count(out.String(), "2026-11-21T14:00:00, in 01:00:00") != 1 || strings.Count(out.String(), "Asked for: running by") != want {
			t.Errorf("%s", &out)
		}
		if !strings.Contains(out.String(), "\nThe room of the offers is kept for you until 2026-11-21T13:01:00.\n") {
			t.Errorf("%s", &out)
		}
	}
}
