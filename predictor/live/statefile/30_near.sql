-- How near medians came to what happened, and two forecasts that know nothing of the job: sums by what was said, one of score.Said.
-- minute, ten_minutes and double count the forecasts that were off by at most so much. day is the day on which the wait began, as in coverage.
CREATE TABLE near (
	day INTEGER NOT NULL, forecaster TEXT NOT NULL, partition TEXT NOT NULL, class TEXT NOT NULL, said TEXT NOT NULL,
	n INTEGER NOT NULL, minute INTEGER NOT NULL, ten_minutes INTEGER NOT NULL, double INTEGER NOT NULL, log_error REAL NOT NULL,
	PRIMARY KEY (day, forecaster, partition, class, said)
) STRICT, WITHOUT ROWID;

-- The last times that came, in seconds, as a JSON array with the oldest first: of waits, of rests of waits, and of times until an end.
CREATE TABLE recent (kind TEXT PRIMARY KEY, seconds TEXT NOT NULL) STRICT, WITHOUT ROWID;
