package plot

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/forecast/score"
)

func TestRisksSVG(t *testing.T) {
	blend := RiskCurve{"blend", []score.RiskPoint{
		{Count: 100_000, Mean: 2e-6}, {Count: 30_000, Mean: .0004, True: .0005, Low: .0003, High: .0008},
		{Count: 800, Mean: .06, True: .05, Low: .03, High: .08}, {Count: 20, Mean: .8, True: 1, Low: .7, High: 1},
	}}
	constant := RiskCurve{"constant", []score.RiskPoint{{Count: 130_000, Mean: .001, True: .0012}}}
	got := expect(t, "risks", &Risks{"Risks", []RiskCurve{blend, constant, {Name: "mute"}}})
	for _, says := range []string{"blend", "constant", "0.1 %", "100 %"} {
		if !strings.Contains(got, ">"+says+"<") {
			t.Errorf("the picture does not say %q", says)
		}
	}
	drawn(t, &Risks{"Risks", []RiskCurve{blend}}, "png")
}
