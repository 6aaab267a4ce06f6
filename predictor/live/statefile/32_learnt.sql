-- What outcomes have taught of the probabilities that a forecaster names: a stats.Platt, as JSON.
CREATE TABLE learnt (forecaster TEXT PRIMARY KEY, platt TEXT NOT NULL) STRICT, WITHOUT ROWID;
