-- Reservations that were not made: jobs that varqd has watched in shadow mode. within_50 to
-- within_95 are the waits, in seconds, within which a start would have been promised with these
-- probabilities, or 0. key is a random number that decides whether the job stays in the sample.
CREATE TABLE shadows (
	job INTEGER NOT NULL, submit INTEGER NOT NULL,
	key REAL NOT NULL,
	partition TEXT NOT NULL, nodes INTEGER NOT NULL,
	within_50 INTEGER NOT NULL, within_75 INTEGER NOT NULL, within_90 INTEGER NOT NULL, within_95 INTEGER NOT NULL,
	eligible INTEGER NOT NULL, start INTEGER NOT NULL DEFAULT 0, end INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (job, submit)
) STRICT, WITHOUT ROWID;
CREATE INDEX shadows_by_age ON shadows (eligible);
