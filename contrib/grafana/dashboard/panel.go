package main

import (
	"fmt"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// panel is one panel.
type panel struct {
	title string
	// shows says what is drawn, good how it looks if all is well, and otherwise what to do if not.
	// Together they are the panel's description.
	shows, good, otherwise string
	kind                   kind
	width                  uint32 // of 24
	unit                   string // of Grafana
	// limits are the values from which on the colour is another, in order. Below the first it is
	// green.
	limits  []limit
	queries []query
}

// limit is a value, and the colour from there on.
type limit struct {
	from   float64
	colour string
}

// query is a query of Prometheus. In expr, $i stands for the choice of varqds.
type query struct{ expr, legend string }

// kind is how a panel shows what it shows.
type kind uint8

const (
	lines  kind = iota
	areas       // lines that are stacked
	number      // the last value of each query
	states      // over time, 0 being well and 1 not
	bands       // a table with a row for each band of probability, and a column for each query
	spread      // the buckets of a histogram over time
)

// height is that of panels; of numbers it is heightOfNumbers.
const (
	height          = 8
	heightOfNumbers = 4
)

// identified is a panel with its id. It is a cog.Builder.
type identified struct {
	*panel
	id uint32
}

// Build implements cog.Builder.
func (p identified) Build() (dashboard.Panel, error) {
	built, err := p.kind.build()
	if err != nil {
		return built, err
	}
	built.Id, built.Title = &p.id, &p.title
	built.Description = cog.ToPtr(fmt.Sprintf("%s\n\n**Good:** %s\n\n**Otherwise:** %s", p.shows, p.good, p.otherwise))
	built.Datasource = &source
	built.GridPos = &dashboard.GridPos{W: p.width, H: height}
	if p.kind == number {
		built.GridPos.H = heightOfNumbers
	}
	if built.FieldConfig == nil {
		built.FieldConfig = dashboard.NewFieldConfigSource()
	}
	built.FieldConfig.Defaults.Unit = &p.unit
	if len(p.limits) > 0 {
		built.FieldConfig.Defaults.Thresholds = p.thresholds()
	}
	for i, q := range p.queries {
		target, err := p.target(q, string(rune('A'+i))).Build()
		if err != nil {
			return built, err
		}
		built.Targets = append(built.Targets, target)
	}
	if p.kind == bands {
		p.tabulate(&built)
	}
	return built, nil
}

func (p identified) target(q query, id string) cog.Builder[variants.Dataquery] {
	t := prometheus.NewDataqueryBuilder().RefId(id).Datasource(source).LegendFormat(q.legend).
		Expr(strings.ReplaceAll(q.expr, "$i", `instance=~"$instance"`))
	switch p.kind {
	case bands:
		return t.Instant().Format(prometheus.PromQueryFormatTable)
	case number:
		return t.Instant()
	case spread:
		return t.Range().Format(prometheus.PromQueryFormatHeatmap)
	case lines, areas, states:
	}
	return t.Range()
}

func (p identified) thresholds() *dashboard.ThresholdsConfig {
	t := &dashboard.ThresholdsConfig{Mode: dashboard.ThresholdsModeAbsolute, Steps: []dashboard.Threshold{{Color: "green"}}}
	for _, l := range p.limits {
		t.Steps = append(t.Steps, dashboard.Threshold{Value: &l.from, Color: l.colour})
	}
	return t
}

// tabulate makes one table of the answers to the queries, whose columns are called as their
// legends.
func (p identified) tabulate(built *dashboard.Panel) {
	columns := map[string]string{"band": "probability promised"}
	for i, q := range p.queries {
		columns["Value #"+string(rune('A'+i))] = q.legend
	}
	built.Transformations = []dashboard.DataTransformerConfig{
		{Id: "merge", Options: map[string]any{}},
		{Id: "organize", Options: map[string]any{"excludeByName": map[string]bool{"Time": true}, "renameByName": columns}},
	}
}

// build returns an empty panel of this kind.
func (k kind) build() (dashboard.Panel, error) {
	legend := common.NewVizLegendOptionsBuilder().DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom).ShowLegend(true)
	tooltip := common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending)
	switch k {
	case number:
		return stat.NewPanelBuilder().Orientation(common.VizOrientationAuto).GraphMode(common.BigValueGraphModeNone).ColorMode(common.BigValueColorModeValue).
			ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).Build()
	case states:
		said := dashboard.ValueMapping{ValueMap: &dashboard.ValueMap{Type: dashboard.MappingTypeValueToText, Options: map[string]dashboard.ValueMappingResult{
			"0": {Text: cog.ToPtr("well"), Color: cog.ToPtr("green")},
			"1": {Text: cog.ToPtr("not well"), Color: cog.ToPtr("red")},
		}}}
		return statetimeline.NewPanelBuilder().Mappings([]dashboard.ValueMapping{said}).ShowValue(common.VisibilityModeNever).Legend(legend).Build()
	case bands:
		return table.NewPanelBuilder().Decimals(3).Footer(common.NewTableFooterOptionsBuilder().Reducer([]string{})).Build()
	case spread:
		return heatmap.NewPanelBuilder().Calculate(false).
			Color(heatmap.NewHeatmapColorOptionsBuilder().Mode(heatmap.HeatmapColorModeScheme).Scheme("Blues").Steps(32)).Build()
	case areas:
		return timeseries.NewPanelBuilder().FillOpacity(40).Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal)).
			Min(0).Legend(legend).Tooltip(tooltip).Build()
	case lines:
	}
	return timeseries.NewPanelBuilder().FillOpacity(0).Legend(legend).Tooltip(tooltip).Build()
}
