-- forecast.Odds of promises, those with the smallest budgets first.
CREATE TABLE odds (place INTEGER PRIMARY KEY, missed REAL NOT NULL, said REAL NOT NULL) STRICT;
