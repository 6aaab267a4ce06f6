package broker

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

// A group that cannot be is told by what keeps it from being: a site that is silent, one that has
// nothing, or the times.
func TestGroupThatCannotBe(t *testing.T) {
	t.Parallel()
	has := Answer{ProbeAnswer: api.ProbeAnswer{Slots: []api.Slot{slotAt(1000)}}}
	for name, c := range map[string]struct {
		parts       [][]string
		beta, gamma Answer
		want        string
	}{
		"a silent site":       {[][]string{{"alpha"}, {"beta"}}, Answer{Error: "no answer"}, has, "a job is to run at beta, which has not answered as it should: try again once it does"},
		"silent alternatives": {[][]string{{"alpha"}, {"beta", "gamma"}}, Answer{Error: "no answer"}, Answer{Error: "no answer"}, "a job is to run at beta or gamma, which has not"},
		"one of them":         {[][]string{{"alpha"}, {"beta", "gamma"}}, Answer{Error: "no answer"}, Answer{}, "a job is to run at beta or gamma, which offers nothing: try a wider window"},
		"an empty site":       {[][]string{{"alpha"}, {"beta"}}, Answer{}, has, "a job is to run at beta, which offers nothing: try a wider window"},
		"no common time":      {[][]string{{"alpha"}, {"beta", "gamma"}}, Answer{Error: "no answer"}, has, "there is no time at which all clusters offer enough: "},
	} {
		alpha := has
		alpha.Site, c.beta.Site, c.gamma.Site = "alpha", "beta", "gamma"
		together := Together{Parts: c.parts}
		if got := together.why([]Answer{alpha, c.beta, c.gamma}); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
