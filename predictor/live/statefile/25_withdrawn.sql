-- withdrawn is when a plan was taken back, or 0: it claims no room any more.
ALTER TABLE plans ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0;

-- refused is the job that has named the plan, and of which nothing is promised, or 0.
ALTER TABLE settlements ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;
CREATE INDEX settlements_by_refused ON settlements (refused) WHERE refused <> 0;

-- What no job has taken up, nor named, does not stay for ever.
CREATE INDEX settlements_unused ON settlements (at) WHERE run = 0 AND refused = 0;
DROP TRIGGER events_are_not_deleted;
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events WHEN EXISTS (SELECT 1 FROM bindings b WHERE b.plan = OLD.plan)
	BEGIN SELECT RAISE(ABORT, 'events of jobs are append only'); END;

DROP VIEW reservations;
CREATE VIEW reservations AS SELECT p.*,
	coalesce(s.outcome, b.state, 'PROMISED') AS state, coalesce(s.refused, 0) AS refused,
	coalesce(b.job, 0) AS job, coalesce(b.submit, 0) AS submit,
	coalesce(b.begin_time, p.begin_time) AS set_begin_time, coalesce(b.time_limit, p.time_limit) AS set_time_limit,
	coalesce(b.was_begin, p.begin_time) AS was_begin, coalesce(b.was_limit, p.time_limit) AS was_limit,
	coalesce(b.earliest, p.earliest) AS set_earliest, coalesce(b.name, '') AS name, coalesce(b.asks, '') AS asks,
	coalesce(b.held, 0) AS held, coalesce(b.yielded, 0) AS yielded, coalesce(b.late, 0) AS late,
	coalesce(b.interactive, 0) AS interactive, coalesce(b.stopped, '') AS stopped, coalesce(b.interrupted, 0) AS interrupted,
	coalesce(b.held_before, 0) AS held_before, coalesce(b.worked_before, 0) AS worked_before, coalesce(s.evicted, 0) AS evicted,
	coalesce(b.confirmed, 0) AS confirmed, coalesce(b.gate, '') AS gate, coalesce(b.gated, 0) AS gated,
	coalesce(s.eligible, b.eligible, 0) AS eligible, coalesce(s.start, b.start, 0) AS start,
	coalesce(s.work_start, b.work_start, 0) AS work_start, coalesce(s.end, 0) AS end,
	coalesce(s.run, 0) AS run, coalesce(s.alloc_nodes, b.alloc_nodes, 0) AS alloc_nodes,
	coalesce((SELECT e.text FROM events e WHERE e.plan = p.id AND e.kind IN ('user', 'note') ORDER BY e.id DESC LIMIT 1), '') AS note
FROM plans p LEFT JOIN bindings b ON b.plan = p.id LEFT JOIN settlements s ON s.plan = p.id;
