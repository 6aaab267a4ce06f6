package main

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// row is a row of the dashboard: a title, and the panels below it from left to right and from top
// to bottom.
type row struct {
	title  string
	panels []panel
}

// rows is the whole dashboard.
var rows = []row{
	{"Promises", promises},
	{"Kept against promised, by the probability promised", kept},
	{"Quality of the forecasts", forecasts},
	{"The cluster, and what is held", cluster},
	{"Health of varqd", health},
}

// source is the Prometheus that the reader chooses.
var source = common.DataSourceRef{Type: cog.ToPtr("prometheus"), Uid: cog.ToPtr("${datasource}")}

// build lays the rows out. Panels have ids in their order.
func build(rows []row) (dashboard.Dashboard, error) {
	d := dashboard.NewDashboardBuilder("varq").
		Uid("varq").Description("What varq promises and keeps, how good its forecasts are, and how varqd is. It needs the rules of contrib/prometheus.").
		Tags([]string{"varq", "slurm"}).Time("now-7d", "now").Refresh("1m").Editable().Tooltip(dashboard.DashboardCursorSyncCrosshair).
		WithVariable(dashboard.NewDatasourceVariableBuilder("datasource").Label("Prometheus").Type("prometheus")).
		WithVariable(dashboard.NewQueryVariableBuilder("instance").Label("varqd").Datasource(source).
			Query(dashboard.StringOrMap{String: cog.ToPtr("label_values(varq_promises_total, instance)")}).
			Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Sort(dashboard.VariableSortAlphabeticalAsc).Multi(true).IncludeAll(true).AllValue(".*"))
	id := uint32(1)
	for _, r := range rows {
		d.WithRow(dashboard.NewRowBuilder(r.title).Id(id))
		id++
		for i := range r.panels {
			d.WithPanel(identified{&r.panels[i], id})
			id++
		}
	}
	return d.Build()
}
