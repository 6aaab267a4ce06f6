-- The forecasts for jobs that still wait, made when they began to wait. After the time
-- due a wait is longer than the quantiles of all score.Levels. cdf is the distribution
-- function, as little-endian float32.
CREATE TABLE forecasts (
	job INTEGER NOT NULL, submit INTEGER NOT NULL, forecaster TEXT NOT NULL,
	eligible INTEGER NOT NULL, due INTEGER NOT NULL,
	partition TEXT NOT NULL, class TEXT NOT NULL,
	cdf BLOB NOT NULL,
	PRIMARY KEY (job, submit, forecaster)
) STRICT, WITHOUT ROWID;
CREATE INDEX forecasts_by_age ON forecasts (eligible);

-- The sums of scores: coverage by quantile, and reliability by twentieth of the
-- probabilities. day is the day on which the wait began, in days since 1970, UTC.
CREATE TABLE coverage (
	day INTEGER NOT NULL, forecaster TEXT NOT NULL, partition TEXT NOT NULL, class TEXT NOT NULL,
	level REAL NOT NULL,
	n INTEGER NOT NULL, covered INTEGER NOT NULL, pinball REAL NOT NULL,
	PRIMARY KEY (day, forecaster, partition, class, level)
) STRICT, WITHOUT ROWID;
CREATE TABLE reliability (
	day INTEGER NOT NULL, forecaster TEXT NOT NULL, partition TEXT NOT NULL, class TEXT NOT NULL,
	bin INTEGER NOT NULL,
	n INTEGER NOT NULL, predicted REAL NOT NULL, came_true INTEGER NOT NULL, squares REAL NOT NULL,
	PRIMARY KEY (day, forecaster, partition, class, bin)
) STRICT, WITHOUT ROWID;
