-- How many nodes of a partition were idle, at the begin of each interval of five minutes; see package idle. site is empty for the
-- cluster itself, and the name of one that has no varqd.
CREATE TABLE idle_nodes (
	site TEXT NOT NULL, at INTEGER NOT NULL, partition TEXT NOT NULL,
	nodes INTEGER NOT NULL,
	PRIMARY KEY (site, at, partition)
) STRICT, WITHOUT ROWID;
