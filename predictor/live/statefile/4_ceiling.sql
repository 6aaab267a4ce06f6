-- earliest is the ceiling on the cost of idle nodes: the job does not become eligible before
-- this time. For promises made before there were ceilings it is what was quoted. asks is
-- what the job asked for when the queue showed it last. run is the submit time of the run by
-- which a promise was judged, or 0.
ALTER TABLE plans ADD COLUMN earliest INTEGER NOT NULL DEFAULT 0;
UPDATE plans SET earliest = min(begin_time, hold_until);
ALTER TABLE bindings ADD COLUMN earliest INTEGER NOT NULL DEFAULT 0;
UPDATE bindings SET earliest = (SELECT p.earliest FROM plans p WHERE p.id = plan);
ALTER TABLE bindings ADD COLUMN asks TEXT NOT NULL DEFAULT '';
ALTER TABLE settlements ADD COLUMN run INTEGER NOT NULL DEFAULT 0;
UPDATE settlements SET run = coalesce((SELECT b.submit FROM bindings b WHERE b.plan = settlements.plan), 0);

DROP VIEW reservations;
CREATE VIEW reservations AS SELECT p.*,
	coalesce(s.outcome, b.state, 'PROMISED') AS state,
	coalesce(b.job, 0) AS job, coalesce(b.submit, 0) AS submit,
	coalesce(b.begin_time, p.begin_time) AS set_begin_time, coalesce(b.time_limit, p.time_limit) AS set_time_limit,
	coalesce(b.was_begin, p.begin_time) AS was_begin, coalesce(b.was_limit, p.time_limit) AS was_limit,
	coalesce(b.earliest, p.earliest) AS set_earliest, coalesce(b.asks, '') AS asks,
	coalesce(b.held, 0) AS held, coalesce(b.yielded, 0) AS yielded, coalesce(b.late, 0) AS late,
	coalesce(s.eligible, b.eligible, 0) AS eligible, coalesce(s.start, b.start, 0) AS start,
	coalesce(s.work_start, b.work_start, 0) AS work_start, coalesce(s.end, 0) AS end,
	coalesce(s.run, 0) AS run,
	coalesce((SELECT e.text FROM events e WHERE e.plan = p.id AND e.kind IN ('user', 'note') ORDER BY e.id DESC LIMIT 1), '') AS note
FROM plans p LEFT JOIN bindings b ON b.plan = p.id LEFT JOIN settlements s ON s.plan = p.id;
