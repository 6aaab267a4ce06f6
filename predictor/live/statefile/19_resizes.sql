-- Jobs whose size is not locked in; see package resize. request is an api.SizeRequest in JSON. nodes says which of its sizes the job
-- has, and was, if not 0, which it had before a change that the queue has not shown yet. job and submit are 0 until the queue has
-- shown the job, and asks is what that asked for then, besides its size; counts is how many tasks and processors Slurm counts of the
-- size that it has.
CREATE TABLE resizes (
	id TEXT PRIMARY KEY,
	user TEXT NOT NULL,
	made INTEGER NOT NULL,
	request TEXT NOT NULL,
	nodes INTEGER NOT NULL,
	was INTEGER NOT NULL,
	job INTEGER NOT NULL,
	submit INTEGER NOT NULL,
	asks TEXT NOT NULL,
	counts TEXT NOT NULL
) STRICT;
CREATE INDEX resizes_by_user ON resizes (user);
