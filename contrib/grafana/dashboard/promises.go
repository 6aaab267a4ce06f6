package main

var promises = []panel{
	{
		title: "Promised, last 24 hours", kind: number, width: 6, unit: "short",
		shows:     "Reservations promised in the last 24 hours.",
		good:      "about as many as users ask for.",
		otherwise: "0 where users ask: look at what is refused, to the right, and at 'varq status'.",
		queries:   []query{{`sum(increase(varq_promises_total{$i}[24h]))`, "promised"}},
	},
	{
		title: "Refused, last 24 hours", kind: number, width: 6, unit: "percentunit",
		limits:    []limit{{.5, "orange"}, {.9, "red"}},
		shows:     "The share of the requests for a reservation that were refused in the last 24 hours.",
		good:      "up to a half: users try deadlines, and take up an offer.",
		otherwise: "'varq quote' as one of them tells the reason: a rule of the site's policy, a queue longer than ever, or a varqd that is not well.",
		queries: []query{{
			`sum(increase(varq_refusals_total{$i}[24h])) / (sum(increase(varq_refusals_total{$i}[24h])) + sum(increase(varq_promises_total{$i}[24h])) > 0)`, "refused",
		}},
	},
	{
		title: "Open now", kind: number, width: 6, unit: "short",
		shows:     "Reservations that are not settled: promised, waiting, holding their nodes, or running.",
		good:      "it goes up and down with the deadlines.",
		otherwise: "if it only grows, promises are not settled: 'varqd --check --live' tells whether accounting answers.",
		queries:   []query{{`sum(varq_reservations{$i,state!~"KEPT|MISSED|CANCELLED"})`, "open"}},
	},
	{
		title: "Kept, of those settled in 14 days", kind: number, width: 6, unit: "percentunit",
		shows:     "The share of the promises that were kept, and the mean probability that was promised.",
		good:      "kept is not less than promised, but for chance, which the next row tells.",
		otherwise: "'varq status --all --state=MISSED -S now-14days' shows what was missed, and why.",
		queries: []query{
			{`sum(varq:promises_kept:increase14d{$i}) / (sum(varq:promises_settled:increase14d{$i}) > 0)`, "kept"},
			{`sum(increase(varq_promises_expected_kept_total{$i}[14d])) / (sum(varq:promises_settled:increase14d{$i}) > 0)`, "promised"},
		},
	},
	{
		title: "Promised and refused, per hour", kind: lines, width: 12, unit: "short",
		shows:     "How many reservations were promised and refused, and how often pending ones were planned again, and moved.",
		good:      "refusals are no more than promises in the long run.",
		otherwise: "a time of refusals alone: compare it with varqd's health, below, and with the jobs in the queue.",
		queries: []query{
			{`sum(increase(varq_promises_total{$i}[1h]))`, "promised"},
			{`sum(increase(varq_refusals_total{$i}[1h]))`, "refused"},
			{`sum(increase(varq_revisions_total{$i}[1h]))`, "changes of jobs"},
		},
	},
	{
		title: "What became of promises, per day", kind: areas, width: 12, unit: "short",
		shows:     "Promises settled in the 24 hours before, by what became of them. What accounting has corrected later counts as what it was first, and again as corrected.",
		good:      "missed is a small band, as wide as the probabilities promised leave it. Users cancel when their plans change.",
		otherwise: "a day with many missed: 'varq report --all --by=partition -S now-7days' tells where. Many cancelled as never submitted: sbatch fails after varq's part, for instance by another limit of Slurm's.",
		queries: []query{
			{`sum by (outcome) (increase(varq_promises_settled_total{$i}[1d]))`, "{{outcome}}"},
			{`sum(increase(varq_promises_corrected_total{$i}[1d]))`, "corrected"},
		},
	},
}

var kept = []panel{
	{
		title: "Last 14 days", kind: bands, width: 12, unit: "short",
		shows:     "Of the promises settled in 14 days, by the probability promised: how many, what was promised in the mean, what was kept, and the ends of its 99 % interval.",
		good:      "promised lies within the interval, or below: varq may be cautious.",
		otherwise: "kept is less than promised by more than chance where the upper end is below promised. 'varq report --all --calibration' tells for which jobs forecasts are off; max_prob in the policy of varq.yaml bounds what is promised until then.",
		queries: []query{
			{`sum by (band) (varq:promises_settled:increase14d{$i})`, "settled"},
			{`avg by (band) (varq:promises_promised:ratio14d{$i})`, "promised"},
			{`avg by (band) (varq:promises_kept:ratio14d{$i})`, "kept"},
			{`avg by (band) (varq:promises_kept:lower14d{$i})`, "lower end"},
			{`avg by (band) (varq:promises_kept:upper14d{$i})`, "upper end"},
		},
	},
	{
		title: "Upper end of what was kept, less what was promised", kind: lines, width: 12, unit: "percentunit",
		shows:     "By band, for bands with at least 20 promises settled in 14 days: the upper end of the 99 % interval of the share kept, less the mean probability promised.",
		good:      "above 0.",
		otherwise: "below 0 for an hour is the alert VarqKeptBelowPromised: more was promised than is kept. Its runbook tells what to look at.",
		queries: []query{{
			`(varq:promises_kept:upper14d{$i} - varq:promises_promised:ratio14d{$i}) and varq:promises_settled:increase14d{$i} >= 20`, "{{band}}",
		}},
	},
}
