package report

import (
	"cmp"
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	groups "github.com/varq-project/varq/predictor/forecast/score/group"
)

// showWorst shows for which groups of jobs the forecasts on which promises rest, those of ends
// and those of a forecaster that is asked about hold least.
func showWorst(env *cli.Env, c api.Calibration, asked string) error {
	var worst []api.GroupCoverage
	for _, g := range c.Worst {
		if g.Forecaster == cmp.Or(asked, told.Believed) || asked == "" && g.Of == api.OfEnd {
			worst = append(worst, g)
		}
	}
	if len(worst) == 0 {
		return nil
	}
	fmt.Fprintf(env.Stdout, "\nGroups of %d jobs or more for which they are most off, by more than chance, in 90 days or more\n", groups.Least)
	return table.Write(env.Stdout, worstColumns(worst), worst, table.Style{})
}

// worstColumns returns the columns of groups, of which the first has the quantiles of all.
func worstColumns(worst []api.GroupCoverage) []table.Column[api.GroupCoverage] {
	type row = api.GroupCoverage
	columns := []table.Column[row]{
		{Name: "Forecaster", Value: func(g row) string { return g.Forecaster }},
		{Name: "By", Value: func(g row) string { return g.By }},
		{Name: "Group", Value: func(g row) string { return cmp.Or(g.Value, "another user") }},
		{Name: "Jobs", Right: true, Value: func(g row) string { return cli.Thousands(g.Jobs) }},
	}
	for i, q := range worst[0].Quantiles {
		columns = append(columns, table.Column[row]{Name: fmt.Sprintf("Cover%g", 100*q.Quantile), Value: func(g row) string {
			q := g.Quantiles[i]
			return cli.Interval(q.Covered, q.Low, q.High)
		}})
	}
	return columns
}
