-- group_id is the group of promises of which a promise is a member, and home the site that keeps the group, empty if
-- that is this one. gate is what the home has said to the job: go, lost, or nothing yet.
ALTER TABLE plans ADD COLUMN group_id TEXT NOT NULL DEFAULT '';
ALTER TABLE plans ADD COLUMN home TEXT NOT NULL DEFAULT '';
ALTER TABLE bindings ADD COLUMN gate TEXT NOT NULL DEFAULT '';

-- The groups of which this site is the home. kind is any or all. independent, joint and prob are what was quoted.
-- decided is when it was decided what becomes of the group, or 0; winner is then the plan of the one member whose work
-- runs, and go the time at which the work of all begins. If neither is set, lost says why the group is given up.
-- learnt is 1 once the outcome has been learnt from.
CREATE TABLE groups (
	id TEXT PRIMARY KEY,
	kind TEXT NOT NULL,
	user TEXT NOT NULL,
	deadline INTEGER NOT NULL,
	registered_at INTEGER NOT NULL,
	independent REAL NOT NULL,
	joint REAL NOT NULL,
	prob REAL NOT NULL,
	decided INTEGER NOT NULL DEFAULT 0,
	winner TEXT NOT NULL DEFAULT '',
	go INTEGER NOT NULL DEFAULT 0,
	lost TEXT NOT NULL DEFAULT '',
	learnt INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX groups_open ON groups (user) WHERE decided = 0;
CREATE INDEX groups_unlearnt ON groups (deadline) WHERE learnt = 0;

-- asked is when the job of a member last asked whether its work may begin, or 0.
CREATE TABLE group_members (
	group_id TEXT NOT NULL REFERENCES groups(id),
	position INTEGER NOT NULL,
	site TEXT NOT NULL,
	partition TEXT NOT NULL,
	plan TEXT NOT NULL,
	job INTEGER NOT NULL,
	prob REAL NOT NULL,
	asked INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (group_id, plan)
) STRICT;

-- What is known of how sites' delays depend on one another, and of what became of groups, as JSON: one row.
CREATE TABLE joint (id INTEGER PRIMARY KEY CHECK (id = 1), state TEXT NOT NULL) STRICT;

DROP VIEW reservations;
CREATE VIEW reservations AS SELECT p.*,
	coalesce(s.outcome, b.state, 'PROMISED') AS state,
	coalesce(b.job, 0) AS job, coalesce(b.submit, 0) AS submit,
	coalesce(b.begin_time, p.begin_time) AS set_begin_time, coalesce(b.time_limit, p.time_limit) AS set_time_limit,
	coalesce(b.was_begin, p.begin_time) AS was_begin, coalesce(b.was_limit, p.time_limit) AS was_limit,
	coalesce(b.earliest, p.earliest) AS set_earliest, coalesce(b.name, '') AS name, coalesce(b.asks, '') AS asks,
	coalesce(b.held, 0) AS held, coalesce(b.yielded, 0) AS yielded, coalesce(b.late, 0) AS late,
	coalesce(b.interactive, 0) AS interactive, coalesce(b.stopped, '') AS stopped, coalesce(b.interrupted, 0) AS interrupted,
	coalesce(b.held_before, 0) AS held_before, coalesce(b.worked_before, 0) AS worked_before, coalesce(s.evicted, 0) AS evicted,
	coalesce(b.confirmed, 0) AS confirmed, coalesce(b.gate, '') AS gate,
	coalesce(s.eligible, b.eligible, 0) AS eligible, coalesce(s.start, b.start, 0) AS start,
	coalesce(s.work_start, b.work_start, 0) AS work_start, coalesce(s.end, 0) AS end,
	coalesce(s.run, 0) AS run, coalesce(s.alloc_nodes, b.alloc_nodes, 0) AS alloc_nodes,
	coalesce((SELECT e.text FROM events e WHERE e.plan = p.id AND e.kind IN ('user', 'note') ORDER BY e.id DESC LIMIT 1), '') AS note
FROM plans p LEFT JOIN bindings b ON b.plan = p.id LEFT JOIN settlements s ON s.plan = p.id;
