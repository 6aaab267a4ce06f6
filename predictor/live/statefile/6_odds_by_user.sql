-- What has become of promises, by user and by range of budgets: forecast.Odds. The user is
-- empty for all that are not known by name, as for promises before this table. Until then,
-- the odds contained what they begin with, 1.5 misses for 1 that was expected.
CREATE TABLE odds_by_user (
	user TEXT NOT NULL, place INTEGER NOT NULL,
	missed REAL NOT NULL, expected REAL NOT NULL,
	PRIMARY KEY (user, place)
) STRICT, WITHOUT ROWID;
INSERT INTO odds_by_user SELECT '', place, max(missed - 1.5, 0), max(said - 1, 0) FROM odds;
DROP TABLE odds;
ALTER TABLE odds_by_user RENAME TO odds;
