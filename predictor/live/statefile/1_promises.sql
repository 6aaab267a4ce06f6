-- The promises. Only the column open ever changes.
CREATE TABLE plans (
	id TEXT PRIMARY KEY,
	user TEXT NOT NULL, account TEXT NOT NULL, partition TEXT NOT NULL, qos TEXT NOT NULL,
	nodes INTEGER NOT NULL, cpus INTEGER NOT NULL, gpus INTEGER NOT NULL, memory INTEGER NOT NULL,
	begin_time INTEGER NOT NULL, time_limit INTEGER NOT NULL,
	begin_by INTEGER NOT NULL, hold_until INTEGER NOT NULL, work_limit INTEGER NOT NULL,
	prob REAL NOT NULL, estimate REAL NOT NULL,
	best_effort INTEGER NOT NULL, on_miss TEXT NOT NULL,
	work_node_seconds REAL NOT NULL, work_billing_seconds REAL NOT NULL,
	worst_node_seconds REAL NOT NULL, worst_billing_seconds REAL NOT NULL,
	expected_node_seconds REAL NOT NULL, expected_billing_seconds REAL NOT NULL,
	sample INTEGER NOT NULL, class TEXT NOT NULL, comment TEXT NOT NULL,
	promised_at INTEGER NOT NULL,
	open INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX plans_by_user ON plans (user, begin_by);
CREATE INDEX plans_by_deadline ON plans (begin_by);
CREATE INDEX plans_open ON plans (begin_by) WHERE open;

-- The job to which a plan is bound, and its progress. Slurm may use a job id again,
-- but not with the same submit time.
CREATE TABLE bindings (
	plan TEXT PRIMARY KEY REFERENCES plans,
	job INTEGER NOT NULL, submit INTEGER NOT NULL,
	state TEXT NOT NULL,
	begin_time INTEGER NOT NULL, time_limit INTEGER NOT NULL,
	was_begin INTEGER NOT NULL, was_limit INTEGER NOT NULL,
	held INTEGER NOT NULL, yielded INTEGER NOT NULL, late INTEGER NOT NULL,
	eligible INTEGER NOT NULL, start INTEGER NOT NULL, work_start INTEGER NOT NULL,
	UNIQUE (job, submit)
) STRICT;

-- The events of promises, in order.
CREATE TABLE events (
	id INTEGER PRIMARY KEY,
	plan TEXT NOT NULL REFERENCES plans,
	at INTEGER NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_plan ON events (plan, id);
CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are append only'); END;
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append only'); END;

-- The outcomes of promises.
CREATE TABLE settlements (
	plan TEXT PRIMARY KEY REFERENCES plans,
	at INTEGER NOT NULL, outcome TEXT NOT NULL,
	eligible INTEGER NOT NULL, start INTEGER NOT NULL, work_start INTEGER NOT NULL, end INTEGER NOT NULL
) STRICT;

CREATE VIEW reservations AS SELECT p.*,
	coalesce(s.outcome, b.state, 'PROMISED') AS state,
	coalesce(b.job, 0) AS job, coalesce(b.submit, 0) AS submit,
	coalesce(b.begin_time, p.begin_time) AS set_begin_time, coalesce(b.time_limit, p.time_limit) AS set_time_limit,
	coalesce(b.was_begin, p.begin_time) AS was_begin, coalesce(b.was_limit, p.time_limit) AS was_limit,
	coalesce(b.held, 0) AS held, coalesce(b.yielded, 0) AS yielded, coalesce(b.late, 0) AS late,
	coalesce(s.eligible, b.eligible, 0) AS eligible, coalesce(s.start, b.start, 0) AS start,
	coalesce(s.work_start, b.work_start, 0) AS work_start, coalesce(s.end, 0) AS end,
	coalesce((SELECT e.text FROM events e WHERE e.plan = p.id AND e.kind IN ('user', 'note') ORDER BY e.id DESC LIMIT 1), '') AS note
FROM plans p LEFT JOIN bindings b ON b.plan = p.id LEFT JOIN settlements s ON s.plan = p.id;
