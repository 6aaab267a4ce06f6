-- finish_by is the deadline of a promise about a job's end, for which begin_by is 0. time_out and lost are, for
-- such a promise, the probability that the job reaches its time limit, and by how much failures lower that of
-- its end.
ALTER TABLE plans ADD COLUMN finish_by INTEGER NOT NULL DEFAULT 0;
ALTER TABLE plans ADD COLUMN time_out REAL NOT NULL DEFAULT 0;
ALTER TABLE plans ADD COLUMN lost REAL NOT NULL DEFAULT 0;

DROP INDEX plans_by_user;
DROP INDEX plans_by_deadline;
DROP INDEX plans_open;
CREATE INDEX plans_by_user ON plans (user, max(begin_by, finish_by));
CREATE INDEX plans_by_deadline ON plans (max(begin_by, finish_by));
CREATE INDEX plans_open ON plans (max(begin_by, finish_by)) WHERE open;
