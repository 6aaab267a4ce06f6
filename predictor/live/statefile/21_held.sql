-- The groups that the job of a forecast belongs to, as JSON, and how often the quantiles of score.Levels held in each group.
-- day is the day on which the wait began, as in coverage. Such counts are stored for a shorter time than those of coverage.
ALTER TABLE forecasts ADD COLUMN groups TEXT NOT NULL DEFAULT '[]';
CREATE TABLE held (
	day INTEGER NOT NULL, forecaster TEXT NOT NULL, property TEXT NOT NULL, value TEXT NOT NULL, level REAL NOT NULL,
	n INTEGER NOT NULL, covered INTEGER NOT NULL,
	PRIMARY KEY (day, forecaster, property, value, level)
) STRICT, WITHOUT ROWID;
