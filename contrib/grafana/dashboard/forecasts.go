package main

var forecasts = []panel{
	{
		title: "How often quantiles hold", kind: lines, width: 8, unit: "percentunit",
		shows:     "The share of the waits of the last 30 days within each quantile that was forecast as the job began to wait (blend), and of the times until jobs ended (completion).",
		good:      "each line is at its own level: .5 at 50 %, .95 at 95 %.",
		otherwise: "a line below its level: waits are longer than forecast. Some points are made up for by recalibration; more, for days, is drift. 'varq report --calibration' names the groups of jobs that are off.",
		queries:   []query{{`varq_forecast_coverage{$i,forecaster=~"blend|completion"}`, "{{forecaster}} {{level}}"}},
	},
	{
		title: "Loss, of that of QBETS alone", kind: lines, width: 8, unit: "short",
		limits:    []limit{{1.1, "orange"}},
		shows:     "The pinball loss of varq's forecasts over the last 30 days, divided by that of QBETS, the method of 2007, on the same jobs.",
		good:      "below 1: the lower, the less must be held to keep the same promise.",
		otherwise: "above 1 for weeks: 'varq report --calibration' compares all forecasters. A few days of unusual waits may decide; an outage is left out by itself.",
		queries:   []query{{`varq:forecast_pinball:ratio_qbets{$i}`, "{{level}}"}},
	},
	{
		title: "Loss of each forecaster at .95", kind: lines, width: 8, unit: "s",
		shows:     "The mean pinball loss of the .95 quantile over the last 30 days, by forecaster.",
		good:      "blend is about the lowest.",
		otherwise: "if another one is clearly lower for weeks, the blend has not learnt to trust it yet, or its good days are few.",
		queries:   []query{{`varq_forecast_pinball_seconds{$i,level="0.95",forecaster!="completion"}`, "{{forecaster}}"}},
	},
	{
		title: "Calibration error", kind: lines, width: 8, unit: "percentunit",
		shows:     "How far the probabilities of the last 30 days were off in the mean, by forecaster.",
		good:      "blend below 3 %.",
		otherwise: "'varq report --calibration --plot=reliability.svg' draws which probabilities are off. Promises rest on lower bounds of them, which keep some distance.",
		queries:   []query{{`varq_forecast_calibration_error{$i}`, "{{forecaster}}"}},
	},
	{
		title: "Drift", kind: states, width: 8, unit: "short",
		shows:     "Whether a forecaster's quantiles have come to hold more or less often than they say, by more than chance.",
		good:      "blend and completion are well. The others may drift: the blend then listens to them less.",
		otherwise: "'varq report --calibration' says since when and in which direction: look for what has changed then, such as partitions, priorities, or a new group of users.",
		queries:   []query{{`varq_forecast_drift{$i}`, "{{forecaster}}"}},
	},
	{
		title: "Forecasts scored, per hour", kind: lines, width: 8, unit: "short",
		shows:     "Forecasts of waits, and of ends, that were held against what came of them.",
		good:      "as many as jobs start, but for those of arrays and of which too many begin to wait at once.",
		otherwise: "0 while jobs start: the queue is not read, see the age of the picture below.",
		queries:   []query{{`sum by (forecaster) (increase(varq_forecasts_scored_total{$i,forecaster=~"blend|completion"}[1h]))`, "{{forecaster}}"}},
	},
}
