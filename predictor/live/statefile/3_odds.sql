-- forecast.Odds of promises, in the order of their budgets. said is Odds.Expected.
CREATE TABLE odds (place INTEGER PRIMARY KEY, missed REAL NOT NULL, said REAL NOT NULL) STRICT;
