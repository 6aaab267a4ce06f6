-- dependency is what the job of a plan waits for, as of sbatch --dependency, or is empty.
ALTER TABLE plans ADD COLUMN dependency TEXT NOT NULL DEFAULT '';

-- Promises that all jobs of a flow have ended by a time; see package flows. jobs are the numbers of jobs and arrays, and
-- events are of the promise: each a JSON array.
CREATE TABLE flows (
	id TEXT PRIMARY KEY,
	user TEXT NOT NULL,
	name TEXT NOT NULL,
	jobs TEXT NOT NULL,
	finish_by INTEGER NOT NULL,
	prob REAL NOT NULL,
	estimate REAL NOT NULL,
	promised INTEGER NOT NULL,
	state TEXT NOT NULL,
	settled INTEGER NOT NULL,
	ended INTEGER NOT NULL,
	note TEXT NOT NULL,
	events TEXT NOT NULL
) STRICT;
CREATE INDEX flows_by_state ON flows (state);
