package main

var health = []panel{
	{
		title: "Parts of varqd", kind: states, width: 12, unit: "short",
		shows:     "Whether a part of varqd has a problem.",
		good:      "all are well. A restart of Slurm shows for a minute or two.",
		otherwise: "'varq status' has the problem in words, 'varqd --check --live' asks Slurm for each thing that varqd needs. With disk, rights or ledger nothing is promised.",
		queries: []query{
			{`varq_problem{$i}`, "{{part}}"},
			{`varq_history_in_memory{$i}`, "history's file"},
			{`1 - varq_forecaster_up{$i}`, "forecaster {{forecaster}}"},
		},
	},
	{
		title: "Age of the picture", kind: lines, width: 6, unit: "s",
		limits:    []limit{{2100, "red"}},
		shows:     "How long ago the queue was read that forecasts rest on.",
		good:      "some ten seconds; up to 30 minutes where the queue is so long that slurmrestd is to be spared.",
		otherwise: "'varqd --check --live' tells whether slurmrestd answers.",
		queries:   []query{{`varq:picture_age:seconds{$i}`, "{{instance}}"}},
	},
	{
		title: "Clocks", kind: lines, width: 6, unit: "s",
		shows:     "By how much Slurm's clock is ahead of that of varqd's host.",
		good:      "less than a second.",
		otherwise: "'chronyc tracking' on both hosts.",
		queries:   []query{{`varq_slurm_clock_ahead_seconds{$i}`, "{{instance}}"}},
	},
	{
		title: "slurmrestd: .9 quantile of a request", kind: lines, width: 8, unit: "s",
		limits:    []limit{{10, "red"}},
		shows:     "How long nine of ten requests to slurmrestd took at most, by kind.",
		good:      "queue and accounting up to some seconds, the others below one.",
		otherwise: "sdiag shows whether slurmctld is busy, and with whose requests.",
		queries:   []query{{`max by (request) (varq:slurmrestd_request_seconds:p90_10m{$i})`, "{{request}}"}},
	},
	{
		title: "slurmrestd: requests without an answer, and load", kind: lines, width: 8, unit: "percentunit",
		shows:     "The share of varqd's requests that slurmrestd left unanswered, and for what share of the time varqd keeps slurmrestd busy.",
		good:      "no request, and a load below watch.load of varq.yaml (10 %).",
		otherwise: "unanswered: systemctl status slurmrestd, scontrol ping. A load at its bound: the queue is read less often than it might be; watch.load may be raised if slurmctld bears it.",
		queries: []query{
			{`varq:slurmrestd_unanswered:ratio10m{$i}`, "unanswered"},
			{`varq_slurmrestd_load{$i}`, "load"},
		},
	},
	{
		title: "Looks at the queue, .9 quantile", kind: lines, width: 8, unit: "s",
		shows:     "How long a look took, with all that was due then for reservations: at the whole queue, and at the jobs of reservations alone.",
		good:      "little more than slurmrestd's part of it.",
		otherwise: "much longer than slurmrestd takes: the host of varqd is busy, or its disk is slow.",
		queries:   []query{{`histogram_quantile(0.9, sum by (read, le) (rate(varq_look_seconds_bucket{$i}[10m])))`, "{{read}}"}},
	},
	{
		title: "Requests of users, per second", kind: areas, width: 8, unit: "reqps",
		shows:     "Requests that varqd answered, by status of HTTP. 2xx are answers, refusals of a reservation among them; 4xx are mistakes of who asks.",
		good:      "5xx are rare.",
		otherwise: "'journalctl -u varqd' has each failure with its path. 429 and 503 in great number: one user or host asks too much, and waits.",
		queries:   []query{{`sum by (status) (rate(varq_request_seconds_count{$i}[$__rate_interval]))`, "{{status}}"}},
	},
	{
		title: "Requests that failed, by path", kind: lines, width: 8, unit: "reqps",
		shows:     "Requests answered with 5xx, by path.",
		good:      "none.",
		otherwise: "/v1/plans alone: forecasts or the ledger; all paths: varqd is too busy, or munge does not work ('varq doctor').",
		queries:   []query{{`sum by (path) (rate(varq_request_seconds_count{$i,status=~"5.."}[$__rate_interval])) > 0`, "{{path}}"}},
	},
	{
		title: "Time to answer, .99 quantile", kind: lines, width: 8, unit: "s",
		limits:    []limit{{1, "orange"}, {2, "red"}},
		shows:     "How long 99 of 100 requests took at most, by path. sbatch waits two seconds for /v1/plans.",
		good:      "/v1/plans below a second; probes and sizes, which make many plans, take longer.",
		otherwise: "compare with the processor time, to the right below: varqd needs one processor now and then. A site's own forecaster may hold plans up (timeout in forecasters).",
		queries:   []query{{`histogram_quantile(0.99, sum by (path, le) (rate(varq_request_seconds_bucket{$i,path=~"/v1/.*"}[10m])))`, "{{path}}"}},
	},
	{
		title: "Failures", kind: lines, width: 8, unit: "short",
		shows:     "Failed attempts of varqd's loops per ten minutes, by part, and writes that the ledger's file has not taken.",
		good:      "none.",
		otherwise: "ledger: 'df /var/lib/varq'. The others: 'journalctl -u varqd' (trouble).",
		queries: []query{
			{`sum by (what) (increase(varq_slurm_errors_total{$i}[10m])) > 0`, "{{what}}"},
			{`sum(increase(varq_ledger_write_errors_total{$i}[10m]))`, "ledger"},
		},
	},
	{
		title: "Past jobs learnt from", kind: lines, width: 8, unit: "short",
		shows:     "How many past jobs the forecasts rest on.",
		good:      "it grows until 50,000, and is the same after a restart.",
		otherwise: "0: varqd still reads accounting, which takes minutes at first, and promises nothing. A few hundred: forecasts are wide.",
		queries:   []query{{`varq_history_jobs{$i}`, "{{instance}}"}},
	},
	{
		title: "Processor and memory", kind: lines, width: 8, unit: "short",
		shows:     "Processors that varqd uses, and its memory in GiB.",
		good:      "a small part of a processor, and less than 1 GiB.",
		otherwise: "for long queues raise GOMEMLIMIT (varqd(8)); after a gap in what it has seen, varqd lives through the past again, which takes a processor for some minutes.",
		queries: []query{
			{`rate(process_cpu_seconds_total{$i,job="varqd"}[$__rate_interval])`, "processors"},
			{`process_resident_memory_bytes{$i,job="varqd"} / 2 ^ 30`, "GiB"},
		},
	},
}
