-- licences are those that the job of a plan needs and that can run out, or is empty.
ALTER TABLE plans ADD COLUMN licences TEXT NOT NULL DEFAULT '';

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
	CASE WHEN p.tasks = 0 THEN 0 ELSE (SELECT count(*) FROM tasks t WHERE t.plan = p.id AND (t.gone = 0 OR t.gone >= max(t.start, p.hold_until))) END AS started,
	coalesce((SELECT e.text FROM events e WHERE e.plan = p.id AND e.kind IN ('user', 'note') ORDER BY e.id DESC LIMIT 1), '') AS note
FROM plans p LEFT JOIN bindings b ON b.plan = p.id LEFT JOIN settlements s ON s.plan = p.id;
