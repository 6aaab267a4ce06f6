package main

var cluster = []panel{
	{
		title: "Jobs in the queue", kind: areas, width: 8, unit: "short",
		shows:     "Jobs that run, that wait for nodes, and that cannot start yet: held, dependent, or with a later begin time, as jobs of promises have.",
		good:      "as the site knows it.",
		otherwise: "many that wait while few run: nodes are down or drained (sinfo -R), or something big is next. varq's forecasts get less certain, and promises dearer.",
		queries:   []query{{`sum by (state) (varq_queue_jobs{$i})`, "{{state}}"}},
	},
	{
		title: "Node-hours held and worked, per day", kind: areas, width: 8, unit: "short",
		shows:     "Of reservations settled in the 24 hours before: for how many node-hours nodes idled until the work could begin, and how many the work took.",
		good:      "held is the smaller part.",
		otherwise: "see held per worked.",
		queries: []query{
			{`sum(increase(varq_held_node_seconds_total{$i}[1d])) / 3600`, "held"},
			{`sum(increase(varq_worked_node_seconds_total{$i}[1d])) / 3600`, "worked"},
		},
	},
	{
		title: "Held per worked", kind: lines, width: 8, unit: "short",
		limits:    []limit{{1, "orange"}},
		shows:     "Node-hours held, of those worked, of reservations settled in the week before. The accounts of the users pay for both.",
		good:      "below 1.",
		otherwise: "'varq report --all --by=partition -S now-7days' tells where (Ratio is worked and held, of worked). Short jobs with sure promises are dear: max_hold and the policy of varq.yaml bound that.",
		queries: []query{{
			`sum(increase(varq_held_node_seconds_total{$i}[7d])) / (sum(increase(varq_worked_node_seconds_total{$i}[7d])) > 0)`, "held per worked",
		}},
	},
	{
		title: "Waits of all jobs", kind: spread, width: 12, unit: "s",
		shows:     "How long the jobs waited that started then.",
		good:      "as the site knows it.",
		otherwise: "a dark band that rises: the queue grows longer. A new, second band: another kind of jobs has come. Forecasts follow within some hundred jobs.",
		queries:   []query{{`sum by (le) (increase(varq_job_wait_seconds_bucket{$i}[$__rate_interval]))`, "{{le}}"}},
	},
	{
		title: "Waits by partition, .5 and .9 quantiles of six hours", kind: lines, width: 12, unit: "s",
		shows:     "Half of the jobs of a partition that started in the six hours before waited no longer than the one line, and nine of ten no longer than the other.",
		good:      "as the site knows it.",
		otherwise: "one partition far above the others: 'varq predict -p NAME -N1 -t 1:00:00 --why' tells what its forecasts rest on.",
		queries: []query{
			{`histogram_quantile(0.5, sum by (partition, le) (rate(varq_job_wait_seconds_bucket{$i}[6h])))`, "{{partition}} .5"},
			{`histogram_quantile(0.9, sum by (partition, le) (rate(varq_job_wait_seconds_bucket{$i}[6h])))`, "{{partition}} .9"},
		},
	},
	{
		title: "Waits by size, .9 quantile of a day", kind: lines, width: 12, unit: "s",
		shows:     "Nine of ten jobs of a size that started in the 24 hours before waited no longer.",
		good:      "larger jobs wait longer, but not for ever.",
		otherwise: "where a size starves, its users profit from --size=auto or --sizes ('varq size').",
		queries:   []query{{`histogram_quantile(0.9, sum by (size, le) (rate(varq_job_wait_seconds_bucket{$i}[1d])))`, "{{size}}"}},
	},
	{
		title: "Waits by account, .9 quantile of a day", kind: lines, width: 12, unit: "s",
		shows:     "The same by account, of those that varq.yaml names (metrics: accounts).",
		good:      "as far apart as their shares.",
		otherwise: "sshare tells whether an account has used up its share; a limit of the account holds its jobs back otherwise.",
		queries:   []query{{`histogram_quantile(0.9, sum by (account, le) (rate(varq_account_job_wait_seconds_bucket{$i}[1d])))`, "{{account}}"}},
	},
}
