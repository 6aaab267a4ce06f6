-- Forecasts of failures whose day is not over: what all forecasters said at a time of all nodes, as
-- JSON; see package faultscore.
CREATE TABLE fault_rounds (at INTEGER PRIMARY KEY, round TEXT NOT NULL) STRICT;
-- The failures of nodes that varqd has seen since the first of these rounds.
CREATE TABLE fault_failures (
	node TEXT NOT NULL, at INTEGER NOT NULL,
	PRIMARY KEY (node, at)
) STRICT, WITHOUT ROWID;
-- The sums of the scores of forecasts of failures, score.Faults as JSON. day is the day on which they were made, in
-- days since 1970, UTC.
CREATE TABLE fault_scores (
	day INTEGER NOT NULL, forecaster TEXT NOT NULL,
	sums TEXT NOT NULL,
	PRIMARY KEY (day, forecaster)
) STRICT, WITHOUT ROWID;
-- The parts in fault.Vote of the model and of the site's own forecasters.
CREATE TABLE fault_votes (forecaster TEXT PRIMARY KEY, part REAL NOT NULL) STRICT, WITHOUT ROWID;
