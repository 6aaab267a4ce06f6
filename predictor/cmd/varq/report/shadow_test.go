package report

import (
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// A shadow that has just begun says so, where the time asked about reaches so far.
func TestShadowBegins(t *testing.T) {
	const since = 1_795_266_000
	env := &cli.Env{Zone: time.UTC}
	for _, c := range []struct {
		shadow api.Shadow
		until  int64
		want   string
	}{
		{api.Shadow{Watching: true, Since: since}, 0, "varqd watches since 2026-11-21T13:00:00; the first jobs are told of once they have begun to wait.\n"},
		{api.Shadow{Watching: true, Since: since}, since + 1, "varqd watches since 2026-11-21T13:00:00; the first jobs are told of once they have begun to wait.\n"},
		{api.Shadow{Watching: true, Since: since}, since - 1, "No job was watched in this time.\n"},
		{api.Shadow{Watching: true}, 0, "No job was watched in this time.\n"},
		{api.Shadow{Since: since}, 0, "varqd does not watch now (plan.mode in varq.yaml is not shadow).\nNo job was watched in this time.\n"},
	} {
		if got := shadowSummary(env, &c.shadow, c.until); got != c.want {
			t.Errorf("%+v until %d: %q, want %q", c.shadow, c.until, got, c.want)
		}
	}
}

// Before a job has ended, nodes idled for no known share of the work.
func TestShadowOfUnknownWork(t *testing.T) {
	columns := shadowColumns()
	ratio := columns[len(columns)-1]
	for want, row := range map[string]api.ShadowRow{
		"-":    {Prob: headline, Jobs: 3, Kept: 2, Held: 3.64 * 3600},
		"0.50": {Prob: headline, Jobs: 3, Kept: 2, Held: 3.64 * 3600, Ratio: .5},
		"0.00": {Prob: headline, Jobs: 3, Kept: 2},
	} {
		if got := ratio.Value(row); got != want {
			t.Errorf("%+v: a ratio of %s, want %s", row, got, want)
		}
		text := shadowSummary(&cli.Env{Zone: time.UTC}, &api.Shadow{Watching: true, Jobs: 3, Rows: []api.ShadowRow{row}}, 0)
		if said := strings.Contains(text, " times the work"); said == (want == "-") {
			t.Errorf("%+v: %s", row, text)
		}
	}
}
