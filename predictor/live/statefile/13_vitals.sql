-- What was noticed in the vitals of nodes; see package vitals.
CREATE TABLE vitals_noticed (
	node TEXT NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL,
	what TEXT NOT NULL, -- in words
	PRIMARY KEY (node, kind, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX vitals_noticed_at ON vitals_noticed (at);
